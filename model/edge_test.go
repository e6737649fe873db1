package model_test

import (
	"math"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// edge is an extreme problem.
type edge struct {
	name  string
	sizes sizes
	spoil func(tr trial[float64]) // changes the descriptions or the parameters
	stock bool                    // compared with stock ops, which have no log of 0 and no 0/0 here
}

var nan = math.NaN()

var edges = []edge{
	{"one class", sizes{n: 3, d: 2, m: 5, k: 2, z: 1}, nil, false},
	{"one sample", sizes{n: 1, d: 2, m: 5, k: 2, z: 3}, nil, false},
	{"one group", sizes{n: 3, d: 2, m: 5, k: 1, z: 3}, nil, false},
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
			forConfigs(t, []sizes{e.sizes}, func(t *testing.T, c model.Config, s sizes) {
				tr := newTrial(t, c, s, 5)
				if e.spoil != nil {
					e.spoil(tr)
					tr = tr.describe(t)
				}
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
