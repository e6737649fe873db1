package model_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// designs lists configurations of every kind of score.
func designs() []model.Config {
	var list []model.Config
	for _, v := range model.Variants {
		for _, p := range model.Priors {
			for _, c := range model.Complements {
				for _, zeta := range []float64{1, 10, 1000} { // soft groups, nearly hard and exactly hard ones
					list = append(list, model.Config{Variant: v, Prior: p, Complement: c, Zeta: zeta})
				}
			}
		}
	}
	return list
}

func designName(c model.Config) string {
	return fmt.Sprintf("%s %s %s zeta %g", c.Variant, c.Prior, c.Complement, c.Zeta)
}

// parts are the terms of the score of group k for class z, its complement and Ac,
// written as in the paper: Gamma U/p A and (Uc/pc) Ac.
func (tr trial[T]) parts(gamma dataset.Matrix[float64], a []float64, k, z int) (terms []float64, complement, ac float64) {
	u, p := tr.Classes.U.Row(z), tr.prior()
	uc, pc := 1.0, 1.0
	if tr.Config.Complement != model.NoComplement {
		ac = 1
	}
	for m := range a {
		g := gamma.Row(m)[k]
		ratio := 0.0
		if p[m] > 0 {
			ratio = u[m] / p[m]
		}
		terms = append(terms, g*ratio*a[m])
		uc *= 1 - g*u[m]
		pc *= 1 - g*p[m]
		if tr.Config.Complement == model.DeMorgan {
			ac *= 1 - g*a[m]
		}
	}
	if pc == 0 {
		return terms, 0, ac
	}
	return terms, uc / pc * ac, ac
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

// explained returns a random trial of four classes with its explainer. Some entries of descriptions and
// detections are 0, 1 or missing; for odd seeds one attribute is missing in all classes.
func explained(t rapid.TB, c model.Config, seed uint64) (tr trial[float64], e *model.Explainer, a []float64) {
	t.Helper()
	tr = newTrial(t, c, sizes{n: 1, d: 3, m: 5, k: 3, z: 4}, seed)
	rng := newRand(seed + 1000)
	a = uniform(rng, 1, 5, 0, 1).Data
	for _, special := range []float64{0, 1, math.NaN()} {
		tr.described.Data[rng.IntN(len(tr.described.Data))] = special
	}
	if seed%2 == 1 {
		setColumn(tr.described, rng.IntN(5), math.NaN())
	}
	a[rng.IntN(len(a))] = 0
	a[rng.IntN(len(a))] = 1
	tr = tr.describe(t)
	return tr, testkit.Must(model.NewExplainer(tr.Config, tr.Classes, tr.params.V, &model.Pipeline{}))(t), a
}

// The parts of an explanation agree with the equations and sum to the log odds of the classifier.
func TestExplanationAddsUp(t *testing.T) {
	for _, c := range designs() {
		t.Run(designName(c), func(t *testing.T) {
			for seed := range uint64(4) {
				tr, e, a := explained(t, c, seed)
				x := testkit.Must(e.Explain(a, 1, 3))(t)
				l := tr.classify(t, a)
				same(t, "log odds", []float64{x.LogOdds}, []float64{l[1] - l[3]})
				var contributions []float64
				for k, g := range x.Groups {
					contributions = append(contributions, g.Contribution)
					logs := make([]float64, 2)
					for i, s := range []model.GroupScore{g.Class, g.Against} {
						terms, complement, none := tr.parts(e.Gamma, a, k, []int{1, 3}[i])
						same(t, fmt.Sprint("terms of group ", k), s.Terms, terms)
						same(t, fmt.Sprint("complement of group ", k), []float64{s.None, g.None}, []float64{complement, none})
						same(t, fmt.Sprint("score of group ", k), []float64{s.Score}, []float64{sum(terms) + complement})
						logs[i] = math.Log(min(max(sum(terms)+complement, 1e-30), 1e30)) // the bounds of soft AND
					}
					same(t, fmt.Sprint("contribution of group ", k), []float64{g.Contribution}, []float64{logs[0] - logs[1]})
				}
				same(t, "sum of the contributions", []float64{sum(contributions)}, []float64{x.LogOdds})
			}
		})
	}
}

func TestExplainErrors(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 3, d: 5, m: 6, k: 3, z: 4}, 1))
	l := lago(tr)
	names(t, errorOf(l.Explainer(dataset.NewMatrix[float64](4, 0))), "descriptions")
	names(t, errorOf(l.DetectOne(dataset.NewMatrix[float32](3, 4), 0)), "features")
	names(t, errorOf(l.DetectOne(tr.x, 3)), "row of the features")
	e := testkit.Must(l.Explainer(tr.described))(t)
	a := make([]float64, 6)
	for _, c := range []struct {
		a              []float64
		class, against int
		field          string
	}{
		{a, 0, 0, "classes"},
		{a, 0, 4, "class"},
		{a[:5], 0, 1, "detections"},
		{[]float64{0, 0, 0, 0, 0, 1.5}, 0, 1, "detections"},
	} {
		names(t, errorOf(e.Explain(c.a, c.class, c.against)), c.field)
	}
}
