package model

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/numeric"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Float is the precision of a computation: float32 to train and score, float64 to
// explain and to test.
type Float interface{ float32 | float64 }

// Parameters are the trained parameters. The variants with hard groups keep the initial
// V.
type Parameters[T Float] struct {
	W dataset.Matrix[T] // D x M, the attribute detectors
	B []T               // M, their biases
	V dataset.Matrix[T] // M x K; Gamma = softmax(zeta V). Without data it is the identity, see IdentityV
}

// The initialisation of the paper and the authors' program.
const (
	gain  = 0.1  // of the orthogonal W
	width = 1e-3 // of the uniform V of k-soft
)

// Init returns the initial parameters, which depend on the seed alone: W orthogonal with
// gain 0.1, b zero, V one-hot by group or, for k-soft, zero-mean uniform noise of width
// 1e-3.
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
	if c.IdentityV(attributes) {
		p.V = dataset.Matrix[float32]{Rows: attributes, Cols: attributes}
	} else if of != nil {
		p.V = oneHot[float32](of, k)
	} else {
		p.V = noise(attributes, k, rng)
	}
	return p, nil
}

// Groups returns Gamma = softmax(zeta V), the soft group of each attribute, M x K. V must be
// stored, see CheckGroups.
func (p *Parameters[T]) Groups(zeta float64) dataset.Matrix[T] {
	gamma := dataset.NewMatrix[T](p.V.Rows, p.V.Cols)
	writeGamma(gamma.Data, p.V, zeta)
	return gamma
}

// orthogonal returns a random matrix with orthonormal columns, or rows where it
// has fewer, times the gain (Saxe et al. 2013): U V^T of the singular value
// decomposition of a Gaussian matrix.
func orthogonal(rows, cols int, rng *rand.Rand) (dataset.Matrix[float32], error) {
	w, draws := dataset.NewMatrix[float32](rows, cols), make([]float64, rows*cols)
	for i := range draws {
		draws[i] = rng.NormFloat64()
	}
	g := mat.NewDense(rows, cols, draws)
	var svd mat.SVD
	if !svd.Factorize(g, mat.SVDThin) {
		return w, fmt.Errorf("the singular value decomposition of a random %d x %d matrix did not converge", rows, cols)
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

// noise returns the initial V of k-soft.
func noise(m, k int, rng *rand.Rand) dataset.Matrix[float32] {
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
// and the initial V of all variants but k-soft.
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
		writeLogits(s.Data, x.Data, p.W.Data, p.B, x.Rows, p.W.Rows, p.W.Cols)
	}
}

// Sigmoid replaces logits S by the attribute probabilities A = sigmoid(S).
func Sigmoid[T Float](s []T) { writeSigmoid(s, s) }

func writeLogits[T Float](s, x, w, b []T, n, d, m int) {
	for i := range n {
		copy(s[i*m:(i+1)*m], b)
	}
	blas.Gemm(blas.NoTrans, blas.NoTrans, n, m, d, 1, x, d, w, m, 1, s, m)
}

func writeSigmoid[T Float](a, s []T) {
	parallel.For(len(s), 4096, func(lo, hi int) { sigmoids(a[lo:hi], s[lo:hi]) })
}

// sigmoids is a function rather than a closure, for which the compiler makes each
// conversion to float64 wait for the last exponential: four times slower.
func sigmoids[T Float](a, s []T) {
	if single, ok := any(s).([]float32); ok {
		to := any(a).([]float32)[:len(single)]
		for i, v := range single {
			to[i] = 1 / (1 + numeric.Exp32(-v))
		}
		return
	}
	for i, v := range s {
		a[i] = T(1 / (1 + math.Exp(-float64(v))))
	}
}

// linear makes S = X W + b, n x M. onto is the gradient by W of the other terms of the loss,
// to which that through S is added in its memory once ready returns; nil for none. Gorgonia would
// add the two in another pass over the largest matrices of a step.
func linear[T Float](x, w, b, onto *G.Node, ready func()) *G.Node {
	n, d, m := x.Shape()[0], w.Shape()[0], w.Shape()[1]
	return kernel[T]{
		name:    "linear",
		shape:   tensor.Shape{n, m},
		forward: func(s []T, in [][]T) { writeLogits(s, in[0], in[1], in[2], n, d, m) },
		gradients: []gradient[T]{
			nil,
			func(inputs G.Nodes, _, ds *G.Node) *G.Node {
				var beta T
				from := G.Nodes{inputs[0], ds}
				if onto != nil {
					beta, from = 1, append(from, onto)
				}
				return kernel[T]{name: "linear by W", shape: tensor.Shape{d, m}, onto: onto, forward: func(dw []T, in [][]T) {
					ready()
					byRows(d, func(from, to int) {
						blas.Gemm(blas.Trans, blas.NoTrans, to-from, m, n, 1, in[0][from:], d, in[1], m, beta, dw[from*m:to*m], m)
					})
				}}.apply(from...)
			},
			by(kernel[T]{name: "linear by b", shape: tensor.Shape{m}, forward: func(db []T, in [][]T) {
				ds := in[4]
				clear(db)
				for i := range n {
					for j, v := range ds[i*m : (i+1)*m] {
						db[j] += v
					}
				}
			}}),
		},
	}.apply(x, w, b)
}

// sigmoid makes A = 1 / (1 + exp(-S)), p(a_m|x).
func sigmoid[T Float](s *G.Node) *G.Node {
	shape := s.Shape()
	return kernel[T]{
		name:    "sigmoid",
		shape:   shape,
		forward: func(a []T, in [][]T) { writeSigmoid(a, in[0]) },
		gradients: []gradient[T]{
			by(kernel[T]{name: "sigmoid by S", shape: shape, forward: func(ds []T, in [][]T) {
				a, da := in[1], in[2]
				for i, p := range a {
					ds[i] = da[i] * p * (1 - p)
				}
			}}),
		},
	}.apply(s)
}

// penalties are the two terms of the loss that depend on W alone, |W|^2 and |W U^T|^2, and their
// gradient. They are computed beside the other ops of a step, on a processor that these leave idle.
// As in the paper, the biases are not penalised; the authors' program adds |b|^2.
type penalties[T Float] struct {
	weights [2]float64 // beta and lambda
	product *descriptionProduct[T]
	terms   [2]float64
	byW     []T // the memory of the node of gradient; nil without one
	wait    func()
}

func newPenalties[T Float](c Config, d int, u dataset.Matrix[T]) *penalties[T] {
	return &penalties[T]{weights: [2]float64{c.Beta, c.Lambda}, product: newDescriptionProduct(d, u), wait: func() {}}
}

// gradient makes the node of the gradient by W, nil if the weights are 0. It has its value when
// ready returns.
func (p *penalties[T]) gradient(w, u *G.Node) *G.Node {
	if p.weights == [2]float64{} {
		return nil
	}
	node := kernel[T]{name: "beta |W|^2 + lambda |W U^T|^2 by W", shape: w.Shape(), forward: func([]T, [][]T) {}}.apply(w, u)
	p.byW = values[T](node.Op().(*kernel[T]).out)
	return node
}

// start begins the computation for W, which must not change before ready returns.
func (p *penalties[T]) start(w []T) {
	p.wait = parallel.Beside(func() {
		p.terms = [2]float64{blas.Dot(w, w), p.product.squared(w)}
		if p.byW == nil {
			return
		}
		byRows(p.product.d, func(from, to int) {
			part := p.byW[from*p.product.m : to*p.product.m]
			clear(part)
			blas.AddScaled(part, T(2*p.weights[0]), w[from*p.product.m:to*p.product.m])
			if p.weights[1] != 0 {
				p.product.addGradient(part, T(p.weights[1]), from)
			}
		})
	})
}

// ready waits for the end of the computation.
func (p *penalties[T]) ready() {
	p.wait()
	p.wait = func() {}
}

// byRows computes a gradient by W in parts of 128 of its d rows, which stay in the cache.
func byRows(d int, part func(from, to int)) {
	const rows = 128
	parallel.For((d+rows-1)/rows, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			part(i*rows, min((i+1)*rows, d))
		}
	})
}

