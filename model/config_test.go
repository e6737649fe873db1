package model_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// A grouping that would not fit into memory is refused before it is made.
func TestGroupingOfManyGroups(t *testing.T) {
	const m = 100_000
	c := learned
	_, _, err := c.Grouping(m, dataset.Matrix[float64]{Rows: m}.AllRows())
	testkit.WantError(t, err, "groups: expected at most 2684 groups for 100000 attributes, found 100000")
	c.Variant, c.K = model.KSoft, 2685
	_, _, err = c.Grouping(m, nil)
	testkit.WantError(t, err, "k: expected at most 2684 groups for 100000 attributes, found 2685")
	c.K--
	_, _, err = c.Grouping(m, nil)
	testkit.NoError(t, err)
	c.Variant = model.Singletons
	_, _, err = c.Grouping(8193, nil)
	testkit.WantError(t, err, "attributes: expected at most 8192 for singletons, which have a group for each, found 8193. Use k-soft")
}

// Each mistake is refused by all constructors that meet it.
func TestRefusals(t *testing.T) {
	describe := func(tr trial[float64]) error { return errorOf(tr.Config.Describe(tr.described, tr.Semantic)) }
	initialise := func(tr trial[float64]) error {
		return errorOf(tr.Config.Init(3, tr.described.Cols, tr.Semantic, 1))
	}
	w := func(tr trial[float64]) error {
		return errorOf(model.NewWMachine(tr.Config, tr.Classes, tr.params, tr.Batch))
	}
	v := func(tr trial[float64]) error {
		return errorOf(model.NewVMachine(tr.Config, tr.Classes, tr.params, tr.Batch))
	}
	forward := func(tr trial[float64]) error { return errorOf(model.NewForward(tr.Config, tr.Classes, tr.params)) }
	type constructors = []func(trial[float64]) error
	graphs, all := constructors{w, v, forward}, constructors{initialise, w, v, forward}
	for _, tt := range []struct {
		name, field string // field is "" if valid
		spoil       func(tr *trial[float64])
		by          constructors
	}{
		{"nothing", "", func(*trial[float64]) {}, append(all, describe)},
		{"no weights", "", func(tr *trial[float64]) {
			tr.Config.Alpha, tr.Config.Beta, tr.Config.Lambda, tr.Config.Psi = 0, 0, 0, 0
		}, all},
		{"variant", "variant", func(tr *trial[float64]) { tr.Config.Variant = "hard" }, all},
		{"complement", "complement", func(tr *trial[float64]) { tr.Config.Complement = "zero" }, all},
		{"no K", "k", func(tr *trial[float64]) { tr.Config.Variant, tr.Config.Psi = model.KSoft, 0 }, all},
		{"K above M", "k", func(tr *trial[float64]) { tr.Config.Variant, tr.Config.Psi, tr.Config.K = model.KSoft, 0, 5 }, all},
		{"a prior of hard groups", "psi", func(tr *trial[float64]) { tr.Config.Variant = model.SemanticHard }, all},
		{"no samples", "batch", func(tr *trial[float64]) { tr.Batch = 0 }, constructors{w, v}},
		{"other attributes", "descriptions", func(tr *trial[float64]) {
			tr.Classes = &model.Description{U: uniform(newRand(1), 3, 5, 0, 1), P: make([]float64, 5)}
		}, graphs},
		{"groups of some attributes", "groups", func(tr *trial[float64]) {
			tr.Classes.Groups, tr.Semantic = tr.Semantic[:3], tr.Semantic[:3]
		}, append(all, describe)},
		{"an attribute without group", "groups", func(tr *trial[float64]) { tr.Semantic[1] = -1 }, constructors{describe, initialise}},
		{"no classes", "descriptions", func(tr *trial[float64]) { tr.described = dataset.NewMatrix[float64](0, 4) }, constructors{describe}},
		{"percent", "descriptions", func(tr *trial[float64]) { tr.described.Data[3] = 75 }, constructors{describe}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, construct := range tt.by {
				tr := newTrial(t, learned, sizes{n: 2, d: 2, m: 4, k: 2, z: 3}, 1)
				tt.spoil(&tr)
				names(t, construct(tr), tt.field)
			}
		})
	}
}

