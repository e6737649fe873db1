package model_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/model"
)

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
	var logP []float64
	for i := range tr.x.Rows {
		hidden := make([]float64, tr.params.W.Cols)
		for m := range hidden {
			s := float64(tr.params.B[m])
			for d, v := range tr.x.Row(i) {
				s += float64(v) * float64(tr.params.W.Row(d)[m])
			}
			hidden[m] = 1 / (1 + math.Exp(-s))
		}
		scores, sum := make([]float64, tr.described.Rows), 0.0
		for z := range scores {
			for m, h := range hidden {
				scores[z] += h * tr.described.Row(z)[m]
			}
			sum += scores[z]
		}
		for _, s := range scores {
			logP = append(logP, math.Log(s/sum))
		}
	}
	return logP
}

// With either kind of complement the results differ from that network.
func TestOneGroupWithAComplementIsNoTwoLayerNetwork(t *testing.T) {
	for _, complement := range []model.Complement{model.Const, model.DeMorgan} {
		c := model.Config{Variant: model.KSoft, K: 1, Prior: model.Uniform, Complement: complement, Zeta: 10}
		tr := newTrial(t, c, sizes{n: 1, d: 3, m: 4, k: 1, z: 3}, 1)
		got, want := tr.logP(t), tr.twoLayers()
		var apart float64
		for z := range got {
			apart = max(apart, math.Abs(got[z]-want[z]))
		}
		if apart < 1e-3 {
			t.Errorf("%s: %v, the same as without a complement", complement, got)
		}
	}
}
