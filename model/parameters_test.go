package model_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

func start(t *testing.T, c model.Config, dims, attributes int, semantic []int, seed uint64) *model.Parameters[float32] {
	t.Helper()
	p, err := c.Init(dims, attributes, semantic, seed)
	if err != nil {
		t.Fatal(err)
	}
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
		{singletons, nil, to[float32](matrix([][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}))},
		{hard, []int{1, 0, 1}, to[float32](matrix([][]float64{{0, 1}, {1, 0}, {0, 1}}))},
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

func TestCloneSharesNothing(t *testing.T) {
	p := start(t, singletons, 4, 3, nil, 1)
	before := p.Clone()
	copied := p.Clone()
	copied.W.Data[0]++
	copied.B[0]++
	copied.V.Data[0]++
	if diff := cmp.Diff(before, p); diff != "" {
		t.Errorf("changing a clone changed the original:\n%s", diff)
	}
	p.Set(copied)
	if diff := cmp.Diff(copied, p); diff != "" {
		t.Errorf("Set copied something else (-want +got):\n%s", diff)
	}
}
