package ranking

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"

	"github.com/lago-train/lago-train/internal/finite"
)

// Config has the hyperparameters of a method.
type Config struct {
	Loss      Loss              `json:"loss"`
	LR        float64           `json:"lr"`        // learning rate
	Margin    float64           `json:"margin"`    // by which a class must score above the others
	Init      float64           `json:"init"`      // W is initialised normal, with a standard deviation of init / sqrt(D)
	Normalise bool              `json:"normalise"` // scale descriptions to length 1
	Features  baseline.Features `json:"features"`
}

// Default returns the values in the middle of the search space. The margin is the 0/1
// loss of Akata et al. and Xian et al.; Frome et al. use 0.1. W is initialised, and
// features are standardised, as in the program that Xian et al. released for LatEm (CVPR
// 2016), which is SJE with several W. Descriptions have length 1 in their data sets.
func Default(l Loss) Config {
	return Config{Loss: l, LR: 0.1, Margin: 1, Init: 1, Normalise: true, Features: baseline.Standardize}
}

// Settings implements baseline.Hyperparameters. The searched values include those that
// others report for CUB with the features of Xian et al. (github.com/mvp18/
// Popular-ZSL-Algorithms): a learning rate of 0.3 for ALE and of 1 for DeViSE, with
// features of length 1, and of 0.1 with a margin of 4 and standardised features for SJE.
// The margin is not searched: except for the initial W it is a scale, and half the margin
// equals twice the learning rate.
func (c Config) Settings() []baseline.Setting {
	rates := []float64{0.01, 0.03, 0.1, 0.3, 1}
	if c.Loss == DeViSE { // whose steps are sums over many classes
		rates = []float64{0.003, 0.01, 0.03, 0.1, 0.3, 1}
	}
	return []baseline.Setting{
		baseline.OneOf("loss", c.Loss, []Loss{ALE, SJE, DeViSE}).AsMethod(),
		baseline.Positive("lr", c.LR, rates...),
		baseline.Positive("margin", c.Margin),
		baseline.NonNegative("init", c.Init),
		baseline.Switch("normalise"),
		baseline.OneOf("features", c.Features, []baseline.Features{baseline.None, baseline.Unit, baseline.Standardize}, baseline.Unit, baseline.Standardize),
	}
}

// Restore implements baseline.Hyperparameters.
func (c Config) Restore(t baseline.Tensors) (baseline.Model, error) {
	return baseline.RestoreBilinear(t, c.Normalise, c.Features)
}

// Learn implements baseline.Hyperparameters. The seed determines the initial W and the
// order of the samples.
func (c Config) Learn(e baseline.Examples, seed uint64) (baseline.Learner, error) {
	u, err := baseline.Describe(e.U, c.Normalise)
	if err != nil {
		return nil, err
	}
	m := &baseline.Bilinear{W: dataset.NewMatrix[float32](e.X.Cols, u.Cols), Normalise: c.Normalise}
	if err := m.Fit(c.Features, e); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 0)) // epochs count from 1
	for i := range m.W.Data {
		m.W.Data[i] = float32(rng.NormFloat64() * c.Init / math.Sqrt(float64(e.X.Cols)))
	}
	return &learner{e, seed, m, newBlock(c, m, dataset.Convert[float32](u), min(blockSize, len(e.Rows)))}, nil
}

type learner struct {
	examples baseline.Examples
	seed     uint64
	model    *baseline.Bilinear
	block    *block
}

// Epoch implements baseline.Learner. The loss of an example is the loss before its step;
// if all are 0, W does not change and training has converged.
func (l *learner) Epoch(epoch int) (loss float64, converged bool, err error) {
	converged = true
	order := baseline.Shuffled(len(l.examples.Rows), l.seed, epoch)
	for part := range slices.Chunk(order, blockSize) {
		sum, moved, err := l.block.learn(l.examples, part)
		if err != nil {
			return 0, false, err
		}
		loss += sum
		converged = converged && !moved
	}
	if i := finite.Index(l.model.W.Data); i >= 0 {
		return 0, false, &model.NotFinite{Term: "W", Value: float64(l.model.W.Data[i])}
	}
	return loss / float64(len(order)), converged, nil
}

// Model implements baseline.Learner.
func (l *learner) Model() baseline.Model { return l.model }

// State implements baseline.Learner: epochs pass on nothing but W.
func (l *learner) State() baseline.Tensors { return baseline.Tensors{{Name: "W", Matrix: l.model.W}} }

// Loss names a method by the loss of a sample: see the package comment.
type Loss string

// The methods.
const (
	ALE    Loss = "ale"
	SJE    Loss = "sje"
	DeViSE Loss = "devise"
)

// lossFunc returns the loss of a sample of class y with the scores F(x, z) of all
// classes. It writes minus the derivative by each score into step, which is a subgradient
// at the kinks of the loss and sums to 0.
type lossFunc[T model.Float] func(scores []T, y int, margin T, step []T) (loss float64)

func lossOf[T model.Float](l Loss) lossFunc[T] {
	return map[Loss]lossFunc[T]{ALE: weightedRanking[T], SJE: structuredHinge[T], DeViSE: pairwiseHinge[T]}[l]
}

// pairwiseHinge is the loss of DeViSE. The authors visit the other classes in random
// order and stop at the first with a loss, for speed.
func pairwiseHinge[T model.Float](scores []T, y int, margin T, step []T) (loss float64) {
	loss, rank := violations(scores, y, margin, step)
	step[y] = T(rank)
	return loss
}

// weightedRanking is the loss of ALE, the weighted approximate ranking of Usunier et al.
// (2009): the top of the ranking weighs most. The weight is constant between kinks. The
// authors' program samples other classes until one has a loss and estimates r by the
// number of draws (WSABIE, Weston et al. 2011), a step with the same expectation if the
// estimate is right.
func weightedRanking[T model.Float](scores []T, y int, margin T, step []T) (loss float64) {
	loss, rank := violations(scores, y, margin, step)
	if rank == 0 {
		return 0
	}
	var l float64
	for i := range rank {
		l += 1 / float64(i+1)
	}
	w := l / float64(rank)
	for z, s := range step {
		step[z] = T(w) * s
	}
	step[y] = T(l)
	return w * loss
}

// violations returns the sum of the hinges of the classes other than y, and how many of
// them are above 0; it writes -1 into the steps of these and 0 into the others.
func violations[T model.Float](scores []T, y int, margin T, step []T) (sum float64, rank int) {
	for z, s := range scores {
		step[z] = 0
		if hinge := margin + s - scores[y]; hinge > 0 && z != y {
			step[z] = -1
			sum += float64(hinge)
			rank++
		}
	}
	return sum, rank
}

// structuredHinge is the loss of SJE, that of the structured support vector machine.
func structuredHinge[T model.Float](scores []T, y int, margin T, step []T) (loss float64) {
	clear(step)
	worst, of := T(0), y
	for z, s := range scores {
		if hinge := margin + s - scores[y]; hinge > worst && z != y {
			worst, of = hinge, z
		}
	}
	if of != y {
		step[of], step[y] = -1, 1
	}
	return float64(worst)
}
