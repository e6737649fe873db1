// Package kernelalign is kernel alignment (Zhang and Koniusz, "Zero-Shot Kernel Learning",
// CVPR 2018). It learns a projection W (D x M) by which a kernel k is 1 between a sample
// and its class and 0 between the sample and the other classes:
//
//	min over W of  mean over samples x, of class c, of
//	  (k(W'x, y_c) - 1)^2 + beta / (Z - 1) sum over z != c of k(W'x, y_z)^2    (1)
//	  + (1) with k(x, W y_z) in place of k(W'x, y_z)                           (2)
//	  + orthogonality |W'W - I|^2                                              (3)
//
// Features x are centred on the mean of the training samples and scaled to length 1.
// Descriptions y are centred on the mean of the training classes and scaled to length 1.
//
// Term (2), the setting ort, is the authors' soft constraint on W: |x - W y|^2 differs
// from |W'x - y|^2 by |x|^2 - |W'x|^2, which is the same for all classes, and by
// |W y|^2 - |y|^2, which is 0 if the columns of W are orthonormal. Kernels of the inner
// product x'W y are the same in both spaces, and (2) has no effect.
//
// The sources are the paper's abstract, which names the principle, the orthogonality and
// the polynomial, Gaussian and Cauchy kernels, and the authors' released program, which
// has the Gaussian kernel with (2). The objective, the normalisation of features and
// descriptions, RMSProp with its constants, the initial W and the ranking of the classes
// follow that program. Ours are:
//
//   - the constants of the other kernels, chosen so that each is 1 between equal vectors
//     of length 1;
//   - the penalty (3), for the kernels on which (2) has no effect;
//   - minibatches, where the program takes one sample per step;
//   - the mean of the descriptions over training classes only, where the program includes
//     the test classes.
package kernelalign

import (
	"math"
	"math/rand/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/numeric"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/method"
)

// Config is kernel alignment with its settings.
type Config struct {
	Kernel Kernel  `json:"kernel"`
	Sigma  float64 `json:"sigma"`  // width of the Gaussian and the Cauchy kernel
	Degree int     `json:"degree"` // of the polynomial kernel
	Offset float64 `json:"offset"` // of the polynomial kernel

	Beta          float64 `json:"beta"`          // weight of the other classes
	Ort           bool    `json:"ort"`           // align in the space of the features, too
	Orthogonality float64 `json:"orthogonality"` // weight of |W'W - I|^2

	LR        float64 `json:"lr"`        // learning rate
	Batch     int     `json:"batch"`     // samples per step
	Normalise bool    `json:"normalise"` // centre descriptions and scale them to length 1
}

// New returns kernel alignment with its defaults.
func New() *Config { return baseline.New(new(Config)) }

// Settings implements method.Method. The defaults of the kernel, beta and sigma are those of
// the authors' program. Its learning rate, 8e-4, is for steps of one sample; ours is for the
// mean of 64. The search covers all kernels, and sigma and beta around the values of the
// authors' program. The ranges of the learning rate, the degree and the penalty are ours,
// chosen on the validation classes of cub127.
func (c *Config) Settings() setting.List {
	distance, polynomial := c.kernel().distance, c.Kernel == Polynomial
	const ofDistance, ofPolynomial = "the gaussian and cauchy kernels", "the polynomial kernel"
	return setting.List{
		setting.Choice("kernel", &c.Kernel, Gaussian, Linear, Polynomial, Gaussian, Cauchy).
			Describe("similarity of a sample and a class").Try(string(Linear), string(Polynomial), string(Gaussian), string(Cauchy)),
		setting.Number("sigma", &c.Sigma, 0.8, setting.BoundedPositive).
			Describe("`S` width of the kernel").If(distance, ofDistance).Try(0.5, 0.65, 0.8, 1, 1.3),
		setting.Whole("degree", &c.Degree, 2, setting.AtLeast(1)).
			Describe("`N` degree of the kernel").If(polynomial, ofPolynomial).Try(2, 3),
		setting.Number("offset", &c.Offset, 1, setting.BoundedWeight).
			Describe("`O` constant added to the inner product").If(polynomial, ofPolynomial),
		setting.Number("beta", &c.Beta, 1, setting.BoundedWeight).
			Describe("`WEIGHT` of the other classes in the loss").Try(0.3, 1, 3),
		setting.Switch("ort", &c.Ort, true).
			Describe("align in the space of the features, too").If(distance, ofDistance).Try(false, true),
		setting.Number("orthogonality", &c.Orthogonality, 0, setting.BoundedWeight).
			Describe("`WEIGHT` of |W'W - I|^2").Try(0, 1e-3),
		setting.Number("lr", &c.LR, 1e-2, setting.BoundedPositive).
			Describe("`RATE` learning rate").Try(3e-3, 1e-2, 3e-2, 1e-1),
		setting.Whole("batch", &c.Batch, 64, setting.AtLeast(1)).Describe("`N` samples per step"),
		setting.Switch("normalise", &c.Normalise, true).Describe("centre descriptions and scale them to length 1"),
	}
}

