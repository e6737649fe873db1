package kernelalign

import (
	"math"

	"gonum.org/v1/gonum/blas"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
)

// Kernel names the similarity of a sample and a class.
type Kernel string

// The kernels of two vectors v and w; each is 1 between equal vectors of length 1.
const (
	Linear     Kernel = "linear"     // v'w
	Polynomial Kernel = "polynomial" // ((v'w + offset) / (1 + offset))^degree
	Gaussian   Kernel = "gaussian"   // exp(-|v - w|^2 / (2 sigma^2))
	Cauchy     Kernel = "cauchy"     // 1 / (1 + |v - w|^2 / sigma^2)
)

// kernel is a Kernel with its parameters: a function of the squared distance of two
// vectors or of their inner product.
type kernel struct {
	distance bool                                 // of |v - w|^2, else of v'w
	at       func(number float64) (k, dk float64) // the kernel and its derivative by the number
}

func (c *Config) kernel() kernel {
	switch c.Kernel {
	case Polynomial:
		n, scale := float64(c.Degree), 1/(1+c.Offset)
		return kernel{at: func(v float64) (k, dk float64) {
			base := (v + c.Offset) * scale
			power := math.Pow(base, n-1)
			return power * base, n * power * scale
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
	return kernel{at: func(v float64) (k, dk float64) { return v, 1 }}
}

// number returns |v - w|^2 or v'w from |v|^2, v'w and |w|^2.
func (k kernel) number(vv, vw, ww float64) float64 {
	if k.distance {
		return max(vv-2*vw+ww, 0) // rounding can make it negative
	}
	return vw
}

// objective computes the objective of the package comment and its gradient, with the
// buffers for one batch. Matrix products have the precision of T; kernels and sums over
// samples are float64.
type objective[T model.Float] struct {
	config Config
	kernel kernel
	mutual bool              // with term (2)
	y      dataset.Matrix[T] // Z x M, the normalised descriptions
	yy     []float64         // Z, their squared lengths

	a dataset.Matrix[T] // B x M, X W, then a part of the gradient by it
	s dataset.Matrix[T] // B x Z, X W Y', then the gradient by it

	// Only if mutual:
	p   dataset.Matrix[T] // Z x D, Y W', the classes in feature space
	pp  []float64         // Z, their squared lengths
	byP []float64         // Z, the gradient by pp
	yP  dataset.Matrix[T] // Z x M, 2 byP Y

	q dataset.Matrix[T] // M x M, W'W - I, only with the penalty (3)
}

// newObjective makes buffers for features of dims dimensions and batches of up to batch
// samples.
func newObjective[T model.Float](c Config, y dataset.Matrix[T], dims, batch int) *objective[T] {
	o := &objective[T]{
		config: c, kernel: c.kernel(), y: y, yy: squaredLengths(y),
		a: dataset.NewMatrix[T](batch, y.Cols),
		s: dataset.NewMatrix[T](batch, y.Rows),
	}
	if o.mutual = c.mutual(); o.mutual {
		o.p, o.yP = dataset.NewMatrix[T](y.Rows, dims), dataset.NewMatrix[T](y.Rows, y.Cols)
		o.byP = make([]float64, y.Rows)
	}
	if c.Orthogonality > 0 {
		o.q = dataset.NewMatrix[T](y.Cols, y.Cols)
	}
	return o
}

// mutual reports whether term (2) has an effect: an inner product is the same in both
// spaces.
func (c *Config) mutual() bool { return c.Ort && c.kernel().distance }

// step returns the objective at w (D x M) for the samples x (B x D), of length 1 and
// of the classes labels, and writes its gradient by w into grad (D x M).
func (o *objective[T]) step(x dataset.Matrix[T], labels []int, w, grad dataset.Matrix[T]) float64 {
	a, s := o.a.Slice(0, x.Rows), o.s.Slice(0, x.Rows)
	baseline.Gemm(blas.NoTrans, blas.NoTrans, 1, x, w, 0, a)
	baseline.Gemm(blas.NoTrans, blas.Trans, 1, a, o.y, 0, s)
	if o.mutual {
		baseline.Gemm(blas.NoTrans, blas.Trans, 1, o.y, w, 0, o.p)
		o.pp = squaredLengths(o.p)
		clear(o.byP)
	}
	var loss float64
	for i, own := range labels {
		loss += o.align(a.Row(i), s.Row(i), own)
	}
	mean := 1 / T(x.Rows)
	baseline.Gemm(blas.NoTrans, blas.NoTrans, 1, s, o.y, 1, a) // a is now the whole gradient by X W
	baseline.Gemm(blas.Trans, blas.NoTrans, mean, x, a, 0, grad)
	if o.mutual {
		for z, g := range o.byP {
			for m, v := range o.y.Row(z) {
				o.yP.Row(z)[m] = T(2*g) * v
			}
		}
		baseline.Gemm(blas.Trans, blas.NoTrans, mean, o.p, o.yP, 1, grad)
	}
	return loss/float64(x.Rows) + o.orthogonality(w, grad)
}

// align returns the loss of one sample, given its row a of X W and s of X W Y'. It
// replaces s by the gradient by it and a by the gradient by a through |a|^2, and adds to
// byP.
func (o *objective[T]) align(a, s []T, own int) (loss float64) {
	aa := squaredLength(a)
	var byAA float64
	for z, v := range s {
		t := target{weight: o.config.Beta / float64(max(len(s)-1, 1))}
		if z == own {
			t = target{1, 1}
		}
		l, slope := t.loss(o.kernel, o.kernel.number(aa, float64(v), o.yy[z]))
		loss += l
		if !o.kernel.distance {
			s[z] = T(slope)
			continue
		}
		byAA += slope
		if o.mutual {
			l, slopeP := t.loss(o.kernel, o.kernel.number(1, float64(v), o.pp[z]))
			loss += l
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

// target is the value that a kernel should have, and the weight of its error.
type target struct{ value, weight float64 }

// loss returns weight (k - value)^2 for the kernel of a number, and the derivative by
// the number.
func (t target) loss(k kernel, number float64) (loss, slope float64) {
	v, dk := k.at(number)
	return t.weight * (v - t.value) * (v - t.value), 2 * t.weight * (v - t.value) * dk
}

// orthogonality returns the penalty (3) and adds its gradient, 4 W (W'W - I) times the
// weight, to grad.
func (o *objective[T]) orthogonality(w, grad dataset.Matrix[T]) float64 {
	weight := o.config.Orthogonality
	if weight == 0 {
		return 0
	}
	baseline.Gemm(blas.Trans, blas.NoTrans, 1, w, w, 0, o.q)
	for m := range o.q.Rows {
		o.q.Row(m)[m]--
	}
	baseline.Gemm(blas.NoTrans, blas.NoTrans, T(4*weight), w, o.q, 1, grad)
	return weight * squaredLength(o.q.Data)
}
