package model

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
)

// Float is the precision of a machine: float32 to train, float64 to test.
type Float interface{ float32 | float64 }

// Parameters are what is learned. The hard variants keep V as it starts.
type Parameters[T Float] struct {
	W dataset.Matrix[T] // D x M, the attribute detectors
	B []T               // M, their biases
	V dataset.Matrix[T] // M x K; Gamma = softmax(zeta V)
}

// How the parameters start, by the paper and the authors' program.
const (
	gain   = 0.1  // of the orthogonal start of W
	spread = 1e-3 // of the uniform start of V in k-soft
)

// Init returns the parameters that training starts from, the same for the same
// seed: W orthogonal with gain 0.1, b zero, V one-hot by group or, for k-soft,
// uniform noise in [0, 1e-3] less its mean.
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
		return dataset.Matrix[float32]{}, fmt.Errorf("model: the %d x %d orthogonal start did not converge", rows, cols)
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

// noise is the start of V in k-soft.
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
		v.Data[i] = float32(spread * (d - mean))
	}
	return v
}

// oneHot returns the M x K matrix with a one at the group of each attribute: the
// start of V where groups are given, and Gamma_sem.
func oneHot[T Float](of []int, k int) dataset.Matrix[T] {
	v := dataset.NewMatrix[T](len(of), k)
	for m, g := range of {
		v.Data[m*k+g] = 1
	}
	return v
}
