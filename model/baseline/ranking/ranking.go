// Package ranking has the three methods that learn a bilinear compatibility
//
//	F(x, z) = x' W u_z
//
// by ranking the class y of a sample above the other classes. They differ only in the loss of a sample, with
// the hinges h_z = max(0, margin + F(x, z) - F(x, y)) of the other classes z, of which r are above 0:
//
//	DeViSE   the sum of the h_z
//	ALE      l_r / r times that sum, where l_r = 1 + 1/2 + ... + 1/r
//	SJE      the largest h_z
//
// ALE is that of Akata, Perronnin, Harchaoui and Schmid, "Label-Embedding for Image Classification" (TPAMI
// 2016, section 3.2), SJE of Akata, Reed, Walter, Lee and Schiele, "Evaluation of Output Embeddings for
// Fine-Grained Image Classification" (CVPR 2015, section 3), and DeViSE of Frome et al., "DeViSE: A Deep
// Visual-Semantic Embedding Model" (NIPS 2013, equation 1), of which only the map is learned, on fixed
// features.
//
// The authors sample terms of these losses; here all terms are summed, as in Xian, Lampert, Schiele and Akata
// ("Zero-Shot Learning - A Comprehensive Evaluation of the Good, the Bad and the Ugly", TPAMI 2018, section
// 3.1), the source of the numbers in the LAGO paper. W is learned by stochastic gradient descent with a
// constant learning rate, one sample at a time, without a regulariser: early stopping regularises.
package ranking

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Loss names a method by the loss of a sample: see the package comment.
type Loss string

const (
	ALE    Loss = "ale"
	SJE    Loss = "sje"
	DeViSE Loss = "devise"
)

// Settings is one of the methods with its settings.
type Settings struct {
	Loss   Loss    `json:"-"`      // which of the methods it is
	LR     float64 `json:"lr"`     // learning rate
	Margin float64 `json:"margin"` // by which a class must score above the others
	// W is initialised normal, with a standard deviation of init / sqrt(D)
	Init      float64  `json:"init"`
	Normalise bool     `json:"normalise"` // scale descriptions to length 1
	Features  Features `json:"features"`
}

// New returns one of the methods.
func New(l Loss) *Settings { return &Settings{Loss: l} }

// Features is the normalisation of the features.
type Features string

const (
	None        Features = "none"        // no normalisation
	Unit        Features = "unit"        // samples scaled to length 1
	Standardise Features = "standardize" // mean 0 and variance 1/D in each dimension, a length of about 1
)

// Settings implements method.Method. The margin is the 0/1 loss of Akata et al. and Xian et al.; Frome et al.
// use 0.1. W is initialised, and features are standardised, as in the program that Xian et al. released for
// LatEm (CVPR 2016), which is SJE with several W. Descriptions have length 1 in their data sets.
//
// The searched values include those that others report for CUB with the features of Xian et al.
// (github.com/mvp18/Popular-ZSL-Algorithms): a learning rate of 0.3 for ALE and of 1 for DeViSE, with
// features of length 1, and of 0.1 with a margin of 4 and standardised features for SJE. The margin is not
// searched: except for the initial W it is a scale, and half the margin equals twice the learning rate.
func (c *Settings) Settings() setting.List {
	rates := []float64{0.01, 0.03, 0.1, 0.3, 1, 3}
	if c.Loss == DeViSE { // whose steps are sums over many classes
		rates = []float64{0.003, 0.01, 0.03, 0.1, 0.3, 1}
	}
	return setting.List{
		setting.Number("lr", &c.LR, 0.1, setting.BoundedPositive).Describe("`RATE` learning rate").
			Try(setting.All(rates...)...),
		setting.Number("margin", &c.Margin, 1, setting.BoundedPositive).
			Describe("`MARGIN` by which a class must score above the others"),
		setting.Number("init", &c.Init, 1, setting.BoundedWeight).
			Describe("`S` standard deviation of the initial W, times the square root of the dimensions"),
		setting.Switch("normalise", &c.Normalise, true).Describe("scale descriptions to length 1"),
		setting.Choice("features", &c.Features, Standardise, None, Unit, Standardise).
			Describe("normalisation of the features").Try(string(Unit), string(Standardise)),
	}
}

// newModel returns a model with what is subtracted from its standardised features, and their factors.
func newModel(c Settings, r *method.Reader, s method.Shape) (m *baseline.Model, shift, scale []float32) {
	m = baseline.NewBilinear(r, s, c.Normalise)
	switch c.Features {
	case Unit:
		m.Gather = baseline.CopyUnitRows
	case Standardise:
		shift, scale = r.Get("shift", 1, s.Dims).Data, r.Get("scale", 1, s.Dims).Data
		m.Gather = func(to, x dataset.Matrix[float32], rows []int) {
			for i, sample := range rows {
				row := to.Row(i)
				for d, v := range x.Row(sample) {
					row[d] = (v - shift[d]) * scale[d]
				}
			}
		}
	}
	return m, shift, scale
}

func (c *Settings) Restore(r *method.Reader, s method.Shape) (method.Model, error) {
	m, _, _ := newModel(*c, r, s)
	return m, r.Err
}

