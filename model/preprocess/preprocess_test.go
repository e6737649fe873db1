package preprocess

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/testkit"
	_ "github.com/lago-train/lago-train/internal/testkit/fastblas" // for products
)

// features returns correlated features that are not negative.
func features(n, d int, seed uint64) dataset.Matrix[float32] {
	rng := rand.New(rand.NewPCG(seed, 7))
	x := dataset.NewMatrix[float32](n, d)
	for i := range n {
		common := rng.ExpFloat64()
		for j := range d {
			x.Data[i*d+j] = float32(max(common+rng.NormFloat64()*(1+float64(j%5)), 0))
		}
	}
	return x
}

func all(n int) []int { return dataset.Matrix[float32]{Rows: n}.AllRows() }

// oracle returns (X'X + g I)^(-1/2) sqrt(n) by an eigendecomposition.
func oracle(t interface{ Fatal(...any) }, x dataset.Matrix[float32], rows []int, ridge float64) *mat.Dense {
	a := Gram(x, rows)
	for d := range x.Cols {
		a.SetSym(d, d, a.At(d, d)+ridge)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		t.Fatal("the oracle did not converge")
	}
	var q, p mat.Dense
	eigen.VectorsTo(&q)
	roots := make([]float64, x.Cols)
	for i, v := range eigen.Values(nil) {
		roots[i] = math.Sqrt(float64(len(rows)) / v)
	}
	p.Mul(&q, mat.NewDiagDense(x.Cols, roots))
	p.Mul(&p, q.T())
	return &p
}

func TestWhitenAgreesWithEigendecomposition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 60).Draw(t, "n"), rapid.IntRange(1, 60).Draw(t, "d") // n < d: in another form
		ridge := math.Pow(10, rapid.Float64Range(-3, 6).Draw(t, "log10 ridge"))
		x := features(n, d, rapid.Uint64().Draw(t, "seed"))
		m := testkit.Must(Fit(Whiten, ridge, x, all(n)))(t)
		want := oracle(t, x, all(n), ridge)
		scale := 1 / mat.Norm(want, 2)
		unit := dataset.NewMatrix[float32](d, d)
		for i := range d {
			unit.Row(i)[i] = 1
		}
		applied := testkit.Must(m.Apply(unit, all(d)))(t)
		folded, _, _, err := m.Fold(unit, nil)
		testkit.NoError(t, err)
		for i, p := range applied.Data {
			testkit.Near(t, "P", scale*float64(p), scale*want.At(i/d, i%d), 2e-6)
			testkit.Near(t, "P folded", scale*float64(folded.Data[i]), scale*want.At(i/d, i%d), 2e-6)
		}
	})
}

func TestWhitenDoesNotDependOnWorkers(t *testing.T) {
	t.Cleanup(func() { parallel.Limit(0) })
	x := features(90, 40, 11)
	var maps [3]*Transform
	for i := range maps {
		parallel.Limit(1 + 2*i)
		maps[i] = testkit.Must(Fit(Whiten, 5, x, all(90)))(t)
	}
	for i, m := range maps[1:] {
		testkit.Equal(t, fmt.Sprintf("%d workers", 3+2*i), m, maps[0])
	}
}

// Scaling the features by s scales the default ridge by s^2: the whitened features do not change.
func TestDefaultRidgeFollowsTheScaleOfTheFeatures(t *testing.T) {
	x := features(50, 8, 5)
	scaled := dataset.NewMatrix[float32](x.Rows, x.Cols)
	for i, v := range x.Data {
		scaled.Data[i] = 16 * v
	}
	var whitened [2]dataset.Matrix[float32]
	for i, x := range []dataset.Matrix[float32]{x, scaled} {
		m := testkit.Must(Fit(Whiten, 0, x, all(50)))(t)
		whitened[i] = testkit.Must(m.Apply(x, all(50)))(t)
	}
	testkit.NearAll(t, "features scaled by 16", whitened[1].Data, whitened[0].Data, 1e-4)
}

func TestStandardise(t *testing.T) {
	x := dataset.Matrix[float32]{Rows: 3, Cols: 3, Data: []float32{
		1, 10, 5, // the last dimension does not vary
		3, 30, 5,
		100, 0, 6, // not a training sample
	}}
	m := testkit.Must(Fit(Standardise, 0, x, []int{0, 1}))(t)
	testkit.NearAll(t, "features", testkit.Must(m.Apply(x, all(3)))(t).Data, []float64{-1, -1, 0, 1, 1, 0, 98, -2, 1}, 1e-6)
}

func TestApplyDoesNotDependOnBlocks(t *testing.T) {
	x := features(2*applyBlock+3, 4, 9)
	for _, chain := range []Chain{Standardise, Whiten, "sqrt,l2,whiten"} {
		m := testkit.Must(Fit(chain, 10, x, all(50)))(t)
		whole := testkit.Must(m.Apply(x, all(x.Rows)))(t)
		for _, r := range []int{0, applyBlock - 1, applyBlock, x.Rows - 1} {
			one := testkit.Must(m.Apply(x, []int{r}))(t)
			testkit.NearAll(t, string(chain)+" of a row alone", one.Data, whole.Row(r), 1e-4)
		}
	}
}

// Each step is fitted on the output of those before it, and applied to it.
func TestStepsInOrder(t *testing.T) {
	x := features(40, 6, 3)
	for i := range x.Data {
		x.Data[i] -= 1 // of both signs
	}
	clear(x.Row(7))
	for chain, order := range map[Chain][]Chain{
		"sqrt,l2,whiten": {SignedRoot, L2, Whiten}, "whiten,l2,sqrt": {Whiten, L2, SignedRoot}, "l2,standardize,whiten": {L2, Standardise, Whiten},
	} {
		whole := testkit.Must(Fit(chain, 3, x, all(25)))(t)
		got := testkit.Must(whole.Apply(x, all(40)))(t)
		want := x
		for _, step := range order {
			m := testkit.Must(Fit(step, 3, want, all(25)))(t)
			want = testkit.Must(m.Apply(want, all(40)))(t)
		}
		testkit.Equal(t, string(chain), got.Data, want.Data)
	}
}