func errorOf[R any](_ R, err error) error { return err }

// names fails unless err is an *invalid.Error on the field, which its text contains. An
// empty field means no error.
func names(t *testing.T, err error, field string) {
	t.Helper()
	if field == "" {
		testkit.NoError(t, err)
		return
	}
	var e *invalid.Error
	if !errors.As(err, &e) || e.Field != field || !strings.HasPrefix(err.Error(), ""+field+": expected ") {
		t.Errorf("the error is %v, expected one of %s", err, field)
	}
}

func TestDescribe(t *testing.T) {
	singletons := model.Config{Variant: model.Singletons, Prior: model.PerAttribute}
	uniformly := model.Config{Variant: model.Singletons, Prior: model.Uniform}
	semantic := model.Config{Variant: model.SemanticHard, Prior: model.PerAttribute}
	smoothed := model.Config{Variant: model.SemanticHard, Prior: model.PerAttribute, Smoothing: 0.1}
	smoothedSingletons := model.Config{Variant: model.Singletons, Prior: model.PerAttribute, Smoothing: 0.1}
	type rows = [][]float64
	for _, tt := range []struct {
		name     string
		config   model.Config
		semantic []int
		u, wantU rows
		wantP    []float64
	}{
		{"the prior is the mean over classes", singletons, nil, rows{{0, 1}, {0.5, 1}}, rows{{0, 1}, {0.5, 1}}, []float64{0.25, 1}},
		{
			"a missing entry is the mean of the others, not as the uniform prior", uniformly, nil,
			rows{{nan, 0.5}, {0.2, 0.5}, {0.4, 0.5}},
			rows{{0.3, 0.5}, {0.2, 0.5}, {0.4, 0.5}},
			[]float64{0.4, 0.4},
		},
		{
			"an attribute that none describes is left out", uniformly, nil,
			rows{{nan, 0.2, 0.4}, {nan, 0.4, 0.6}},
			rows{{0, 0.2, 0.4}, {0, 0.4, 0.6}},
			[]float64{0, 0.4, 0.4},
		},
		{"nothing is described", singletons, nil, rows{{nan, nan}}, rows{{0, 0}}, []float64{0, 0}},
		{
			"sums of a group above 1 are scaled, those below are not", semantic,
			[]int{0, 0, 1, 1},
			rows{{1, 1, 0.2, 0.2}, {0.5, 0, 0.9, 0.6}},
			rows{{0.5, 0.5, 0.2, 0.2}, {0.5, 0, 0.6, 0.4}},
			[]float64{0.5, 0.25, 0.4, 0.3},
		},
		{
			"imputed entries count in the sum of a group", semantic,
			[]int{0, 0, 0},
			rows{{1, 0.8, nan}, {0, 0, 0.2}},
			rows{{0.5, 0.4, 0.1}, {0, 0, 0.2}},
			[]float64{0.25, 0.2, 0.15},
		},
		{
			"in a group yes is 0.8 and no 0.03, 0.9 in all without a yes; sometimes is between", smoothed,
			[]int{0, 0},
			rows{{1, 0}, {0, 0}, {0.5, 0}, {1, 1}},
			rows{{0.8, 0.03}, {0.45, 0.45}, {0.4325, 0.24}, {0.5, 0.5}},
			[]float64{0.545625, 0.305},
		},
		{
			"a group of 15 times no leaves 0.1 to none of the group", smoothed,
			make([]int, 15),
			rows{make([]float64, 15)},
			rows{slices.Repeat([]float64{0.06}, 15)},
			slices.Repeat([]float64{0.06}, 15),
		},
		{
			"an attribute alone in its group, and what is not described", smoothed,
			[]int{0, 1, 1, 2},
			rows{{1, 1, nan, nan}, {0, 0.5, nan, 0}},
			rows{{0.8, 0.8, 0, 0.1}, {0.1, 0.45, 0, 0.1}},
			[]float64{0.45, 0.625, 0, 0.1},
		},
		{"singletons are smoothed alone", smoothedSingletons, []int{0, 0, 0}, rows{{1, 0.5, 0}}, rows{{0.8, 0.45, 0.1}}, []float64{0.8, 0.45, 0.1}},
		{"singletons are not scaled", singletons, []int{0, 0}, rows{{1, 1}}, rows{{1, 1}}, []float64{1, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := matrix(tt.u)
			d := testkit.Must(tt.config.Describe(u, tt.semantic))(t)
			same(t, "U", d.U.Data, matrix(tt.wantU).Data)
			same(t, "p", d.P, tt.wantP)
			testkit.Equal(t, "descriptions of the data set", u.Data, matrix(tt.u).Data, cmpopts.EquateNaNs())
		})
	}
}