type standardKey struct{}

// standardise sets shift and scale to those of the examples, fitted once for all that share a cache.
func standardise(shift, scale []float32, e method.Examples) error {
	fit, err := method.Cached(e.Cache, standardKey{}, func() (*preprocess.Transform, error) {
		return preprocess.Fit(preprocess.Standardise, 0, e.X, e.Rows)
	})
	if err != nil {
		return err
	}
	copy(shift, fit.Shift)
	for d, v := range fit.Scale {
		scale[d] = v / float32(math.Sqrt(float64(e.X.Cols)))
	}
	return nil
}

// Learn implements method.Method. The seed determines the initial W and the order of the samples. The loss of
// an example is the loss before its step; if all are 0, W does not change and training has converged.
func (c *Settings) Learn(e method.Examples, seed uint64) (method.Learner, error) {
	u, err := baseline.Describe(e.U, nil, c.Normalise)
	if err != nil {
		return nil, err
	}
	m, shift, scale := newModel(*c, &method.Reader{New: true}, e.Shape())
	if c.Features == Standardise {
		if err := standardise(shift, scale, e); err != nil {
			return nil, err
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0)) // epochs count from 1
	for i := range m.W.Data {
		m.W.Data[i] = float32(rng.NormFloat64() * c.Init / math.Sqrt(float64(e.X.Cols)))
	}
	steps := blockSteps(c, e.X, m, dataset.Convert[float32](u))
	return baseline.Descend(m, method.Tensors{{Name: "W", Matrix: m.W}}, e, seed, blockSize, steps), nil
}

// lossFunc returns the loss of a sample of class y with the scores F(x, z) of all classes. It writes minus
// the derivative by each score into step, which is a subgradient at the kinks of the loss and sums to 0.
type lossFunc[T model.Float] func(scores []T, y int, margin T, step []T) (loss float64)

func lossOf[T model.Float](l Loss) lossFunc[T] {
	return map[Loss]lossFunc[T]{ALE: weightedRanking[T], SJE: structuredHinge[T], DeViSE: pairwiseHinge[T]}[l]
}

// pairwiseHinge is the loss of DeViSE.
func pairwiseHinge[T model.Float](scores []T, y int, margin T, step []T) (loss float64) {
	loss, rank := violations(scores, y, margin, step)
	step[y] = T(rank)
	return loss
}

// weightedRanking is the loss of ALE, the weighted approximate ranking of Usunier et al. (2009): the top of
// the ranking weighs most. The weight is constant between kinks. The authors' program estimates r by the
// number of classes drawn until one has a loss (WSABIE, Weston et al. 2011).
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
	worst, violator := T(0), y
	for z, s := range scores {
		if hinge := margin + s - scores[y]; hinge > worst && z != y {
			worst, violator = hinge, z
		}
	}
	if violator != y {
		step[violator], step[y] = -1, 1
	}
	return float64(worst)
}

// blockSize is the number of samples in a block.
const blockSize = 64

// blockSteps takes the SGD steps of a block of consecutive samples with two passes over W,
// where one step at a time needs two per sample.
//
// The step of sample j is W += lr x_j' c_j U, where c_j is minus the gradient of its loss
// by the scores of the Z classes. So sample i of the block scores
//
//	x_i W U' + lr sum over j < i of (x_i x_j') (c_j U U'),
//
// with the W before the block. The first term, the x_i x_j' and finally W += lr X' (C U)
// are matrix products for the whole block; in between, steps only involve the classes.
func blockSteps(c *Settings, features dataset.Matrix[float32], m *baseline.Model,
	u dataset.Matrix[float32],
) baseline.Step {
	lossOfSample, lr, margin := lossOf[float32](c.Loss), float32(c.LR), float32(c.Margin)
	classes, uu := u.Rows, matrix.Product(u, u.T())
	impl := blas32.Implementation()
	return func(rows, labels []int) (loss float64, moved bool, err error) {
		n := len(rows)
		x := matrix.New[float32](n, m.W.Rows)
		m.Gather(x, features, rows)
		scores := matrix.Product(matrix.Product(x, m.W), u.T())
		xx := matrix.Product(x, x.T())
		steps, moves := matrix.New[float32](n, classes), matrix.New[float32](n, classes) // C and C U U'
		for i, y := range labels {
			row, step, move := scores.Row(i), steps.Row(i), moves.Row(i)
			if i > 0 {
				impl.Sgemv(blas.Trans, i, classes, lr, moves.Data, classes, xx.Row(i), 1, 1, row, 1)
			}
			if z := matrix.NotFinite(row); z >= 0 {
				return 0, false, &model.NotFinite{Term: "W", Value: float64(row[z])}
			}
			loss += lossOfSample(row, y, margin, step)
			for z, v := range step {
				if v != 0 {
					impl.Saxpy(classes, v, uu.Row(z), 1, move, 1)
					moved = true
				}
			}
		}
		if moved {
			matrix.AddMul(m.W, x.T().Times(lr), matrix.Product(steps, u))
		}
		return loss, moved, nil
	}
}
