package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Float is the precision of a computation: float32 to train and score, float64 to explain and to test.
type Float interface{ float32 | float64 }

// Parameters are the trained parameters. The variants with hard groups keep the initial V.
type Parameters[T Float] struct {
	W dataset.Matrix[T] // D x M, the attribute detectors
	B []T               // M, their biases
	V dataset.Matrix[T] // M x K; Gamma = softmax(zeta V).
}

// gain is that of the orthogonal W in the paper and the authors' program.
const gain = 0.1

// Init returns the initial parameters, which depend on the seed alone: W orthogonal with
// gain 0.1, b zero, V one-hot by group or, for free groups, zero-mean uniform noise.
func (c Config) Init(dims, attributes int, semantic []int, seed uint64) (*Parameters[float32], error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	k, of, err := c.Grouping(attributes, semantic)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 0x1a60))
	w, err := orthogonal(dims, attributes, rng)
	if err != nil {
		return nil, err
	}
	p := &Parameters[float32]{W: w, B: make([]float32, attributes)}
	if of != nil {
		p.V = oneHot[float32](of, k)
	} else {
		p.V = noise(attributes, k, c.Variant.Info().Noise, rng)
	}
	return p, nil
}

// Groups returns Gamma = softmax(zeta V), the soft group of each attribute, M x K.
func (p *Parameters[T]) Groups(zeta float64) dataset.Matrix[T] {
	gamma := dataset.NewMatrix[T](p.V.Rows, p.V.Cols)
	writeGamma(gamma.Data, p.V, zeta)
	return gamma
}

// orthogonal returns a random matrix with orthonormal columns, or rows where it has fewer, times the gain
// (Saxe et al. 2013): U V^T of the singular value decomposition of a Gaussian matrix.
func orthogonal(rows, cols int, rng *rand.Rand) (dataset.Matrix[float32], error) {
	w, draws := dataset.NewMatrix[float32](rows, cols), make([]float64, rows*cols)
	for i := range draws {
		draws[i] = rng.NormFloat64()
	}
	g := mat.NewDense(rows, cols, draws)
	var svd mat.SVD
	if !svd.Factorize(g, mat.SVDThin) {
		return w, fmt.Errorf("the singular value decomposition of a random %d x %d matrix did not converge",
			rows, cols)
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	g.Mul(&u, v.T())
	for i := range w.Data {
		w.Data[i] = float32(gain * g.At(i/cols, i%cols))
	}
	return w, nil
}

func noise(m, k int, width float64, rng *rand.Rand) dataset.Matrix[float32] {
	v := dataset.NewMatrix[float32](m, k)
	draws := make([]float64, len(v.Data))
	var mean float64
	for i := range draws {
		draws[i] = rng.Float64()
		mean += draws[i]
	}
	mean /= float64(len(draws))
	for i, d := range draws {
		v.Data[i] = float32(width * (d - mean))
	}
	return v
}

// oneHot returns the M x K matrix with a one at the group of each attribute: Gamma_sem,
// and the initial V of groups with members.
func oneHot[T Float](of []int, k int) dataset.Matrix[T] {
	v := dataset.NewMatrix[T](len(of), k)
	for m, g := range of {
		v.Data[m*k+g] = 1
	}
	return v
}

// Logits writes S = X W + b of the samples x, n x D, into s, n x M.
func (p *Parameters[T]) Logits(x, s dataset.Matrix[T]) {
	if x.Rows > 0 {
		writeLogits(s, x, p.W, p.B)
	}
}

func writeLogits[T Float](s, x, w matrix.Matrix[T], b []T) {
	for i := range s.Rows {
		copy(s.Row(i), b)
	}
	matrix.AddMul(s, x, w)
}

// Sigmoid writes A = sigmoid(S), which may be the same memory.
func Sigmoid[T Float](a, s []T) {
	parallel.For(len(s), 4096, func(lo, hi int) { sigmoids(a[lo:hi], s[lo:hi]) })
}

// sigmoids is a function rather than a closure, for which the compiler makes each
// conversion to float64 wait for the last exponential: four times slower.
func sigmoids[T Float](a, s []T) {
	if single, ok := any(s).([]float32); ok {
		to := any(a).([]float32)[:len(single)]
		for i, v := range single {
			to[i] = 1 / (1 + matrix.Exp32(-v))
		}
		return
	}
	for i, v := range s {
		a[i] = T(1 / (1 + math.Exp(-float64(v))))
	}
}

// logits makes S = X W + b, n x M.
func logits[T Float](xNode, wNode, bNode *G.Node) *G.Node {
	x, w, b := input[T](xNode), input[T](wNode), input[T](bNode)
	s := output[T](x.shape[0], w.shape[1])
	w.gradient = func(dw []T) {
		const rows = 128 // at a time, which stay in the cache
		parallel.For((x.shape[1]+rows-1)/rows, 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				first, end := i*rows, min((i+1)*rows, x.shape[1])
				part := matrix.Of(dw, w.shape[1]).Slice(first, end)
				matrix.Mul(part, x.matrix().Columns(first, end).T(), matrix.Of(s.grad, s.shape[1]))
			}
		})
	}
	b.gradient = func(db []T) {
		clear(db)
		for row := range slices.Chunk(s.grad, len(db)) {
			for j, v := range row {
				db[j] += v
			}
		}
	}
	return apply(kernel{name: "S = X W + b", from: []operand{x, w, b}, to: s, forward: func() {
		writeLogits(s.matrix(), x.matrix(), w.matrix(), b.data)
	}})
}

