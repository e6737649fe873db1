package impute_test

import (
	"fmt"
	"log"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/impute"
)

var nan = math.NaN()

func matrix(rows ...[]float64) dataset.Matrix[float64] {
	m := dataset.NewMatrix[float64](len(rows), len(rows[0]))
	for i, row := range rows {
		copy(m.Row(i), row)
	}
	return m
}

func fill(t rapid.TB, kind impute.Kind, reference dataset.Matrix[float64], groups []int, u dataset.Matrix[float64]) dataset.Matrix[float64] {
	t.Helper()
	r := testkit.Must(impute.New(reference, groups))(t)
	return testkit.Must(r.WithKind(kind).Impute(u))(t)
}

func TestFill(t *testing.T) {
	// Two classes with opposite attributes, mean 1/2 and standard deviation 1/2. With 20
	// pseudo-classes beside the two, correlations are -2/22 or 2/22.
	opposites := matrix([]float64{0, 1, 0, 1}, []float64{1, 0, 1, 0})
	pairs, twoOfFour := []int{0, 0, 1, 1}, matrix([]float64{1, 0, nan, nan}, []float64{0, 0, nan, nan})
	for _, c := range []struct {
		name      string
		kind      impute.Kind
		reference dataset.Matrix[float64]
		groups    []int
		u, want   dataset.Matrix[float64]
	}{
		{
			"from the group", impute.Neutral, opposites, pairs,
			matrix([]float64{1, nan, nan, nan}, []float64{0.5, nan, nan, 0}),
			matrix([]float64{1, 0.5 - 1./22, 0.5, 0.5}, []float64{0.5, 0.5, 0.5 + 1./22, 0}),
		},
		{
			"from all attributes if inferred", impute.Inferred, opposites, pairs,
			matrix([]float64{1, nan, nan, nan}), matrix([]float64{1, 0.5 - 1./22, 0.5 + 1./22, 0.5 - 1./22}),
		},
		{"a group that no class describes stays missing", impute.Neutral, opposites, pairs, twoOfFour, twoOfFour},
		{
			"it is filled if inferred", impute.Inferred, opposites, pairs,
			matrix([]float64{0.5, 0.5, nan, nan}), matrix([]float64{0.5, 0.5, 0.5, 0.5}),
		},
		{
			"without groups", impute.Neutral, opposites, nil,
			matrix([]float64{1, nan, nan, nan}, []float64{1, 0, nan, nan}), matrix([]float64{1, 0.5, nan, nan}, []float64{1, 0, nan, nan}),
		},
		{
			"a reference with missing entries", impute.Neutral, matrix([]float64{0.2, nan}, []float64{nan, 0.4}, []float64{0.4, nan}),
			[]int{0, 0},
			matrix([]float64{nan, 0.9}, []float64{0.1, nan}), matrix([]float64{0.3, 0.9}, []float64{0.1, 0.4}),
		},
		{
			"an attribute that the reference does not describe", impute.Neutral, matrix([]float64{0.2, nan, nan}),
			[]int{0, 0, 0},
			matrix([]float64{0.1, 0.9, nan}, []float64{0.1, nan, nan}, []float64{0.1, 0.7, nan}),
			matrix([]float64{0.1, 0.9, nan}, []float64{0.1, 0.8, nan}, []float64{0.1, 0.7, nan}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			full := fill(t, c.kind, c.reference, c.groups, c.u)
			testkit.Equal(t, "descriptions", full, c.want, cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-12))
		})
	}
}

// problem draws a reference, groups, and descriptions with missing entries.
func problem(t *rapid.T) (reference dataset.Matrix[float64], groups []int, u dataset.Matrix[float64]) {
	m := rapid.IntRange(1, 6).Draw(t, "attributes")
	p := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1, nan}))
	draw := func(name string) dataset.Matrix[float64] {
		z := rapid.IntRange(1, 5).Draw(t, "classes of "+name)
		return dataset.Matrix[float64]{Rows: z, Cols: m, Data: rapid.SliceOfN(p, z*m, z*m).Draw(t, name)}
	}
	return draw("reference"), rapid.SliceOfN(rapid.IntRange(-1, 2), m, m).Draw(t, "groups"), draw("descriptions")
}

