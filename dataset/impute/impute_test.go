package impute

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
)

var nan = math.NaN()

func matrix(rows ...[]float64) dataset.Matrix[float64] {
	m := dataset.NewMatrix[float64](len(rows), len(rows[0]))
	for i, row := range rows {
		copy(m.Row(i), row)
	}
	return m
}

// Given entries stay, filled ones are probabilities, and an attribute stays missing in every class or in none.
func TestImputeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 6).Draw(t, "attributes")
		p := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1, nan}))
		draw := func(name string) dataset.Matrix[float64] {
			z := rapid.IntRange(1, 5).Draw(t, "classes of "+name)
			return dataset.Matrix[float64]{Rows: z, Cols: m, Data: rapid.SliceOfN(p, z*m, z*m).Draw(t, name)}
		}
		imputer, u := &Imputer{Reference: draw("reference")}, draw("descriptions")
		before := slices.Clone(u.Data)
		full := testkit.Must(imputer.Impute(u))(t)
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

// birds is a table of classes, half of whose attributes follow from the others.
func birds(classes, attributes int, seed uint64) dataset.Matrix[float64] {
	r, u := rand.New(rand.NewPCG(seed, 1)), dataset.NewMatrix[float64](classes, attributes)
	for z := range classes {
		for a := range attributes {
			if u.Row(z)[a] = r.Float64(); a%2 == 1 {
				u.Row(z)[a] = 0.8*u.Row(z)[a-1] + 0.1
			}
		}
	}
	return u
}

// A class is filled by the reference alone where this is described well enough, and by the other candidates
// too where it is not. Complete descriptions never change.
func TestOtherCandidates(t *testing.T) {
	complete := birds(60, 4, 1)
	u := matrix([]float64{0.9, nan, 0.5, 0.5}, []float64{0.1, nan, nan, nan}, []float64{0.2, 0.3, 0.4, 0.5})
	imputer := &Imputer{Reference: complete}
	both := testkit.Must(imputer.Impute(u))(t)
	testkit.NearAll(t, "alone", testkit.Must(imputer.Impute(u.Slice(0, 1)))(t).Data, both.Row(0), 0)
	if wing := both.Row(0)[1]; wing < 0.6 || both.Row(1)[1] > 0.4 {
		t.Errorf("found %.2f, expected entries that follow from the others", both.Data)
	}
	sparse := dataset.Convert[float64](complete)
	for z := range sparse.Rows {
		sparse.Row(z)[1], sparse.Row(z)[2], sparse.Row(z)[3] = nan, nan, nan
	}
	imputer = &Imputer{Reference: sparse}
	candidates := dataset.Matrix[float64]{Rows: 61, Cols: 4, Data: append(slices.Clone(u.Row(0)), birds(60, 4, 2).Data...)}
	many := testkit.Must(imputer.Impute(candidates))(t)
	if wing := many.Row(0)[1]; wing < 0.6 {
		t.Errorf("found %.2f, expected what the other candidates say", many.Row(0))
	}
	testkit.NearAll(t, "complete candidates", many.Data[4:], candidates.Data[4:], 0)
}

// What a class that gives its strongest attributes does not say is weaker than what it says; random entries
// say nothing of the others.
func TestStrongestAttributes(t *testing.T) {
	const classes, attributes = 50, 40
	r, reference := rand.New(rand.NewPCG(1, 1)), dataset.NewMatrix[float64](classes, attributes)
	class := dataset.NewMatrix[float64](1, attributes) // has what is rare, and lacks what is common
	for i := range reference.Data {
		common := float64(i%attributes) / attributes
		reference.Data[i] = min(common+0.02*r.Float64(), 1)
		class.Data[i%attributes] = 1 - common
	}
	highest := func(given func(a int) bool) float64 {
		u := dataset.Convert[float64](class)
		for a := range u.Data {
			if !given(a) {
				u.Data[a] = nan
			}
		}
		full := testkit.Must((&Imputer{Reference: reference}).Impute(u))(t)
		for a := range u.Data {
			if given(a) {
				full.Data[a] = 0
			}
		}
		return slices.Max(full.Data)
	}
	strongest := highest(func(a int) bool { return a < 10 })
	random := highest(func(a int) bool { return a%4 == 0 })
	if strongest > 0.8 || random < 0.9 {
		t.Errorf("the highest filled entries are %.2f and %.2f, expected less than the least given one and what is common", strongest, random)
	}
}

