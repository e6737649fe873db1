// Package kernelalign is kernel alignment (Zhang and Koniusz, "Zero-Shot Kernel Learning",
// CVPR 2018). It learns a projection W (D x M) by which a kernel k is 1 between a sample
// and its class and 0 between the sample and the other classes:
//
//	min over W of  mean over samples x, of class c, of
//	  (k(W'x, y_c) - 1)^2 + beta / (Z - 1) sum over z != c of k(W'x, y_z)^2    (1)
//	  + (1) with k(x, W y_z) in place of k(W'x, y_z)                           (2)
//	  + orthogonality |W'W - I|^2                                              (3)
//
// Features x are centred on the mean of the training samples, descriptions y on that of the
// training classes, and both are scaled to length 1.
//
// Term (2), the setting ort, is the authors' soft constraint on W: |x - W y|^2 differs from |W'x - y|^2 by
// |x|^2 - |W'x|^2, which is the same for all classes, and by |W y|^2 - |y|^2, which is 0 if the columns of W
// are orthonormal. Kernels of the inner product x'W y are the same in both spaces, and (2) has no effect.
//
// The objective, the normalisation, RMSProp, the initial W and the ranking of the classes are
// those of the authors' program, which has the Gaussian kernel. Ours are the constants of the
// other kernels, the penalty (3) for kernels on which (2) has no effect, minibatches, and the
// mean of the descriptions over training classes only (theirs includes the test classes).
package kernelalign

import (
	"math"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sys/cpu"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/method"
)

// Settings is kernel alignment with its settings.
type Settings struct {
	Kernel        Kernel  `json:"kernel"`
	Sigma         float64 `json:"sigma"`         // width of the Gaussian and the Cauchy kernel
	Degree        int     `json:"degree"`        // of the polynomial kernel
	Beta          float64 `json:"beta"`          // weight of the other classes
	Ort           bool    `json:"ort"`           // align in the space of the features, too
	Orthogonality float64 `json:"orthogonality"` // weight of |W'W - I|^2
	LR            float64 `json:"lr"`            // learning rate
}

// Settings implements method.Method. The defaults of the kernel, beta and sigma are those of
// the authors' program, around which the search tries others. Its learning rate, 8e-4, is for
// steps of one sample; ours is for the mean of a batch. The ranges of the learning rate, the degree
// and the penalty were chosen on the validation classes of cub127.
func (c *Settings) Settings() setting.List {
	const ofDistance = "the gaussian and cauchy kernels"
	distance := c.kernel().distance
	return setting.List{
		setting.Choice("kernel", &c.Kernel, Gaussian, Linear, Polynomial, Gaussian, Cauchy).
			Describe("similarity of a sample and a class").
			Try(string(Linear), string(Polynomial), string(Gaussian), string(Cauchy)),
		setting.Number("sigma", &c.Sigma, 0.8, setting.BoundedPositive).
			Describe("`S` width of the kernel").If(distance, ofDistance).Try(0.5, 0.65, 0.8, 1, 1.3),
		setting.Whole("degree", &c.Degree, 2, setting.Between(1, 100)).
			Describe("`N` degree of the kernel").If(c.Kernel == Polynomial, "the polynomial kernel").
			Try(2, 3),
		setting.Number("beta", &c.Beta, 1, setting.BoundedWeight).
			Describe("`WEIGHT` of the other classes in the loss").Try(0.03, 0.1, 0.3, 1, 3),
		setting.Switch("ort", &c.Ort, true).
			Describe("align in the space of the features, too").If(distance, ofDistance).Try(false, true),
		setting.Number("orthogonality", &c.Orthogonality, 0, setting.BoundedWeight).
			Describe("`WEIGHT` of |W'W - I|^2").Try(0, 1e-3),
		setting.Number("lr", &c.LR, 1e-2, setting.BoundedPositive).
			Describe("`RATE` learning rate").Try(3e-3, 1e-2, 3e-2, 1e-1),
	}
}

func (c *Settings) Restore(r *method.Reader, s method.Shape) (method.Model, error) {
	return newModel(*c, r, s).Model, r.Err
}

// batchSize is the number of samples per step.
const batchSize = 64

