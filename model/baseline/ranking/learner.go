package ranking

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/bilinear"
)

// Learn implements baseline.Settings. The seed draws the start of W and the order of the
// samples.
func (c Config) Learn(e baseline.Examples, seed uint64) (baseline.Learner, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := e.Check(); err != nil {
		return nil, err
	}
	u, err := bilinear.Describe(e.U, c.Normalise)
	if err != nil {
		return nil, err
	}
	m := &bilinear.Model{W: dataset.NewMatrix[float32](e.X.Cols, u.Cols), Normalise: c.Normalise}
	if err := m.Fit(c.Features, e); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 0)) // epochs count from 1
	for i := range m.W.Data {
		m.W.Data[i] = float32(rng.NormFloat64() * c.Init / math.Sqrt(float64(e.X.Cols)))
	}
	return &learner{e, seed, m, newBlock(c, m, u, min(blockSize, len(e.Rows)))}, nil
}

type learner struct {
	examples baseline.Examples
	seed     uint64
	model    *bilinear.Model
	block    *block
}

// Epoch implements baseline.Learner. The loss of an example is the one that it had when
// its turn came; where none had any, W is left as it is, and done.
func (l *learner) Epoch(epoch int) (loss float64, done bool, err error) {
	done = true
	order := baseline.Shuffled(len(l.examples.Rows), l.seed, epoch)
	for part := range slices.Chunk(order, blockSize) {
		sum, moved, err := l.block.learn(l.examples, part)
		if err != nil {
			return 0, false, err
		}
		loss += sum
		done = done && !moved
	}
	if i := slices.IndexFunc(l.model.W.Data, notFinite); i >= 0 {
		return 0, false, &model.NotFinite{Term: "W", Value: float64(l.model.W.Data[i])}
	}
	return loss / float64(len(order)), done, nil
}

func notFinite(v float32) bool { return v-v != 0 }

// Model implements baseline.Learner.
func (l *learner) Model() baseline.Model { return l.model }

// State implements baseline.Learner: nothing but W goes from one epoch to the next.
func (l *learner) State() baseline.Tensors { return baseline.Tensors{{Name: "W", Matrix: l.model.W}} }