// DetectorTerms returns the terms W2 and WU2 of the loss, which do not change while V
// trains.
func DetectorTerms[T Float](params *Parameters[T], classes *Description) Terms {
	p := newDescriptionProduct(params.W.Rows, dataset.Convert[T](classes.U))
	return Terms{W2: blas.Dot(params.W.Data, params.W.Data), WU2: p.squared(params.W.Data)}
}

// descriptionProduct computes |W U^T|^2 the cheaper way: from W U^T or, if there are
// many classes, from W (U^T U).
type descriptionProduct[T Float] struct {
	d, m    int
	factor  dataset.Matrix[T] // U, or U^T U
	square  bool              // factor is U^T U
	product []T               // W times the factor
}

func newDescriptionProduct[T Float](d int, u dataset.Matrix[T]) *descriptionProduct[T] {
	p := &descriptionProduct[T]{d: d, m: u.Cols, factor: u, square: 2*u.Rows > u.Cols}
	if p.square {
		p.factor = dataset.NewMatrix[T](u.Cols, u.Cols)
		blas.Gemm(blas.Trans, blas.NoTrans, u.Cols, u.Cols, u.Rows, 1, u.Data, u.Cols, u.Data, u.Cols, 0, p.factor.Data, u.Cols)
	}
	p.product = make([]T, d*p.factor.Rows)
	return p
}

// squared returns |W U^T|^2.
func (p *descriptionProduct[T]) squared(w []T) float64 {
	r := p.factor.Rows
	blas.Gemm(blas.NoTrans, blas.Trans, p.d, r, p.m, 1, w, p.m, p.factor.Data, p.m, 0, p.product, r)
	if p.square {
		return blas.Dot(w, p.product)
	}
	return blas.Dot(p.product, p.product)
}

// addGradient adds scale times the gradient, by the rows of W from one on, at the W of the
// last call of squared.
func (p *descriptionProduct[T]) addGradient(dw []T, scale T, from int) {
	r := p.factor.Rows
	product := p.product[from*r:]
	if p.square {
		blas.AddScaled(dw, 2*scale, product[:len(dw)])
		return
	}
	blas.Gemm(blas.NoTrans, blas.NoTrans, len(dw)/p.m, p.m, r, 2*scale, product, r, p.factor.Data, p.m, 1, dw, p.m)
}
