package model_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/model"
)

// double is the trial in float64, of the very numbers that it has in float32.
func double(tr trial[float32]) trial[float64] {
	w := trial[float64]{
		Config: tr.Config, Classes: tr.Classes, Semantic: tr.Semantic, Batch: tr.Batch,
		described: tr.described, y: tr.y, x: to[float64](tr.x),
	}
	w.params = &model.Parameters[float64]{W: to[float64](tr.params.W), B: floats(tr.params.B), V: to[float64](tr.params.V)}
	return w
}

// agreesWithDouble holds the machines of training to those in float64.
func agreesWithDouble(t rapid.TB, tr trial[float32], tolerance float64) {
	t.Helper()
	wide := double(tr)
	take(t, tr.byW(t)).close(t, take(t, wide.byW(t)), tolerance)
	take(t, tr.byV(t)).close(t, take(t, wide.byV(t)), tolerance)
	within(t, "log p(z|x)", tolerance, tr.logP(t), wide.logP(t))
}

func TestSinglePrecisionAgreesWithDouble(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := drawTrial(t)
		tr.Config.Zeta = min(tr.Config.Zeta, 10) // it multiplies the rounding of dV
		agreesWithDouble(t, single(tr), 1e-4)
	})
}

// With as many groups as CUB has attributes, the scores of a class are a product
// of 312 numbers, far outside of float32.
func TestManyGroups(t *testing.T) {
	for _, complement := range []model.Complement{model.Const, model.DeMorgan} {
		for _, zeta := range []float64{10, 1000} {
			t.Run(fmt.Sprintf("%s, zeta %g", complement, zeta), func(t *testing.T) {
				c := model.Config{Variant: model.Singletons, Prior: model.Uniform, Complement: complement, Zeta: zeta, Alpha: 0.1, Beta: 1e-3, Lambda: 1e-3}
				tr := newTrial(t, c, sizes{n: 3, d: 4, m: 312, z: 5}, 1)
				agreesWithDouble(t, single(tr), 1e-3)
			})
		}
	}
}

// One group of many attributes: the complement is a product of as many numbers.
func TestOneGroupOfManyAttributes(t *testing.T) {
	for _, complement := range []model.Complement{model.Const, model.DeMorgan} {
		t.Run(string(complement), func(t *testing.T) {
			c := model.Config{Variant: model.KSoft, Prior: model.PerAttribute, Complement: complement, Zeta: 10}
			agreesWithDouble(t, single(newTrial(t, c, sizes{n: 3, d: 4, m: 312, k: 1, z: 5}, 1)), 1e-4)
		})
	}
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
