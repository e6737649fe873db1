package train

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// BenchmarkStep times one step of W and of V, each including the copying of the batch and
// Adam, on random data of the size of the paper's data sets.
func BenchmarkStep(b *testing.B) {
	for _, size := range []struct {
		name                                 string
		classes, attributes, groups, samples int
	}{
		{"cub127", 64, 312, 28, 1024},
		{"cub", 100, 312, 28, 1024},
		{"awa2", 27, 85, 11, 1024},
		{"sun", 580, 102, 4, 1024},
	} {
		for _, variant := range model.Variants {
			b.Run(fmt.Sprintf("%s/%s", size.name, variant), func(b *testing.B) {
				t := benchTrainer(b, variant, size.classes, size.attributes, size.groups, size.samples)
				b.Run("W", func(b *testing.B) { benchPhase(b, func() (Phase, error) { return t.phaseW(1) }) })
				if t.v != nil {
					b.Run("V", func(b *testing.B) { benchPhase(b, func() (Phase, error) { return t.phaseV(1) }) })
				}
			})
		}
	}
}

// benchPhase runs whole epochs and reports the time per step.
func benchPhase(b *testing.B, phase func() (Phase, error)) {
	b.ReportAllocs()
	var steps int
	var seconds float64
	for b.Loop() {
		p, err := phase()
		if err != nil {
			b.Fatal(err)
		}
		steps += p.Steps
		seconds += p.Seconds
	}
	b.ReportMetric(1e3*seconds/float64(steps), "ms/step")
}

func benchTrainer(b *testing.B, variant model.Variant, classes, attributes, groups, samples int) *lagoTrainer {
	rng := rand.New(rand.NewPCG(1, 1))
	x := dataset.NewMatrix[float32](samples, 2048)
	for i := range x.Data {
		x.Data[i] = max(rng.Float32()-0.5, 0)
	}
	u := dataset.NewMatrix[float64](classes, attributes)
	for i := range u.Data {
		u.Data[i] = rng.Float64()
	}
	semantic := make([]int, attributes)
	for i := range semantic {
		semantic[i] = i * groups / attributes
	}
	s := Samples{X: x, Rows: x.AllRows(), Labels: make([]int, samples)}
	for i := range s.Labels {
		s.Labels[i] = i % classes
	}
	c := model.Config{Variant: variant, Prior: model.Uniform, Complement: model.Const, Zeta: 3, K: 30, Beta: 1e-6, Lambda: 1e-4}
	t, err := newLAGOTrainer(c, Training{Epochs: 1, LearningRate: 1e-4, BiasFactor: 1, LearningRateV: 0.1, Batch: 64, Patience: 50, Seed: 1},
		task{train: s, trainClasses: u, groups: semantic})
	if err != nil {
		b.Fatal(err)
	}
	return t
}
