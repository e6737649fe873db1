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
