package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

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
			d, err := tt.config.Describe(u, tt.semantic)
			if err != nil {
				t.Fatal(err)
			}
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
		d, err := c.Describe(u, semantic)
		if err != nil {
			t.Fatal(err)
		}
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