// Learn implements method.Method. The seed determines the initial W and the order of the
// samples. Training never converges by itself.
func (c *Settings) Learn(e method.Examples, seed uint64) (method.Learner, error) {
	m := newModel(*c, &method.Reader{New: true}, e.Shape())
	if err := m.normalise(e); err != nil {
		return nil, err
	}
	y, err := m.descriptions(e.U)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 0)) // epochs count from 1
	for i := range m.W.Data {
		m.W.Data[i] = rng.Float32() * 2 / float32(e.X.Cols) // as in the authors' program
	}
	o, rate := newObjective(*c, dataset.Convert[float32](y)), float32(c.LR)
	squares := dataset.NewMatrix[float32](m.W.Rows, m.W.Cols)
	state := method.Tensors{{Name: "W", Matrix: m.W}, {Name: "squares", Matrix: squares}}
	// The loss of a sample is the objective of its batch before the step.
	return baseline.Descend(m.Model, state, e, seed, batchSize,
		func(rows, labels []int) (loss float64, moved bool, err error) {
			x := dataset.NewMatrix[float32](len(rows), e.X.Cols)
			m.features(x, e.X, rows)
			mean, grad := o.step(x, labels, m.W)
			if !matrix.Finite(mean) {
				return 0, false, &model.NotFinite{Term: "alignment", Value: mean}
			}
			rmsprop(m.W.Data, grad.Data, squares.Data, rate)
			return float64(len(rows)) * mean, true, nil
		}), nil
}

// The constants of RMSProp in the authors' program. With features and descriptions of length 1, gradients are
// far below epsilon, and a step is close to gradient descent with a learning rate of lr / epsilon.
const (
	decay        = 0.99
	epsilon      = 1e-2
	rmspropGrain = 1 << 14 // ours: the least number of parameters for a goroutine
)

// rmsprop takes a step of w. squares is the moving average of the squared gradient; where it is
// infinite, w does not move.
func rmsprop(w, grad, squares []float32, lr float32) {
	parallel.For(len(w), rmspropGrain, func(lo, hi int) {
		rmspropRange(w[lo:hi], grad[lo:hi], squares[lo:hi], lr)
	})
}

// rmspropAVX, in rmsprop.s, is rmspropEach for a multiple of 8 elements, 8 at a time, with the same results.
// It does not check the lengths.
//
//go:noescape
func rmspropAVX(w, grad, squares []float32, lr, kept, gain, eps float32)

func rmspropRange(w, grad, squares []float32, lr float32) {
	vectors := 0
	if runtime.GOARCH == "amd64" && cpu.X86.HasAVX {
		vectors = len(w) &^ 7
		rmspropAVX(w[:vectors], grad[:vectors], squares[:vectors], lr, decay, 1-decay, epsilon)
	}
	rmspropEach(w[vectors:], grad[vectors:], squares[vectors:], lr)
}

// rmspropEach rounds each operation: the conversions forbid the compiler to fuse two of them.
func rmspropEach(w, grad, squares []float32, lr float32) {
	for i, g := range grad {
		squares[i] = float32(decay*squares[i]) + float32(float32((1-decay)*g)*g)
		w[i] -= lr * g / (float32(math.Sqrt(float64(squares[i]))) + epsilon)
	}
}

type alignment struct {
	*baseline.Model           // whose detections are W'x
	mean            []float32 // D, of the training samples
	centre          []float32 // M, mean of the training classes
}

func newModel(c Settings, r *method.Reader, s method.Shape) *alignment {
	m := &alignment{Model: &baseline.Model{
		Parameters: r, W: r.Get("W", s.Dims, s.Attributes), Attributes: s.Attributes,
	}}
	m.mean, m.centre = r.Get("mean", 1, s.Dims).Data, r.Get("centre", 1, s.Attributes).Data
	m.Gather, m.Describe = m.features, m.descriptions
	m.Score = func(a dataset.Matrix[float32], y dataset.Matrix[float64]) dataset.Matrix[float32] {
		return c.score(a, dataset.Convert[float32](y), m.W)
	}
	return m
}

func (m *alignment) normalise(e method.Examples) error {
	sum := make([]float64, e.X.Cols)
	for _, r := range e.Rows {
		for d, v := range e.X.Row(r) {
			sum[d] += float64(v)
		}
	}
	for d, v := range sum {
		m.mean[d] = float32(v / float64(len(e.Rows)))
	}
	u, err := baseline.Complete(e.U, nil)
	if err != nil {
		return err
	}
	for a, mean := range dataset.Means(u, 0) {
		m.centre[a] = float32(mean)
	}
	return nil
}

