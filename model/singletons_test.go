package model_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// Singletons with a V that is not stored agree with those with the identity, also where no
// class describes an attribute, and where the factor of a sure attribute is 0.
func TestIdentityVAgreesWithStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := model.Config{
			Variant:    model.Singletons,
			Prior:      rapid.SampledFrom(model.Priors).Draw(t, "prior"),
			Complement: rapid.SampledFrom([]model.Complement{model.Const, model.NoComplement}).Draw(t, "complement"),
			Zeta:       rapid.SampledFrom([]float64{1e-9, 1, 10, 1000}).Draw(t, "zeta"),
			Alpha:      0.3,
		}
		m := rapid.IntRange(1, 9).Draw(t, "attributes")
		tr := newTrial(t, c, sizes{n: 3, d: 2, m: m, z: 4}, rapid.Uint64().Draw(t, "seed"))
		for i := range m {
			if v := rapid.SampledFrom([]float64{0.5, 0, 1, nan}).Draw(t, fmt.Sprint("attribute ", i)); v != 0.5 {
				setColumn(tr.described, i, v)
			}
		}
		tr = tr.describe(t)
		logP, byW := tr.logP(t), take(t, tr.byW(t))
		tr.params.V = dataset.Matrix[float64]{Rows: m, Cols: m}
		same(t, "log p(z|x)", tr.logP(t), logP)
		take(t, tr.byW(t)).close(t, byW, 1e-9)
	})
}

// From 4096 attributes on, V is not stored; what needs all of Gamma is refused.
func TestIdentityV(t *testing.T) {
	c := model.Config{Variant: model.Singletons, Prior: model.Uniform, Complement: model.Const, Zeta: 10}
	const m = 4096
	for attributes, stored := range map[int]int{m - 1: (m - 1) * (m - 1), m: 0} {
		p := testkit.Must(c.Init(2, attributes, nil, 1))(t)
		if len(p.V.Data) != stored || p.V.Rows != attributes || p.V.Cols != attributes {
			t.Errorf("%d attributes: V is %d x %d with %d numbers, expected %d", attributes, p.V.Rows, p.V.Cols, len(p.V.Data), stored)
		}
	}
	l := &model.Pipeline{Classifier: &model.LAGO{Config: c, Params: testkit.Must(c.Init(2, m, nil, 1))(t)}}
	_, err := l.Explainer(uniform(newRand(1), 2, m, 0, 1))
	testkit.WantError(t, err, "model: expected at most 4095 groups, found singletons of 4096 attributes. Groups are ")
	c.Complement = model.DeMorgan
	_, err = c.Init(2, m, nil, 1)
	testkit.WantError(t, err, "complement: expected const or none for singletons of 4096 attributes, found demorgan")
}