func start(t *testing.T, c model.Config, dims, attributes int, semantic []int, seed uint64) *model.Parameters[float32] {
	t.Helper()
	return testkit.Must(c.Init(dims, attributes, semantic, seed))(t)
}

var singletons = model.Config{Variant: model.Singletons, Prior: model.Uniform, Complement: model.Const, Zeta: 10}

// W starts with orthogonal columns of length 0.1, or rows if there are fewer rows.
func TestInitIsOrthogonal(t *testing.T) {
	for _, s := range []struct{ dims, attributes int }{{7, 3}, {3, 7}, {5, 5}, {1, 1}, {40, 1}} {
		w := dataset.Convert[float64](start(t, singletons, s.dims, s.attributes, nil, 1).W)
		vectors := mat.NewDense(w.Rows, w.Cols, w.Data).T()
		if s.dims < s.attributes {
			vectors = vectors.T()
		}
		var products mat.Dense
		products.Mul(vectors, vectors.T())
		for i := range min(s.dims, s.attributes) {
			products.Set(i, i, products.At(i, i)-0.01)
		}
		if norm := mat.Norm(&products, 2); norm > 1e-7 {
			t.Errorf("%d x %d: the products of vectors differ from 0.01 I by %g", s.dims, s.attributes, norm)
		}
	}
}

// V is one-hot by group, and b is 0. V of k-soft is noise in a range of 1e-3 with a mean of 0.
func TestInitOfGroups(t *testing.T) {
	hard, soft := singletons, singletons
	hard.Variant = model.SemanticHard
	soft.Variant, soft.K = model.KSoft, 20
	for _, tt := range []struct {
		config   model.Config
		semantic []int
		want     dataset.Matrix[float64]
	}{
		{singletons, nil, matrix([][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})},
		{hard, []int{1, 0, 1}, matrix([][]float64{{0, 1}, {1, 0}, {0, 1}})},
	} {
		p := start(t, tt.config, 4, 3, tt.semantic, 1)
		testkit.Equal(t, "V", p.V, dataset.Convert[float32](tt.want))
		testkit.Equal(t, "b", p.B, make([]float32, 3))
	}
	v := start(t, soft, 4, 50, nil, 1).V
	testkit.Equal(t, "rows and columns of V", []int{v.Rows, v.Cols}, []int{50, 20})
	testkit.Near(t, "mean of V", sum(floats(v.Data))/1000, 0, 1e-9)
	// The probability that 1000 draws span less than 0.99 of the range is below 1e-3.
	testkit.Near(t, "range of V", float64(slices.Max(v.Data)-slices.Min(v.Data)), 0.995e-3, 0.005e-3)
}

func TestInitFollowsTheSeed(t *testing.T) {
	c := singletons
	c.Variant, c.K = model.KSoft, 2
	one, again, two := start(t, c, 6, 4, nil, 1), start(t, c, 6, 4, nil, 1), start(t, c, 6, 4, nil, 2)
	testkit.Equal(t, "the same seed", again, one)
	if slices.Equal(one.W.Data, two.W.Data) || slices.Equal(one.V.Data, two.V.Data) {
		t.Error("another seed gives the same parameters")
	}
}
