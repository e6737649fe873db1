package kernelalign

import (
	"errors"
	"math"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// Each kernel recognises unseen classes.
func TestLearnsTheToy(t *testing.T) {
	y := newToy(20, 0.2)
	for name, c := range map[string]Config{
		"linear":           {Kernel: Linear, Batch: 16},
		"linear, held":     {Kernel: Linear, Batch: 16, Orthogonality: 1e-3},
		"polynomial":       {Kernel: Polynomial, Batch: 16},
		"gaussian":         {Kernel: Gaussian, Batch: 16},
		"gaussian, ort":    {Kernel: Gaussian, Batch: 16, Ort: true},
		"cauchy":           {Kernel: Cauchy, Batch: 16},
		"cauchy, ort":      {Kernel: Cauchy, Batch: 16, Ort: true},
		"one big batch":    {Kernel: Gaussian, Batch: 1 << 40, Ort: true},
		"sample by sample": {Kernel: Gaussian, Batch: 1, Ort: true},
	} {
		d := *New()
		c.Sigma, c.Degree, c.Offset, c.Beta, c.LR, c.Normalise = d.Sigma, d.Degree, d.Offset, d.Beta, d.LR, d.Normalise
		l := learn(t, c, y.seen, 1)
		losses := train(t, l, 1, 40)
		if first, last := losses[0], losses[len(losses)-1]; !(last < 0.9*first) {
			t.Errorf("%s: the loss goes from %g to %g", name, first, last)
		}
		if got := y.accuracy(t, l.Model()); got < 0.9 {
			t.Errorf("%s: %.3f of the samples of unseen classes are recognised", name, got)
		}
	}
}

// The last batch of an epoch has fewer samples; the loss is the mean of samples, not
// of batches.
func TestLossIsTheMeanOfSamples(t *testing.T) {
	y := newToy(3, 0.2) // 33 samples of seen classes
	c := *New()
	c.LR = 1e-30
	c.Batch = 32
	parts := train(t, learn(t, c, y.seen, 1), 1, 1)[0]
	c.Batch = 33
	if whole := train(t, learn(t, c, y.seen, 1), 1, 1)[0]; math.Abs(parts-whole) > 1e-6 {
		t.Errorf("%g in batches of 32, %g in one", parts, whole)
	}
}

func TestNotFinite(t *testing.T) {
	y := newToy(2, 0.2)
	bad := y.seen
	bad.X = dataset.NewMatrix[float32](y.seen.X.Rows, y.seen.X.Cols)
	copy(bad.X.Data, y.seen.X.Data)
	bad.X.Row(bad.Rows[0])[1] = float32(math.NaN())
	far := *New()
	far.Kernel, far.Degree, far.LR, far.Batch = Polynomial, 4, 1e3, 8
	once := *New()
	once.LR, once.Batch = 1e300, 1000 // infinite in single precision, in the only step
	for name, c := range map[string]struct {
		config Config
		bad    bool
		term   string
	}{
		"features":      {*New(), true, "alignment"},
		"far steps":     {far, false, "squares"},
		"the last step": {once, false, "W"},
	} {
		e := y.seen
		if c.bad {
			e = bad
		}
		l := learn(t, c.config, e, 1)
		var err error
		for epoch := 1; epoch <= 3 && err == nil; epoch++ {
			_, err = l.Epoch(epoch)
		}
		var out *model.NotFinite
		if !errors.As(err, &out) || out.Term != c.term {
			t.Errorf("%s: %v, expected %s not to be finite", name, err, c.term)
		}
	}
}

// By hand, with lr 1: the mean of squares is 0.01 0.1^2 = 1e-4 and the step 0.1/(0.01 +
// 0.01); then it is 1.99e-4 after the same gradient again.
func TestRMSProp(t *testing.T) {
	const n = 3*rmspropGrain + 5 // more than one goroutine's
	w, grad, squares := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range grad {
		grad[i] = 0.1
	}
	for _, want := range []float64{-5, -5 - 0.1/(math.Sqrt(1.99e-4)+0.01)} {
		rmsprop(w, grad, squares, 1)
		for i, v := range w {
			if math.Abs(float64(v)-want) > 1e-5 {
				t.Fatalf("weight %d is %g, expected %g", i, v, want)
			}
		}
	}
}
