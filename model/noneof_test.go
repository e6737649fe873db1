package model_test

import (
	"testing"

	G "gorgonia.org/gorgonia"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// noneOfDirectly sums weights * Q and its gradients, each product written out.
func noneOfDirectly(r, gamma, weights dataset.Matrix[float64]) (q, dr, dgamma dataset.Matrix[float64]) {
	q = dataset.NewMatrix[float64](r.Rows, gamma.Cols)
	dr, dgamma = dataset.NewMatrix[float64](r.Rows, r.Cols), dataset.NewMatrix[float64](gamma.Rows, gamma.Cols)
	for i := range r.Rows {
		for k := range gamma.Cols {
			without := func(skip int) float64 {
				product := 1.0
				for m, p := range r.Row(i) {
					if m != skip {
						product *= 1 - gamma.Row(m)[k]*p
					}
				}
				return product
			}
			q.Row(i)[k] = without(-1)
			for m, p := range r.Row(i) {
				others := weights.Row(i)[k] * without(m)
				dr.Row(i)[m] -= gamma.Row(m)[k] * others
				dgamma.Row(m)[k] -= p * others
			}
		}
	}
	return q, dr, dgamma
}

// The gradient is that of the product if none, one, two or all factors are zero.
func TestNoneOfWithFactorsOfZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, m, k := rapid.IntRange(1, 4).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "attributes"), rapid.IntRange(1, 3).Draw(t, "groups")
		draw := func(name string, rows, cols int) dataset.Matrix[float64] {
			p := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 1}), rapid.Float64Range(0, 1))
			return dataset.Matrix[float64]{Rows: rows, Cols: cols, Data: rapid.SliceOfN(p, rows*cols, rows*cols).Draw(t, name)}
		}
		r, gamma, weights := draw("R", rows, m), draw("Gamma", m, k), draw("weights", rows, k)
		wantQ, wantR, wantGamma := noneOfDirectly(r, gamma, weights)

		for name, byR := range map[string]bool{"R": true, "Gamma": false} {
			o := op{inputs: []variable{of("R", r), of("Gamma", gamma)}}
			o.inputs[0].fixed, o.inputs[1].fixed = !byR, byR
			o.fused = func(in G.Nodes) *G.Node {
				if byR {
					return model.NoneOfOp(in[0], in[1], in[0])
				}
				return model.NoneOfOp(in[0], in[1], in[1])
			}
			machine := o.compile(t, o.buildFused, weights.Data)
			same(t, "Q", machine.run(t), wantQ.Data)
			want := wantGamma
			if byR {
				want = wantR
			}
			same(t, "gradient by "+name, numbers(machine.grads[0].Value()), want.Data)
		}
	})
}
