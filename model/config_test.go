package model_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// sound is a valid Config.
var sound = model.Config{Variant: model.SemanticSoft, Prior: model.Uniform, Complement: model.Const, Zeta: 10, Alpha: 1, Beta: 1, Lambda: 1, Psi: 1}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		field string // "" if valid
		spoil func(c *model.Config)
	}{
		{"", func(*model.Config) {}},
		{"", func(c *model.Config) { c.Variant, c.K, c.Psi = model.KSoft, 3, 0 }},
		{"", func(c *model.Config) { c.Alpha, c.Beta, c.Lambda, c.Psi = 0, 0, 0, 0 }},
		{"variant", func(c *model.Config) { c.Variant = "hard" }},
		{"variant", func(c *model.Config) { c.Variant = "" }},
		{"prior", func(c *model.Config) { c.Prior = "Uniform" }},
		{"complement", func(c *model.Config) { c.Complement = "zero" }},
		{"k", func(c *model.Config) { c.Variant, c.Psi = model.KSoft, 0 }},
		{"psi", func(c *model.Config) { c.Variant = model.SemanticHard }},
	} {
		c := sound
		tt.spoil(&c)
		names(t, c.Check(), tt.field)
	}
}

// names fails unless err is an *invalid.Error on the field, which its text contains. An
// empty field means no error.
func names(t *testing.T, err error, field string) {
	t.Helper()
	if field == "" {
		if err != nil {
			t.Errorf("%v, expected no error", err)
		}
		return
	}
	var e *invalid.Error
	if !errors.As(err, &e) || e.Field != field || !strings.HasPrefix(err.Error(), ""+field+": expected ") {
		t.Errorf("the error is %v, expected one of %s", err, field)
	}
}

