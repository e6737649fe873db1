package ranking

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
)

// examples are samples that say something of their classes, above zero as the units
// of a network are, in rows of no order.
func examples(samples, dims, attributes, classes int, seed uint64) baseline.Examples {
	rng := rand.New(rand.NewPCG(seed, 9))
	e := baseline.Examples{
		X: dataset.NewMatrix[float32](samples+3, dims),
		U: dataset.NewMatrix[float64](classes, attributes),
	}
	for i := range e.U.Data {
		e.U.Data[i] = rng.Float64()
	}
	e.Rows = rng.Perm(samples + 3)[:samples]
	for _, r := range e.Rows {
		z := rng.IntN(classes)
		e.Labels = append(e.Labels, z)
		for d := range dims {
			e.X.Row(r)[d] = float32(math.Abs(rng.NormFloat64() + 2*e.U.Row(z)[d%attributes]))
		}
	}
	return e
}

func newLearner(t testing.TB, c Config, e baseline.Examples, seed uint64) baseline.Learner {
	t.Helper()
	l, err := c.Learn(e, seed)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func epoch(t testing.TB, l baseline.Learner, number int) (loss float64, done bool) {
	t.Helper()
	loss, done, err := l.Epoch(number)
	if err != nil {
		t.Fatal(err)
	}
	return loss, done
}

func weights(l baseline.Learner) []float32 { return l.State()[0].Matrix.Data }

var names = []Loss{ALE, SJE, DeViSE}