func TestSignedRootAndL2(t *testing.T) {
	x := dataset.Matrix[float32]{Rows: 2, Cols: 4, Data: []float32{9, -16, 0, 25, 0, 0, 0, 0}}
	for chain, want := range map[Chain][]float32{
		SignedRoot: {3, -4, 0, 5, 0, 0, 0, 0},
		"sqrt,l2":  {0.84852814, -1.1313709, 0, 1.4142135, 0, 0, 0, 0}, // times 2 / sqrt(50)
	} {
		m := testkit.Must(Fit(chain, 0, x, all(2)))(t)
		y := testkit.Must(m.Apply(x, all(2)))(t)
		testkit.NearAll(t, string(chain), y.Data, want, 1e-6)
	}
}

func TestChainText(t *testing.T) {
	const steps = "expected one of none, sqrt, l2, standardize, whiten, found "
	for _, c := range []struct{ text, want, refused string }{
		{"none", "none", ""},
		{" SQRT, l2,Whiten", "sqrt,l2,whiten", ""},
		{"whiten,sqrt", "whiten,sqrt", ""},
		{"sqrt,ll", "", steps + `"ll". Did you mean l2?`},
		{"", "", steps + `""`},
		{"l2,,sqrt", "", steps + `""`},
		{"l2,sqrt,l2", "", "expected each step at most once, found l2 twice"},
		{"none,l2", "", "expected none alone, or a list of other steps, found none,l2"},
	} {
		var got Chain
		err := got.UnmarshalText([]byte(c.text))
		if string(got) != c.want || (err == nil) != (c.refused == "") || err != nil && err.Error() != c.refused {
			t.Errorf("%q: found %q and error %v, expected %q and %s", c.text, got, err, c.want, c.refused)
		}
	}
}

func TestFitRefuses(t *testing.T) {
	x := features(4, 3, 1)
	bad := features(4, 3, 1)
	bad.Data[4] = float32(math.NaN())
	for _, c := range []struct {
		chain Chain
		ridge float64
		x     dataset.Matrix[float32]
		rows  []int
		want  string
	}{
		{Whiten, math.SmallestNonzeroFloat64, x, all(4), "ridge: expected one large enough for the features, found 5e-324"},
		{Whiten, 0, dataset.NewMatrix[float32](4, 3), all(4), "features: expected numbers that are not all 0, found only 0"},
		{Standardise, 0, x, nil, "samples: expected at least one training sample, found none"},
		{Whiten, 1, bad, all(4), "features: expected finite numbers, found NaN or infinity in dimension 1"},
	} {
		testkit.Fails(Fit(c.chain, c.ridge, c.x, c.rows))(t, c.want)
	}
	m := testkit.Must(Fit(Standardise, 0, x, all(4)))(t)
	const want = "features: expected 3 dimensions, as in training, found 5"
	testkit.Fails(m.Apply(features(2, 5, 1), all(2)))(t, want)
	_, _, _, err := m.Fold(features(5, 2, 1), nil)
	testkit.WantError(t, err, want)
}

// The layer on transformed features equals the folded layer on the features, or on those
// transformed by the steps before the affine ones.
func TestFold(t *testing.T) {
	x := features(30, 8, 1)
	w := features(8, 5, 2)
	b := []float32{1, -2, 3, 0, 0.5}
	layer := func(x, w dataset.Matrix[float32], b []float32) []float64 {
		var s []float64
		for i := range x.Rows {
			for j := range w.Cols {
				sum := float64(b[j])
				for d, v := range x.Row(i) {
					sum += float64(v) * float64(w.Row(d)[j])
				}
				s = append(s, sum)
			}
		}
		return s
	}
	for chain, rest := range map[Chain]Chain{
		None: "", Standardise: "", "standardize,whiten": "", L2: L2, "sqrt,l2,whiten": "sqrt,l2", "whiten,l2,standardize": "whiten,l2",
	} {
		m := testkit.Must(Fit(chain, 1, x, all(20)))(t)
		preprocessed := testkit.Must(m.Apply(x, all(30)))(t)
		folded, shifted, before, err := m.Fold(w, b)
		testkit.NoError(t, err)
		if before.Identity() != (rest == "") || before != nil && before.Chain != rest {
			t.Errorf("%s: %+v remains, expected %s", chain, before, rest)
		}
		y := testkit.Must(before.Apply(x, all(30)))(t)
		testkit.NearAll(t, string(chain), layer(y, folded, shifted), layer(preprocessed, w, b), 1e-4)
	}
}

// A Transform that is nil or zero, as in a model made by hand, is the identity.
func TestIdentity(t *testing.T) {
	x := features(5, 3, 1)
	fitted := testkit.Must(Fit(None, 0, x, nil))(t)
	for name, m := range map[string]*Transform{"none": fitted, "nil": nil, "zero": {}} {
		y := testkit.Must(m.Apply(x, []int{4, 0}))(t)
		testkit.Equal(t, name, y.Data, slices.Concat(x.Row(4), x.Row(0)))
		w, b, rest, err := m.Fold(x, []float32{1, 2, 3})
		if err != nil || &w.Data[0] != &x.Data[0] || b[2] != 3 || !m.Identity() || !rest.Identity() {
			t.Errorf("%s: folded to %v, %v, %v", name, w, b, err)
		}
	}
}
