package kernelalign

import (
	"gonum.org/v1/gonum/blas"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// objective is what W is learned by, with the memory that a batch takes. Products
// are in the precision of T, kernels and sums over samples in float64.
type objective[T model.Float] struct {
	config Config
	kernel kernel
	mutual bool              // align in the space of the features, too
	y      dataset.Matrix[T] // Z x M, the descriptions of the classes
	yy     []float64         // Z, their squared lengths

	a dataset.Matrix[T] // B x M, X W, and then a part of the gradient by it
	s dataset.Matrix[T] // B x Z, X W Y', and then the gradient by it

	// Only where mutual:
	p   dataset.Matrix[T] // Z x D, Y W', the classes among the samples
	pp  []float64         // Z, their squared lengths
	byP []float64         // Z, the gradient by pp
	yP  dataset.Matrix[T] // Z x M, 2 byP Y

	q dataset.Matrix[T] // M x M, W'W - I, only where it is penalised
}

// newObjective is of classes that y describes (Z x M), features of dims dimensions
// and batches of up to batch samples.
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

// mutual says whether samples and classes are compared in both spaces. An inner
// product is the same in both.
func (c Config) mutual() bool { return c.Ort && c.kernel().shift }

// step returns the objective at w (D x M) for the samples x (B x D), of length 1 and
// of the classes labels, and writes its gradient by w into grad (D x M).
func (o *objective[T]) step(x dataset.Matrix[T], labels []int, w, grad dataset.Matrix[T]) float64 {
	a, s := head(o.a, x.Rows), head(o.s, x.Rows)
	gemm(blas.NoTrans, blas.NoTrans, 1, x, w, 0, a)
	gemm(blas.NoTrans, blas.Trans, 1, a, o.y, 0, s)
	if o.mutual {
		gemm(blas.NoTrans, blas.Trans, 1, o.y, w, 0, o.p)
		o.pp = squaredLengths(o.p)
		clear(o.byP)
	}
	var loss float64
	for i, own := range labels {
		loss += o.align(a.Row(i), s.Row(i), own)
	}
	mean := 1 / T(x.Rows)
	gemm(blas.NoTrans, blas.NoTrans, 1, s, o.y, 1, a) // now all of the gradient by X W
	gemm(blas.Trans, blas.NoTrans, mean, x, a, 0, grad)
	if o.mutual {
		for z, g := range o.byP {
			for m, v := range o.y.Row(z) {
				o.yP.Row(z)[m] = T(2*g) * v
			}
		}
		gemm(blas.Trans, blas.NoTrans, mean, o.p, o.yP, 1, grad)
	}
	return loss/float64(x.Rows) + o.orthogonality(w, grad)
}

// align returns the loss of one sample, given its row a of X W and s of X W Y'. It
// replaces s by the gradient by it, a by the part of the gradient that |a|^2 has in
// the distances, and adds to byP.
func (o *objective[T]) align(a, s []T, own int) (loss float64) {
	aa := squaredLength(a)
	var byAA float64
	for z, v := range s {
		t := target{weight: o.config.Beta / float64(max(len(s)-1, 1))}
		if z == own {
			t = target{1, 1}
		}
		missed, slope := t.miss(o.kernel, o.kernel.number(aa, float64(v), o.yy[z]))
		loss += missed
		if !o.kernel.shift {
			s[z] = T(slope)
			continue
		}
		byAA += slope
		if o.mutual {
			missed, slopeP := t.miss(o.kernel, o.kernel.number(1, float64(v), o.pp[z]))
			loss += missed
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

// target is what a kernel is to be, and how much it matters.
type target struct{ value, weight float64 }

// miss returns weight (k - value)^2 for the kernel of a number, and the derivative by
// the number.
func (t target) miss(k kernel, number float64) (loss, slope float64) {
	v, by := k.at(number)
	return t.weight * (v - t.value) * (v - t.value), 2 * t.weight * (v - t.value) * by
}

// orthogonality returns |W'W - I|^2 times its weight, and adds the gradient of that to
// grad, 4 W (W'W - I) times the weight.
func (o *objective[T]) orthogonality(w, grad dataset.Matrix[T]) float64 {
	weight := o.config.Orthogonality
	if weight == 0 {
		return 0
	}
	gemm(blas.Trans, blas.NoTrans, 1, w, w, 0, o.q)
	for m := range o.q.Rows {
		o.q.Row(m)[m]--
	}
	gemm(blas.NoTrans, blas.NoTrans, T(4*weight), w, o.q, 1, grad)
	return weight * squaredLength(o.q.Data)
}