// features writes the given rows of x, centred and scaled to length 1, into the first
// rows of to. A sample equal to the mean becomes zeros.
func (m *alignment) features(to, x dataset.Matrix[float32], rows []int) {
	for i, r := range rows {
		row := to.Row(i)
		for d, v := range x.Row(r) {
			row[d] = v - m.mean[d]
		}
		toUnitLength(row)
	}
}

// descriptions returns u centred and scaled to length 1, in the precision of W. An attribute that no class
// describes is 0, and so does not distinguish the classes.
func (m *alignment) descriptions(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	full, err := baseline.Complete(u, m.centre)
	if err != nil {
		return full, err
	}
	y := dataset.NewMatrix[float32](u.Rows, u.Cols)
	for z := range y.Rows {
		row := y.Row(z)
		for a, p := range full.Row(z) {
			row[a] = float32(p - float64(m.centre[a]))
		}
		toUnitLength(row)
	}
	return dataset.Convert[float64](y), nil
}

// toUnitLength scales a vector to length 1; zeros stay zero.
func toUnitLength(v []float32) {
	if length := float32(math.Sqrt(baseline.SquaredLength(v))); length > 0 {
		for i := range v {
			v[i] /= length
		}
	}
}

// squaredLengths returns those of the rows.
func squaredLengths[T model.Float](m dataset.Matrix[T]) (lengths []float64) {
	for i := range m.Rows {
		lengths = append(lengths, baseline.SquaredLength(m.Row(i)))
	}
	return lengths
}

// score returns k = k(a, y_z) of detections and descriptions. With ort, and k' = k(x, W y_z), it returns
//
//	k (2 - k) + k' (2 - k') = 2 - (1 - k)^2 - (1 - k')^2,
//
// which ranks the classes as the authors' program does; the form on the left is exact
// where both kernels are near 0.
func (c Settings) score(a, y, w dataset.Matrix[float32]) dataset.Matrix[float32] {
	scores := matrix.Product(a, y.T())
	k, yy, pp := c.kernel(), squaredLengths(y), []float64(nil)
	if c.mutual() {
		pp = squaredLengths(matrix.Product(y, w.T()))
	}
	for i := range a.Rows {
		aa := baseline.SquaredLength(a.Row(i))
		row := scores.Row(i)
		for z, v := range row {
			s, _ := k.value(k.number(aa, float64(v), yy[z]))
			if pp != nil {
				t, _ := k.value(k.number(1, float64(v), pp[z]))
				s = s*(2-s) + t*(2-t)
			}
			row[z] = float32(s)
		}
	}
	return scores
}

// Kernel names the similarity of a sample and a class.
type Kernel string

// The kernels of two vectors v and w; each is 1 between equal vectors of length 1.
const (
	Linear     Kernel = "linear"     // v'w
	Polynomial Kernel = "polynomial" // ((v'w + 1) / 2)^degree
	Gaussian   Kernel = "gaussian"   // exp(-|v - w|^2 / (2 sigma^2))
	Cauchy     Kernel = "cauchy"     // 1 / (1 + |v - w|^2 / sigma^2)
)

// kernel is a Kernel with its parameters: a function of the squared distance of two
// vectors or of their inner product.
type kernel struct {
	distance bool                                 // of |v - w|^2, else of v'w
	value    func(number float64) (k, dk float64) // the kernel and its derivative by the number
}

func (c Settings) kernel() kernel {
	switch c.Kernel {
	case Polynomial:
		n := float64(c.Degree)
		return kernel{value: func(v float64) (k, dk float64) {
			base := (v + 1) / 2
			power := math.Pow(base, n-1)
			return power * base, n * power / 2
		}}
	case Gaussian:
		rate := 1 / (2 * c.Sigma * c.Sigma)
		return kernel{true, func(d float64) (k, dk float64) {
			k = math.Exp(-d * rate)
			return k, -k * rate
		}}
	case Cauchy:
		rate := 1 / (c.Sigma * c.Sigma)
		return kernel{true, func(d float64) (k, dk float64) {
			k = 1 / (1 + d*rate)
			return k, -k * k * rate
		}}
	}
	return kernel{value: func(v float64) (k, dk float64) { return v, 1 }}
}

