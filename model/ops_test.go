package model_test

import (
	"fmt"
	"math"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// softAnd32 is the soft AND of k groups for one sample and class, and its
// gradient, in float32.
func softAnd32(t rapid.TB, scores []float32) (l float64, grads []float64) {
	t.Helper()
	g := G.NewGraph()
	k := len(scores)
	in := G.NewTensor(g, G.Float32, 3, G.WithShape(k, 1, 1), G.WithName("G"),
		G.WithValue(tensor.New(tensor.WithShape(k, 1, 1), tensor.WithBacking(scores))))
	out := model.SoftAndOp32(in)
	dG := testkit.Must(G.Grad(G.Must(G.Sum(out)), in))(t)
	testkit.NoError(t, G.NewTapeMachine(g).RunAll())
	return numbers(out.Value())[0], numbers(dG[0].Value())
}

// The product of any number of scores of any size neither overflows nor
// underflows.
func TestLongProducts(t *testing.T) {
	for _, k := range []int{1, 7, 8, 9, 312, 2000} {
		for _, sizes := range [][]float64{{1e-29}, {1e29}, {1e-5, 1e-7}, {1e-29, 1e29, 3}} {
			t.Run(fmt.Sprintf("%d scores of %v", k, sizes), func(t *testing.T) {
				scores := make([]float32, k)
				var want float64
				wantGrads := make([]float64, k)
				for i := range scores {
					scores[i] = float32(sizes[i%len(sizes)])
					want += math.Log(float64(scores[i]))
					wantGrads[i] = 1 / float64(scores[i])
				}
				l, grads := softAnd32(t, scores)
				testkit.NearAll(t, "L", []float64{l}, []float64{want}, 1e-6)
				testkit.NearAll(t, "gradient", grads, wantGrads, 1e-6)
			})
		}
	}
}

// Scores that are 0, infinite or tiny are clipped and have no gradient.
func TestScoresOutOfBounds(t *testing.T) {
	l, grads := softAnd32(t, []float32{0, 2, float32(math.Inf(1)), 1e-40})
	testkit.NearAll(t, "L", []float64{l}, []float64{math.Log(2) - 30*math.Ln10}, 1e-6)
	same(t, "gradient", grads, []float64{0, 0.5, 0, 0})
}

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
			g := G.NewGraph()
			nodes := []*G.Node{model.Constant(g, "R", r), model.Constant(g, "Gamma", gamma)}
			wrt, want := nodes[1], wantGamma
			if byR {
				wrt, want = nodes[0], wantR
			}
			out := model.NoneOfOp(nodes[0], nodes[1], !byR)
			objective := G.Must(G.Sum(G.Must(G.HadamardProd(out, model.Constant(g, "weights", weights)))))
			grads := testkit.Must(G.Grad(objective, wrt))(t)
			testkit.NoError(t, G.NewTapeMachine(g).RunAll())
			same(t, "Q", numbers(out.Value()), wantQ.Data)
			same(t, "gradient by "+name, numbers(grads[0].Value()), want.Data)
		}
	})
}
