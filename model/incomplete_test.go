package model_test

import (
	"fmt"
	"testing"

	"github.com/lago-train/lago-train/model"
)

// Where no class describes an attribute or a whole group, the loss of a step of both machines
// is that of the forward path, and its gradients agree with finite differences.
func TestStepsOfIncompleteDescriptions(t *testing.T) {
	const h = 1e-5
	for _, c := range designs() {
		c.Alpha, c.Beta, c.Lambda = 0.5, 0.1, 0.2
		if c.Variant == model.SemanticSoft {
			c.Psi = 0.3
		}
		for _, missing := range [][]int{{4}, {1, 4}, {1, 3, 4}} { // attributes; the second list is group 1
			t.Run(fmt.Sprint(designName(c), " without ", missing), func(t *testing.T) {
				tr := newTrial(t, c, sizes{n: 3, d: 3, m: 6, k: 3, z: 4}, 1)
				for _, m := range missing {
					setColumn(tr.described, m, nan)
				}
				tr = tr.describe(t)
				var cxe float64
				for i, l := range tr.logP(t) {
					if i%4 == tr.y[i/4] {
						cxe -= l / 3
					}
				}
				w, v := tr.byW(t), tr.byV(t)
				byW, byV := take(t, w), take(t, v)
				same(t, "cxe", []float64{byW.Terms.CXE, byV.Terms.CXE}, []float64{cxe, cxe})
				loss := func(m machine) func() float64 {
					return func() float64 { return c.Loss(take(t, m).Terms) }
				}
				within(t, "dW", 1e-6, byW.Grads[0], differences(tr.params.W.Data, h, loss(w)))
				within(t, "db", 1e-6, byW.Grads[1], differences(tr.params.B, h, loss(w)))
				if c.Variant.Learned() { // at other V, a small change fills an empty group
					within(t, "dV", 1e-6, byV.Grads[0], differences(tr.params.V.Data, h/c.Zeta, loss(v)))
				}
			})
		}
	}
}
