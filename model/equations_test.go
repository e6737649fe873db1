package model_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// prior is p(a_m) in the order of its definition: the mean over classes and described
// attributes of each group, then its expectation over the groups of m.
func (tr trial[T]) prior() []float64 {
	if tr.Config.Prior != model.PerGroup {
		return tr.Classes.P
	}
	gamma := tr.params.Groups(tr.Config.Zeta)
	undescribed := func(m int) bool { return !slices.Contains(tr.Classes.Described, m) }
	p := make([]float64, gamma.Rows)
	for k := range gamma.Cols {
		var entries, weight float64
		for m := range gamma.Rows {
			for z := range tr.Classes.U.Rows {
				if !undescribed(m) {
					entries += float64(gamma.Row(m)[k]) * tr.Classes.U.Row(z)[m]
					weight += float64(gamma.Row(m)[k])
				}
			}
		}
		for m := range p {
			if weight > 0 && !undescribed(m) {
				p[m] += float64(gamma.Row(m)[k]) * entries / weight
			}
		}
	}
	return p
}

// One group of all attributes, with a uniform prior and without a complement, is a
// network of two layers (supplement D.4 of the paper),
//
//	p(z|x) ~ sum_m sigmoid(x W + b)_m U[z,m],
//
// the form that resembles ESZSL: the second layer is given by the descriptions.
func TestOneGroupIsATwoLayerNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 6)
		s := sizes{n: size.Draw(t, "samples"), d: size.Draw(t, "dims"), m: size.Draw(t, "attributes"), k: 1, z: size.Draw(t, "classes")}
		c := model.Config{
			Variant: model.KSoft, K: 1, Prior: model.Uniform, Complement: model.NoComplement,
			Zeta: rapid.SampledFrom([]float64{1, 10, 1000}).Draw(t, "zeta"),
		}
		tr := newTrial(t, c, s, rapid.Uint64().Draw(t, "seed"))
		same(t, "log p(z|x)", tr.logP(t), tr.twoLayers())
	})
}

// twoLayers is log p(z|x) by the two layers, n x Z.
func (tr trial[T]) twoLayers() []float64 {
	dense := func(m dataset.Matrix[float64]) *mat.Dense { return mat.NewDense(m.Rows, m.Cols, m.Data) }
	var hidden, scores, logP mat.Dense
	hidden.Mul(dense(dataset.Convert[float64](tr.x)), dense(dataset.Convert[float64](tr.params.W)))
	hidden.Apply(func(_, m int, s float64) float64 { return 1 / (1 + math.Exp(-s-float64(tr.params.B[m]))) }, &hidden)
	scores.Mul(&hidden, dense(tr.described).T())
	logP.Apply(func(i, _ int, s float64) float64 { return math.Log(s / sum(mat.Row(nil, i, &scores))) }, &scores)
	return logP.RawMatrix().Data
}

// agreesWithDouble holds the machines of training to those in float64.
func agreesWithDouble(t rapid.TB, tr trial[float32], tolerance float64) {
	t.Helper()
	wide := inPrecision[float64](tr)
	take(t, tr.byW(t)).close(t, take(t, wide.byW(t)), tolerance)
	take(t, tr.byV(t)).close(t, take(t, wide.byV(t)), tolerance)
	testkit.NearAll(t, "log p(z|x)", tr.logP(t), wide.logP(t), tolerance)
}

func TestSinglePrecisionAgreesWithDouble(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := drawTrial(t)
		tr.Config.Zeta = min(tr.Config.Zeta, 10) // it multiplies the rounding of dV
		agreesWithDouble(t, single(tr), 1e-4)
	})
}

// In a group of hundreds of attributes Uc, pc and Ac are far below float32, and decide for
// a class with an empty description.
func TestNoneOfALargeGroup(t *testing.T) {
	for _, complement := range []model.Complement{model.Const, model.DeMorgan} {
		for _, shift := range []float64{-0.8, -0.7} { // of the logits: detections near the prior
			t.Run(fmt.Sprintf("%s, %g", complement, shift), func(t *testing.T) {
				c := model.Config{Variant: model.KSoft, Prior: model.PerAttribute, Complement: complement, Zeta: 10}
				tr := newTrial(t, c, sizes{n: 3, d: 4, m: 312, k: 1, z: 5}, 1)
				for i := range tr.described.Data {
					tr.described.Data[i] = 0.4 + 0.02*tr.described.Data[i]
				}
				clear(tr.described.Row(2))
				for m := range tr.params.B {
					tr.params.B[m] = shift
				}
				for i := range tr.params.W.Data {
					tr.params.W.Data[i] *= 0.1
				}
				tr = tr.describe(t)
				agreesWithDouble(t, single(tr), 1e-3)
				if complement == model.DeMorgan {
					finite(t, "log p of the empty class", tr.logP(t))
					if g := tr.forward(t).GroupScores(tr.detect(t)[:312]).Row(0)[2]; !(g > 1e-6 && g < 1e12) {
						t.Errorf("the score of the empty class is %g: this test is of no use", g)
					}
				}
			})
		}
	}
}

// edge is an extreme problem.
type edge struct {
	name  string
	sizes sizes
	spoil func(tr trial[float64]) // changes the descriptions or the parameters
	stock bool                    // compared with stock ops, which have no log of 0 and no 0/0 here
}

var nan = math.NaN()