// number returns |v - w|^2 or v'w from |v|^2, v'w and |w|^2.
func (k kernel) number(vv, vw, ww float64) float64 {
	if k.distance {
		return max(vv-2*vw+ww, 0) // rounding can make it negative
	}
	return vw
}

// mutual reports whether term (2) has an effect.
func (c Settings) mutual() bool { return c.Ort && c.kernel().distance }

// objective computes the objective of the package comment and its gradient. Matrix products have the
// precision of T; kernels and sums over samples are float64.
type objective[T model.Float] struct {
	settings Settings
	kernel   kernel
	y        dataset.Matrix[T] // Z x M, the normalised descriptions
	yy       []float64         // Z, their squared lengths

	pp  []float64 // Z, the squared lengths of the classes in feature space; nil without term (2)
	byP []float64 // Z, the gradient with respect to pp
}

func newObjective[T model.Float](c Settings, y dataset.Matrix[T]) *objective[T] {
	return &objective[T]{settings: c, kernel: c.kernel(), y: y, yy: squaredLengths(y)}
}

// step returns the objective at w (D x M) for the samples x (B x D), of length 1 and of the classes labels,
// and its gradient with respect to w (D x M).
func (o *objective[T]) step(x dataset.Matrix[T], labels []int,
	w dataset.Matrix[T],
) (float64, dataset.Matrix[T]) {
	a := matrix.Product(x, w)       // then a part of the gradient with respect to it
	s := matrix.Product(a, o.y.T()) // then the gradient with respect to it
	var p dataset.Matrix[T]         // Z x D, the classes in feature space
	if o.settings.mutual() {
		p = matrix.Product(o.y, w.T())
		o.pp, o.byP = squaredLengths(p), make([]float64, o.y.Rows)
	}
	var loss float64
	for i, class := range labels {
		loss += o.align(a.Row(i), s.Row(i), class)
	}
	mean := 1 / T(x.Rows)
	matrix.AddMul(a, s, o.y) // the whole gradient with respect to X W
	grad := matrix.Product(x.T().Times(mean), a)
	if o.pp != nil {
		yP := matrix.New[T](o.y.Rows, o.y.Cols) // 2 byP Y
		for z, g := range o.byP {
			for m, v := range o.y.Row(z) {
				yP.Row(z)[m] = T(2*g) * v
			}
		}
		matrix.AddMul(grad, p.T().Times(mean), yP)
	}
	return loss/float64(x.Rows) + o.orthogonality(w, grad), grad
}

// align returns the loss of one sample of a class, given its row a of X W and s of X W Y'. It replaces s by
// the gradient with respect to it, and a by that through |a|^2, and adds to byP.
func (o *objective[T]) align(a, s []T, class int) (loss float64) {
	aa, others := baseline.SquaredLength(a), o.settings.Beta/float64(max(len(s)-1, 1))
	var byAA float64
	for z, v := range s {
		target, weight := 0.0, others
		if z == class {
			target, weight = 1, 1
		}
		// slopeOf adds weight (k - target)^2 to the loss, and returns the derivative by the number.
		slopeOf := func(number float64) float64 {
			k, dk := o.kernel.value(number)
			loss += weight * (k - target) * (k - target)
			return 2 * weight * (k - target) * dk
		}
		slope := slopeOf(o.kernel.number(aa, float64(v), o.yy[z]))
		if !o.kernel.distance {
			s[z] = T(slope)
			continue
		}
		byAA += slope
		if o.pp != nil {
			slopeP := slopeOf(o.kernel.number(1, float64(v), o.pp[z]))
			o.byP[z] += slopeP
			slope += slopeP
		}
		s[z] = T(-2 * slope)
	}
	for m, v := range a {
		a[m] = T(2*byAA) * v
	}
	return loss
}

// orthogonality returns the penalty (3) and adds its gradient, 4 W (W'W - I) times the weight, to grad.
func (o *objective[T]) orthogonality(w, grad dataset.Matrix[T]) float64 {
	weight := o.settings.Orthogonality
	if weight == 0 {
		return 0
	}
	q := matrix.Product(w.T(), w)
	for m := range q.Rows {
		q.Row(m)[m]--
	}
	matrix.AddMul(grad, w.Times(T(4*weight)), q)
	return weight * baseline.SquaredLength(q.Data)
}