// Restore implements method.Method.
func (c *Config) Restore(t method.Tensors, s method.Shape) (method.Model, error) {
	r := &method.Reader{Tensors: t}
	m := &Model{config: *c, w: r.Get("W", s.Dims, s.Attributes)}
	m.mean, m.centre = r.Get("mean", 1, s.Dims), r.Get("centre", 1, s.Attributes)
	return m, r.Err
}

// Learn implements method.Method. The seed determines the initial W and the order of the
// samples. Training never converges by itself.
func (c *Config) Learn(e method.Examples, seed uint64) (method.Learner, error) {
	m, err := newModel(*c, e)
	if err != nil {
		return nil, err
	}
	y, err := m.descriptions(e.U)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 0)) // epochs count from 1
	for i := range m.w.Data {
		m.w.Data[i] = rng.Float32() * 2 / float32(e.X.Cols) // as in the authors' program
	}
	batch := min(c.Batch, len(e.Rows))
	l := &learner{
		x: e.X, model: m, objective: newObjective(*c, y, e.X.Cols, batch),
		batch: dataset.NewMatrix[float32](batch, e.X.Cols),
		grad:  dataset.NewMatrix[float32](m.w.Rows, m.w.Cols), squares: dataset.NewMatrix[float32](m.w.Rows, m.w.Cols),
	}
	state := method.Tensors{{Name: "W", Matrix: m.w}, {Name: "squares", Matrix: l.squares}}
	return &baseline.Descent{Examples: e, Seed: seed, Block: batch, Trained: m, Tensors: state, Step: l.step}, nil
}

type learner struct {
	x         dataset.Matrix[float32] // the features
	model     *Model
	objective *objective[float32]
	batch     dataset.Matrix[float32] // samples x D
	grad      dataset.Matrix[float32] // D x M
	squares   dataset.Matrix[float32] // D x M, of RMSProp, which does not move where they are infinite
}

// step takes a step with a batch. The loss of a sample is the objective of its batch before.
func (l *learner) step(rows, labels []int) (loss float64, moved bool, err error) {
	x := l.batch.Slice(0, len(rows))
	l.model.features(x, l.x, rows)
	mean := l.objective.step(x, labels, l.model.w, l.grad)
	if !numeric.Finite(mean) {
		return 0, false, &model.NotFinite{Term: "alignment", Value: mean}
	}
	rmsprop(l.model.w.Data, l.grad.Data, l.squares.Data, float32(l.model.config.LR))
	return float64(len(rows)) * mean, true, nil
}

// The constants of RMSProp in the authors' program. With features and descriptions of
// length 1, gradients are far below epsilon, and a step is close to gradient descent with
// a learning rate of lr / epsilon.
const (
	decay   = 0.99
	epsilon = 1e-2
)

// rmspropGrain is the least number of parameters for a goroutine.
const rmspropGrain = 1 << 14

// rmsprop takes a step of w. squares is the moving average of the squared gradient.
func rmsprop(w, grad, squares []float32, lr float32) {
	parallel.For(len(w), rmspropGrain, func(lo, hi int) {
		w, grad, squares := w[lo:hi], grad[lo:hi], squares[lo:hi]
		for i, g := range grad {
			squares[i] = decay*squares[i] + (1-decay)*g*g
			w[i] -= lr * g / (float32(math.Sqrt(float64(squares[i]))) + epsilon)
		}
	})
}