var edges = []edge{
	{"a class with an empty description", sizes{n: 3, d: 2, m: 5, k: 2, z: 3}, func(tr trial[float64]) {
		clear(tr.described.Row(1))
	}, true},
	{"classes with empty descriptions only", sizes{n: 3, d: 2, m: 5, k: 2, z: 3}, func(tr trial[float64]) {
		clear(tr.described.Data)
	}, true},
	{"a class with small probabilities", sizes{n: 3, d: 2, m: 5, k: 2, z: 3}, func(tr trial[float64]) {
		copy(tr.described.Row(1), []float64{nan, 0.3, nan, nan, nan})
	}, true},
	{"an attribute that no class describes", sizes{n: 3, d: 2, m: 5, k: 2, z: 3}, func(tr trial[float64]) {
		setColumn(tr.described, 3, nan)
	}, false},
	{"an attribute that no class has", sizes{n: 3, d: 2, m: 5, k: 2, z: 3}, func(tr trial[float64]) {
		setColumn(tr.described, 3, 0)
	}, true},
	{"an attribute that all classes have", sizes{n: 3, d: 2, m: 5, k: 2, z: 3}, func(tr trial[float64]) {
		setColumn(tr.described, 3, 1)
	}, false},
	{"descriptions of 0 and 1", sizes{n: 3, d: 2, m: 4, k: 2, z: 3}, sure, false},
	{"detections of 0 and 1", sizes{n: 3, d: 2, m: 4, k: 2, z: 3}, saturate, false},
	{"both", sizes{n: 3, d: 2, m: 4, k: 2, z: 3}, func(tr trial[float64]) { sure(tr); saturate(tr) }, false},
}

func setColumn(m dataset.Matrix[float64], col int, value float64) {
	for i := range m.Rows {
		m.Row(i)[col] = value
	}
}

// sure describes three classes by four attributes with only 0 and 1.
func sure(tr trial[float64]) {
	copy(tr.described.Data, []float64{
		1, 0, 0, 1,
		0, 1, 0, 1,
		0, 0, 1, 0,
	})
}

// saturate makes A exactly 0 and 1, in both precisions.
func saturate(tr trial[float64]) {
	for i, w := range tr.params.W.Data {
		tr.params.W.Data[i] = math.Copysign(1e6, w)
	}
}

// Results are finite in both precisions, and agree with stock ops where these are defined.
func TestEdges(t *testing.T) {
	for _, e := range edges {
		t.Run(e.name, func(t *testing.T) {
			forConfigs(t, func(t *testing.T, c model.Config) {
				tr := newTrial(t, c, e.sizes, 5)
				e.spoil(tr)
				tr = tr.describe(t)
				isFinite(t, tr)
				isFinite(t, single(tr))
				// One-hot, where zeros are exact. Without a complement, scores are 0 here. Stock
				// ops divide by the prior per group.
				divides := c.Prior == model.PerGroup && slices.Min(tr.Classes.P) == 0
				if e.stock && !divides && c.Zeta == 1000 && c.Complement != model.NoComplement {
					agreesWithStock(t, tr)
				}
			})
		})
	}
}

func isFinite[T model.Float](t *testing.T, tr trial[T]) {
	t.Helper()
	take(t, tr.byW(t)).finite(t)
	take(t, tr.byV(t)).finite(t)
	finite(t, "log p(z|x)", tr.logP(t))
}

// oneHot is a model in which Gamma is exactly the identity, with only the term
// CXE, so that its results at the edges are known.
var oneHot = model.Config{Variant: model.Singletons, Prior: model.PerAttribute, Complement: model.DeMorgan, Zeta: 1000}

// An attribute that all classes have, none has, or none describes is no evidence.
func TestAttributeCommonToAllClassesIsNoEvidence(t *testing.T) {
	for _, p := range []float64{0, 1, nan, 0.4} {
		tr := newTrial(t, oneHot, sizes{n: 4, d: 2, m: 5, z: 3}, 1)
		const m = 2
		setColumn(tr.described, m, p)
		tr = tr.describe(t)
		a := tr.detect(t)
		before := tr.classify(t, a)
		for i := range tr.x.Rows {
			a[i*5+m] = 0.9
		}
		after := tr.classify(t, a)
		same(t, "log p(z|x) with another detection", after, before)
		if db := take(t, tr.byW(t)).Grads[1]; math.Abs(db[m]) > 1e-12 {
			t.Errorf("p = %g: the gradient by the bias of the attribute is %g, expected 0", p, db[m])
		}
	}
}

// BXE is against the descriptions of the data set, not those scaled for soft OR. An
// attribute that no class describes does not count, and its detector gets no gradient.
func TestBXEIsAgainstTheDescriptions(t *testing.T) {
	c := oneHot
	c.Variant, c.Complement, c.Alpha = model.SemanticHard, model.Const, 1
	tr := newTrial(t, c, sizes{n: 4, d: 2, m: 5, k: 1, z: 3}, 1)
	const m = 2
	setColumn(tr.described, m, nan)
	tr = tr.describe(t)
	s := dataset.NewMatrix[float64](4, 5)
	tr.params.Logits(tr.x, s)
	var want float64
	for i, z := range tr.y {
		u := tr.described.Row(z)
		for j, v := range s.Row(i) {
			if j != m {
				want += (math.Log(1+math.Exp(v)) - u[j]*v) / 16
			}
		}
	}
	got, mean := take(t, tr.byW(t)), model.BXE(tr.Classes, s, tr.y)
	same(t, "bxe", []float64{got.Terms.BXE, mean}, []float64{want, want})
	if db := got.Grads[1][m]; math.Abs(db) > 1e-12 {
		t.Errorf("the gradient by the bias of the undescribed attribute is %g, expected 0", db)
	}
}