func TestErrors(t *testing.T) {
	_, err := (&Imputer{Reference: matrix([]float64{0, 1})}).Impute(matrix([]float64{nan}))
	testkit.WantError(t, err, "expected 2 attributes, as in training, found 1")
}

// Where attributes follow from others, one question of each pair explains nearly all, and comes before both
// attributes of a pair, which explain less for each. A wrong entry is the most doubtful one.
func TestQuestionsAndDoubts(t *testing.T) {
	u := birds(400, 6, 1) // 1, 3 and 5 follow from 0, 2 and 4
	order := Fit(u).Order([][]int{{0}, {1}, {2, 3}, {4}, {5}})
	if order[2].Index != 2 || order[2].Explained < 0.9 || order[4].Explained < 0.999 {
		t.Errorf("found %+v, expected the pair third, and little left when each pair is known", order)
	}
	u.Row(7)[2], u.Row(7)[3] = 0.9, 0.1
	if d := Doubts(u)[0]; d.Class != 7 || d.Attribute < 2 || d.Attribute > 3 || d.Deviance < 3 {
		t.Errorf("found %+v, expected an entry of the pair that disagrees", d)
	}
}

// TestGolden compares with an independent program in float64. What an entry is expected to be is computed there
// from the covariance without its class: class, attribute, mean and standard deviation.
func TestGolden(t *testing.T) {
	var cases []struct {
		Given, Filled, Covariance [][]*float64
		Mean, SD, Mu              []float64
		Expected                  [][4]float64
	}
	testkit.NoError(t, json.Unmarshal(testkit.Must(os.ReadFile("testdata/golden.json"))(t), &cases))
	for i, c := range cases {
		u := numbers(c.Given)
		g := Fit(u)
		covariance := make([]float64, 0, u.Cols*u.Cols)
		for a := range u.Cols {
			covariance = append(covariance, mat.Row(nil, a, g.covariance)...)
		}
		mean, sd := g.Expected(u)
		wantMean, wantSD := dataset.Convert[float64](u), dataset.Convert[float64](u) // NaN where u has none
		for _, e := range c.Expected {
			z, a := int(e[0]), int(e[1])
			wantMean.Row(z)[a], wantSD.Row(z)[a] = e[2], e[3]
		}
		for what, x := range map[string]struct{ got, want []float64 }{
			"mean": {g.mean, c.Mean}, "sd": {g.sd, c.SD}, "mu": {g.mu, c.Mu},
			"filled": {g.Fill(u).Data, numbers(c.Filled).Data}, "covariance": {covariance, numbers(c.Covariance).Data},
			"expected": {mean.Data, wantMean.Data}, "deviation": {sd.Data, wantSD.Data},
		} {
			testkit.NearAll(t, fmt.Sprintf("case %d, %s", i, what), x.got, x.want, 5e-10)
		}
	}
}

func numbers(rows [][]*float64) dataset.Matrix[float64] {
	m := dataset.NewMatrix[float64](len(rows), len(rows[0]))
	for i, row := range rows {
		for j, v := range row {
			if m.Row(i)[j] = math.NaN(); v != nil {
				m.Row(i)[j] = *v
			}
		}
	}
	return m
}

// Classes without a given entry change nothing, also where there are no others.
func TestClassesWithoutEntries(t *testing.T) {
	u := matrix([]float64{0.9, nan}, []float64{0.1, 0.4}, []float64{nan, nan}, []float64{nan, nan})
	with, without := Fit(u), Fit(u.Slice(0, 2))
	testkit.Equal(t, "weight", with.weight, without.weight)
	testkit.NearAll(t, "filled", with.Fill(u).Data, without.Fill(u).Data, 0)
	testkit.NearAll(t, "filled without entries", Fit(u.Slice(2, 4)).Fill(u.Slice(1, 3)).Data, []float64{0.1, 0.4, 0, 0}, 0)
}

// A table that is too large for one Gaussian is filled and checked by several.
func TestParts(t *testing.T) {
	u := dataset.NewMatrix[float64](2, 5000)
	for i := range u.Data {
		u.Data[i] = float64(i%7) / 7
	}
	u.Data[0] = math.NaN()
	p := FitParts(u)
	full := p.Fill(u)
	mean, sd := p.Expected(u)
	if len(p) == 1 || math.IsNaN(full.Data[0]) || full.Data[4999] != u.Data[4999] || math.IsNaN(mean.Data[4999]) || !(sd.Data[9999] > 0) {
		t.Errorf("%d parts: %g, %g, %g", len(p), full.Data[0], full.Data[4999], mean.Data[4999])
	}
}