// Machines check their input.
func TestMachineErrors(t *testing.T) {
	s := sizes{n: 2, d: 2, m: 4, k: 2, z: 3}
	for _, tt := range []struct {
		field string
		spoil func(tr *trial[float64])
	}{
		{"variant", func(p *trial[float64]) { p.Config.Variant = "hard" }},
		{"batch", func(p *trial[float64]) { p.Batch = 0 }},
		{"descriptions", func(p *trial[float64]) {
			p.Classes = &model.Description{U: uniform(newRand(1), 3, 5, 0, 1), P: make([]float64, 5)}
		}},
		{"groups", func(p *trial[float64]) { p.Classes.Groups = p.Semantic[:3] }},
		{"k", func(p *trial[float64]) {
			p.Config = model.Config{Variant: model.KSoft, Prior: "uniform", Complement: "const", Zeta: 1, K: 5}
		}},
	} {
		t.Run(tt.field, func(t *testing.T) {
			tr := newTrial(t, sound, s, 1)
			tt.spoil(&tr)
			_, err := model.NewWMachine(tr.Config, tr.Classes, tr.params, tr.Batch)
			names(t, err, tt.field)
			_, err = model.NewVMachine(tr.Config, tr.Classes, tr.params, tr.Batch)
			names(t, err, tt.field)
			if tt.field != "batch" {
				_, err = model.NewForward(tr.Config, tr.Classes, tr.params)
				names(t, err, tt.field)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	singletons := model.Config{Variant: model.Singletons, Prior: model.PerAttribute}
	uniformly := model.Config{Variant: model.Singletons, Prior: model.Uniform}
	semantic := model.Config{Variant: model.SemanticHard, Prior: model.PerAttribute}
	for _, tt := range []struct {
		name     string
		config   model.Config
		semantic []int
		u        [][]float64
		wantU    [][]float64
		wantP    []float64
	}{
		{
			"the prior is the mean over classes", singletons, nil,
			[][]float64{{0, 1}, {0.5, 1}},
			[][]float64{{0, 1}, {0.5, 1}},
			[]float64{0.25, 1},
		},
		{
			"or that of all", uniformly, nil,
			[][]float64{{0, 1}, {0.5, 1}},
			[][]float64{{0, 1}, {0.5, 1}},
			[]float64{0.625, 0.625},
		},
		{
			"a missing entry is the mean of the others", singletons, nil,
			[][]float64{{nan, 0.5}, {0.2, 0.5}, {0.4, 0.5}},
			[][]float64{{0.3, 0.5}, {0.2, 0.5}, {0.4, 0.5}},
			[]float64{0.3, 0.5},
		},
		{
			"not as the uniform prior", uniformly, nil,
			[][]float64{{nan, 0.5}, {0.2, 0.5}, {0.4, 0.5}},
			[][]float64{{0.3, 0.5}, {0.2, 0.5}, {0.4, 0.5}},
			[]float64{0.4, 0.4},
		},
		{
			"an attribute that none describes is left out", uniformly, nil,
			[][]float64{{nan, 0.2, 0.4}, {nan, 0.4, 0.6}},
			[][]float64{{0, 0.2, 0.4}, {0, 0.4, 0.6}},
			[]float64{0, 0.4, 0.4},
		},
		{
			"nothing is described", singletons, nil,
			[][]float64{{nan, nan}},
			[][]float64{{0, 0}},
			[]float64{0, 0},
		},
		{
			"sums of a group above 1 are scaled, those below are not", semantic,
			[]int{0, 0, 1, 1},
			[][]float64{{1, 1, 0.2, 0.2}, {0.5, 0, 0.9, 0.6}},
			[][]float64{{0.5, 0.5, 0.2, 0.2}, {0.5, 0, 0.6, 0.4}},
			[]float64{0.5, 0.25, 0.4, 0.3},
		},
		{
			"imputed entries count in the sum of a group", semantic,
			[]int{0, 0, 0},
			[][]float64{{1, 0.8, nan}, {0, 0, 0.2}},
			[][]float64{{0.5, 0.4, 0.1}, {0, 0, 0.2}},
			[]float64{0.25, 0.2, 0.15},
		},
		{
			"singletons are not scaled", singletons,
			[]int{0, 0},
			[][]float64{{1, 1}},
			[][]float64{{1, 1}},
			[]float64{1, 1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := matrix(tt.u)
			d := testkit.Must(tt.config.Describe(u, tt.semantic))(t)
			same(t, "U", d.U.Data, matrix(tt.wantU).Data)
			same(t, "p", d.P, tt.wantP)
			if diff := cmp.Diff(matrix(tt.u).Data, u.Data, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("the data set's own descriptions changed:\n%s", diff)
			}
		})
	}
}

// With missing entries too, U and p are probabilities, and semantic groups of a class sum to
// at most 1.
func TestDescriptionsAreProbabilities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, m := rapid.IntRange(1, 5).Draw(t, "classes"), rapid.IntRange(1, 6).Draw(t, "attributes")
		p := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1}))
		if rapid.Bool().Draw(t, "missing entries") {
			p = rapid.OneOf(p, rapid.Just(nan))
		}
		u := dataset.Matrix[float64]{Rows: z, Cols: m, Data: rapid.SliceOfN(p, z*m, z*m).Draw(t, "descriptions")}
		semantic := rapid.SliceOfN(rapid.IntRange(0, 2), m, m).Draw(t, "groups")
		c := model.Config{
			Variant: rapid.SampledFrom(model.Variants).Draw(t, "variant"), K: 1,
			Prior: rapid.SampledFrom(model.Priors).Draw(t, "prior"),
		}
		d := testkit.Must(c.Describe(u, semantic))(t)
		for i, p := range append(append([]float64{}, d.U.Data...), d.P...) {
			if !(p >= 0 && p <= 1) {
				t.Errorf("value %d is %g, expected a probability", i, p)
			}
		}
		for z := range u.Rows {
			sums := make([]float64, 3)
			for m, p := range d.U.Row(z) {
				sums[semantic[m]] += p
			}
			for g, s := range sums {
				if c.Variant.Semantic() && s > 1+1e-12 {
					t.Errorf("class %d: the attributes of group %d sum to %g", z, g, s)
				}
			}
		}
	})
}

func TestDescribeErrors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		variant model.Variant
		groups  []int
		u       dataset.Matrix[float64]
		field   string
	}{
		{"no classes", model.Singletons, nil, dataset.NewMatrix[float64](0, 3), "descriptions"},
		{"no attributes", model.Singletons, nil, dataset.NewMatrix[float64](2, 0), "descriptions"},
		{"percent", model.Singletons, nil, matrix([][]float64{{0, 0.5}, {1, 75}}), "descriptions"},
		{"negative", model.Singletons, nil, matrix([][]float64{{0, -1}, {1, 0.7}}), "descriptions"},
		{"no groups", model.SemanticHard, nil, matrix([][]float64{{0, 1}}), "groups"},
		{"an attribute without group", model.SemanticSoft, []int{0, -1}, matrix([][]float64{{0, 1}}), "groups"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := model.Config{Variant: tt.variant, Prior: model.PerAttribute}.Describe(tt.u, tt.groups)
			names(t, err, tt.field)
		})
	}
}

