package dap

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// Each attribute is alone in its group, descriptions of 0 and 1, the prior of each
// attribute and De Morgan's complement make LAGO DAP (supplement D.4 of the LAGO paper):
//
//	a_m^z p(a_m|x) / p(a_m)  +  (1 - a_m^z) (1 - p(a_m|x)) / (1 - p(a_m))
//
// is one of the factors of DAP. Both get the same p(a_m|x) and the training classes of
// DAP, so that p(a_m) is the same.
func TestLAGOOfSingletonsIsDAP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 7)
		samples, attributes, classes := size.Draw(t, "samples"), size.Draw(t, "attributes"), size.Draw(t, "classes")
		e := examples(samples+classes, 2, attributes, classes, rapid.Uint64().Draw(t, "seed"))
		for i := range e.U.Data { // sometimes all or no classes have an attribute
			e.U.Data[i] = rapid.SampledFrom([]float64{0, 1}).Draw(t, "u")
		}
		p := dataset.NewMatrix[float64](samples, attributes)
		odds := dataset.NewMatrix[float32](samples, attributes)
		for i := range p.Data {
			odds.Data[i] = float32(rapid.Float64Range(-8, 8).Draw(t, "log odds"))
			p.Data[i] = 1 / (1 + math.Exp(-float64(odds.Data[i])))
		}

		c := Config{Prediction: Direct, C: 1, Threshold: AttributeMean, Prior: Empirical}
		l, err := c.Learn(e, 1) // thresholds and priors are known from the start
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Model().Classify(odds, e.U)
		if err != nil {
			t.Fatal(err)
		}
		baselinetest.Near(t, "log p(z|x)", 1e-5, baselinetest.Floats(got.Data), singletons(t, p, e.U))
	})
}

// singletons returns log p(z|x) of LAGO in float64, where Gamma is exactly the identity.
func singletons(t rapid.TB, p, u dataset.Matrix[float64]) []float64 {
	t.Helper()
	c := model.Config{Variant: model.Singletons, Prior: model.PerAttribute, Complement: model.DeMorgan, Zeta: 1000}
	classes, err := c.Describe(u, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := dataset.NewMatrix[float64](p.Cols, p.Cols)
	for m := range p.Cols {
		v.Row(m)[m] = 1
	}
	f, err := model.NewForward(c, classes, &model.Parameters[float64]{V: v})
	if err != nil {
		t.Fatal(err)
	}
	logP := dataset.NewMatrix[float64](p.Rows, u.Rows)
	if err := f.LogP(p, logP); err != nil {
		t.Fatal(err)
	}
	return logP.Data
}