// penalties makes |W|^2 and |W U^T|^2, the latter from W U^T or, if there are many classes, the
// cheaper way from W (U^T U). As in the paper, the biases are not penalised; the authors' program adds |b|^2.
func penalties[T Float](phase *int, wNode, uNode *G.Node) *G.Node {
	w, u, terms := input[T](wNode), input[float64](uNode), output[T](2)
	square, size := 2*u.shape[0] > u.shape[1], u.shape[0]
	if square {
		size = u.shape[1]
	}
	product := matrix.New[T](w.shape[0], size)
	var factor matrix.Matrix[T] // U, or U^T U
	w.gradient = func(dw []T) {
		clear(dw)
		if d := terms.grad[0]; d != 0 {
			blas.AddScaled(dw, 2*d, w.data)
		}
		switch d := terms.grad[1]; {
		case d == 0:
		case square:
			blas.AddScaled(dw, 2*d, product.Data)
		default:
			matrix.AddMul(matrix.Of(dw, w.shape[1]), product.Times(2*d), factor)
		}
	}
	return apply(kernel{
		name: "|W|^2, |W U^T|^2", from: []operand{w, u}, to: terms, phase: phase,
		begin: func() {
			if factor = matrix.Convert[T](u.matrix()); square {
				factor = matrix.Product(factor.T(), factor)
			}
		},
		forward: func() {
			matrix.Mul(product, w.matrix(), factor.T())
			other := product.Data
			if square {
				other = w.data
			}
			terms.data[0], terms.data[1] = T(blas.Dot(w.data, w.data)), T(blas.Dot(other, product.Data))
		},
	})
}

// sigmoid makes A = 1 / (1 + exp(-S)), p(a_m|x).
func sigmoid[T Float](sNode *G.Node) *G.Node {
	s := input[T](sNode)
	a := output[T](s.shape...)
	s.gradient = func(ds []T) {
		for i, p := range a.data {
			ds[i] = a.grad[i] * p * (1 - p)
		}
	}
	return apply(kernel{name: "A = sigmoid(S)", from: []operand{s}, to: a, forward: func() {
		Sigmoid(a.data, s.data)
	}})
}

// writeGamma writes Gamma = softmax over k of (zeta V[m,:]), the soft group of each attribute, M x K.
func writeGamma[T Float](gamma []T, v matrix.Matrix[T], zeta float64) {
	parallel.For(v.Rows, 1+2048/v.Cols, func(lo, hi int) {
		for m := lo; m < hi; m++ {
			row, out := v.Row(m), gamma[m*v.Cols:(m+1)*v.Cols]
			top := math.Inf(-1)
			for _, x := range row {
				top = max(top, zeta*float64(x))
			}
			var sum float64
			for k, x := range row {
				e := math.Exp(zeta*float64(x) - top)
				out[k] = T(e)
				sum += e
			}
			for k := range out {
				out[k] = T(float64(out[k]) / sum)
			}
		}
	})
}

// softGroups makes Gamma from V.
func softGroups[T Float](vNode *G.Node, zeta float64) *G.Node {
	v := input[T](vNode)
	gamma := output[T](v.shape...)
	k := v.shape[1]
	v.gradient = func(dv []T) {
		for i := range v.shape[0] {
			g, dg, out := gamma.data[i*k:(i+1)*k], gamma.grad[i*k:(i+1)*k], dv[i*k:(i+1)*k]
			var mean float64
			for j := range g {
				mean += float64(g[j]) * float64(dg[j])
			}
			for j := range g {
				out[j] = T(zeta * float64(g[j]) * (float64(dg[j]) - mean))
			}
		}
	}
	return apply(kernel{name: "Gamma: softmax of zeta V", from: []operand{v}, to: gamma, forward: func() {
		writeGamma(gamma.data, v.matrix(), zeta)
	}})
}