// Described entries stay, filled ones are probabilities, and an attribute stays missing in
// every class or in none.
func TestFillProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reference, groups, u := problem(t)
		before := slices.Clone(u.Data)
		full := fill(t, rapid.SampledFrom(impute.Kinds).Draw(t, "kind"), reference, groups, u)
		testkit.Equal(t, "descriptions that were given", u.Data, before, cmpopts.EquateNaNs())
		for i, p := range u.Data {
			switch got := full.Data[i]; {
			case !math.IsNaN(p) && got != p:
				t.Errorf("entry %d is %g, expected %g as described", i, got, p)
			case math.IsNaN(p) && (got < 0 || got > 1):
				t.Errorf("entry %d is %g", i, got)
			case math.IsNaN(got) && !math.IsNaN(full.Data[i%u.Cols]):
				t.Errorf("entry %d is missing, but not in class 0", i)
			}
		}
	})
}

// The entries of one group do not change another.
func TestNeutralKeepsToGroupsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reference, groups, u := problem(t)
		full := fill(t, impute.Neutral, reference, groups, u)
		group := rapid.SampledFrom(groups).Draw(t, "group")
		changed := dataset.Matrix[float64]{Rows: u.Rows, Cols: u.Cols, Data: slices.Clone(u.Data)}
		for z := range u.Rows {
			for m, p := range u.Row(z) {
				if groups[m] == group && group >= 0 && !math.IsNaN(p) {
					changed.Row(z)[m] = 1 - p
				}
			}
		}
		after := fill(t, impute.Neutral, reference, groups, changed)
		for i, p := range full.Data {
			if g := groups[i%u.Cols]; (g != group || g < 0) && p != after.Data[i] && !math.IsNaN(p) {
				t.Fatalf("entry %d of group %d is %g, and %g after a change in group %d", i, g, p, after.Data[i], group)
			}
		}
	})
}

func TestNothingMissing(t *testing.T) {
	u := matrix([]float64{0.5, 1})
	if full := fill(t, impute.Inferred, u, nil, u); &full.Data[0] != &u.Data[0] {
		t.Error("complete descriptions were copied")
	}
	var none *impute.Imputer
	testkit.Near(t, "without an imputer", testkit.Must(none.WithKind(impute.Inferred).Impute(matrix([]float64{nan})))(t).Data[0], nan, 0)
}

func TestErrors(t *testing.T) {
	_, err := impute.New(matrix([]float64{0, 1}), []int{0})
	testkit.WantError(t, err, "each of the 2 attributes, found 1")
	_, err = testkit.Must(impute.New(matrix([]float64{0, 1}), nil))(t).Impute(matrix([]float64{nan}))
	testkit.WantError(t, err, "expected 2 attributes, as in training, found 1")
}

// Wings and backs are olive or grey, and usually alike. Only the wing of a new class is described.
func Example() {
	reference := dataset.NewMatrix[float64](100, 4) // wing olive, wing grey, back olive, back grey
	for z := range reference.Rows {
		olive := float64(z % 2)
		copy(reference.Row(z), []float64{olive, 1 - olive, olive, 1 - olive})
	}
	imputer, err := impute.New(reference, []int{0, 0, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	u := dataset.Matrix[float64]{Rows: 2, Cols: 4, Data: []float64{
		1, nan, nan, nan,
		nan, nan, 0, 1,
	}}
	for _, kind := range impute.Kinds {
		full, err := imputer.WithKind(kind).Impute(u)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-8s %.2f\n", kind, full.Row(0))
	}
	// Output:
	// neutral  [1.00 0.08 0.50 0.50]
	// inferred [1.00 0.08 0.92 0.08]
}

// Correlations of many attributes are not computed where no missing entry is predicted from them.
func TestManyAttributes(t *testing.T) {
	const m = 1<<15 + 1
	u := dataset.NewMatrix[float64](3, m)
	u.Data[0], u.Data[1], u.Data[m+1] = nan, 1, 1
	testkit.Equal(t, "the mean", fill(t, impute.Neutral, u, nil, u).Data[0], 0.)
	pair := dataset.Matrix[float64]{Rows: m}.AllRows()
	pair[1] = 0
	_, err := testkit.Must(impute.New(u, pair))(t).Impute(u)
	testkit.WantError(t, err, "descriptions: expected at most 32768 attributes where missing entries are predicted "+
		"from described ones, found 32769. Their correlations")
}
