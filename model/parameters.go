package model

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
)

// Float is the precision of a computation: float32 to train and score, float64 to
// explain and to test.
type Float interface{ float32 | float64 }

// Parameters are the trained parameters. The variants with hard groups keep the initial
// V.
type Parameters[T Float] struct {
	W dataset.Matrix[T] // D x M, the attribute detectors
	B []T               // M, their biases
	V dataset.Matrix[T] // M x K; Gamma = softmax(zeta V)
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
	k, of, err := c.groups(attributes, semantic)
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
		p.V = noise(attributes, k, rng)
	}
	return p, nil
}

// Clone returns a copy that shares no memory.
func (p *Parameters[T]) Clone() *Parameters[T] {
	c := &Parameters[T]{
		W: dataset.NewMatrix[T](p.W.Rows, p.W.Cols),
		B: make([]T, len(p.B)),
		V: dataset.NewMatrix[T](p.V.Rows, p.V.Cols),
	}
	c.Set(p)
	return c
}

// Set copies the values of from, which must be of the same sizes.
func (p *Parameters[T]) Set(from *Parameters[T]) {
	copy(p.W.Data, from.W.Data)
	copy(p.B, from.B)
	copy(p.V.Data, from.V.Data)
}

// Groups returns Gamma = softmax(zeta V), the soft group of each attribute, M x K.
func (p *Parameters[T]) Groups(zeta float64) dataset.Matrix[T] {
	gamma := dataset.NewMatrix[T](p.V.Rows, p.V.Cols)
	writeGamma(gamma.Data, p.V, zeta)
	return gamma
}

// orthogonal returns a random matrix with orthonormal columns, or rows where it
// has fewer, times the gain (Saxe et al. 2013): U V^T of the singular value
// decomposition of a Gaussian matrix.
func orthogonal(rows, cols int, rng *rand.Rand) (dataset.Matrix[float32], error) {
	g := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var svd mat.SVD
	if !svd.Factorize(g, mat.SVDThin) {
		return dataset.Matrix[float32]{}, fmt.Errorf("the singular value decomposition of a random %d x %d matrix did not converge", rows, cols)
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	g.Mul(&u, v.T())
	w := dataset.NewMatrix[float32](rows, cols)
	for i := range rows {
		for j := range cols {
			w.Data[i*cols+j] = float32(gain * g.At(i, j))
		}
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