func start(t *testing.T, c model.Config, dims, attributes int, semantic []int, seed uint64) *model.Parameters[float32] {
	t.Helper()
	p := testkit.Must(c.Init(dims, attributes, semantic, seed))(t)
	return p
}

var singletons = model.Config{Variant: model.Singletons, Prior: model.Uniform, Complement: model.Const, Zeta: 10}

// W starts with orthogonal columns of length 0.1, or rows if there are fewer rows.
func TestInitIsOrthogonal(t *testing.T) {
	for _, s := range []struct{ dims, attributes int }{{7, 3}, {3, 7}, {5, 5}, {1, 1}, {40, 1}} {
		t.Run(fmt.Sprintf("%d x %d", s.dims, s.attributes), func(t *testing.T) {
			w := start(t, singletons, s.dims, s.attributes, nil, 1).W
			n := min(s.dims, s.attributes)
			for i := range n {
				for j := range n {
					var product, want float64
					for k := range max(s.dims, s.attributes) {
						x, y := w.Data[i*w.Cols+k%w.Cols], w.Data[j*w.Cols+k%w.Cols] // rows
						if s.dims >= s.attributes {
							x, y = w.Row(k)[i], w.Row(k)[j]
						}
						product += float64(x) * float64(y)
					}
					if i == j {
						want = 0.01
					}
					if math.Abs(product-want) > 1e-8 {
						t.Errorf("vectors %d and %d: product %g, expected %g", i, j, product, want)
					}
				}
			}
		})
	}
}

func TestInitOfGroups(t *testing.T) {
	hard := singletons
	hard.Variant = model.SemanticHard
	for _, tt := range []struct {
		config   model.Config
		semantic []int
		want     dataset.Matrix[float32]
	}{
		{singletons, nil, dataset.Convert[float32](matrix([][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}))},
		{hard, []int{1, 0, 1}, dataset.Convert[float32](matrix([][]float64{{0, 1}, {1, 0}, {0, 1}}))},
	} {
		p := start(t, tt.config, 4, 3, tt.semantic, 1)
		if diff := cmp.Diff(tt.want, p.V); diff != "" {
			t.Errorf("%s: V (-want +got):\n%s", tt.config.Variant, diff)
		}
		if diff := cmp.Diff(make([]float32, 3), p.B); diff != "" {
			t.Errorf("%s: b (-want +got):\n%s", tt.config.Variant, diff)
		}
	}
}

// k-soft starts from noise in a range of 1e-3 with a mean of 0.
func TestInitOfKSoft(t *testing.T) {
	c := singletons
	c.Variant, c.K = model.KSoft, 20
	v := start(t, c, 4, 50, nil, 1).V
	if v.Rows != 50 || v.Cols != 20 {
		t.Fatalf("V is %d x %d, expected 50 x 20", v.Rows, v.Cols)
	}
	var mean float64
	for _, x := range v.Data {
		mean += float64(x) / float64(len(v.Data))
	}
	if math.Abs(mean) > 1e-9 {
		t.Errorf("the mean of V is %g, expected 0", mean)
	}
	// The probability that 1000 draws span less than 0.99 of the range is below 1e-3.
	if width := slices.Max(v.Data) - slices.Min(v.Data); width > 1e-3 || width < 0.99e-3 {
		t.Errorf("the range of V is %g, expected 1e-3", width)
	}
}

func TestInitFollowsTheSeed(t *testing.T) {
	c := singletons
	c.Variant, c.K = model.KSoft, 2
	one, again, two := start(t, c, 6, 4, nil, 1), start(t, c, 6, 4, nil, 1), start(t, c, 6, 4, nil, 2)
	if diff := cmp.Diff(one, again); diff != "" {
		t.Errorf("the same seed gives different parameters:\n%s", diff)
	}
	if slices.Equal(one.W.Data, two.W.Data) || slices.Equal(one.V.Data, two.V.Data) {
		t.Error("another seed gives the same parameters")
	}
}

func TestInitErrors(t *testing.T) {
	for _, tt := range []struct {
		field    string
		semantic []int
		change   func(c *model.Config)
	}{
		{"prior", nil, func(c *model.Config) { c.Prior = "Uniform" }},
		{"groups", []int{0, 1}, func(c *model.Config) { c.Variant = model.SemanticHard }},
		{"k", nil, func(c *model.Config) { c.Variant, c.K = model.KSoft, 4 }},
	} {
		c := singletons
		tt.change(&c)
		_, err := c.Init(5, 3, tt.semantic, 1)
		names(t, err, tt.field)
	}
}
