package linear

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Problem is what to minimise. One of Each and Joint is given; both are called for
// several samples at a time.
type Problem struct {
	X       dataset.Matrix[float32] // shared, never written
	Rows    []int                   // the rows of X that are samples, at least one
	Unit    bool                    // scale samples to length 1
	Bias    bool                    // have biases, which are not penalised
	Outputs int                     // K
	Penalty float64                 // above 0

	// Each is the loss of one score of a sample, and its slope. The outputs are then
	// problems of their own.
	Each func(sample, output int, score float64) (loss, slope float64)
	// Joint is the loss of the K scores of a sample; it writes its gradient over them.
	Joint func(sample int, scores []float64) (loss float64)
}

// blockSize is how many samples are taken at a time.
const blockSize = 256

// objective computes the function to minimise. A classifier is a row of E numbers: its D
// weights and, where there are biases, its bias.
type objective struct {
	Problem
	e      int
	mean   []float64               // D: of the samples where there are biases, else zeros
	block  dataset.Matrix[float64] // samples x E
	scores []float64               // samples x outputs, and the slopes by them
	losses []float64               // samples x outputs
}

func newObjective(p Problem) *objective {
	n, e := min(blockSize, len(p.Rows)), p.X.Cols
	if p.Bias {
		e++
	}
	o := &objective{
		Problem: p, e: e, mean: make([]float64, p.X.Cols),
		block:  dataset.NewMatrix[float64](n, e),
		scores: make([]float64, n*p.Outputs), losses: make([]float64, n*p.Outputs),
	}
	if p.Bias {
		o.mean = o.meanSample()
	}
	return o
}

func (o *objective) meanSample() []float64 {
	mean := make([]float64, o.X.Cols)
	for part := range slices.Chunk(o.Rows, blockSize) {
		o.gather(part)
		for i := range part {
			floats.Add(mean, o.block.Row(i)[:o.X.Cols])
		}
	}
	floats.Scale(1/float64(len(o.Rows)), mean)
	return mean
}

// gather copies samples into the block. Where there is a bias to make up for it, they
// are less their mean, with which L-BFGS converges in fewer steps, and end in a one.
func (o *objective) gather(rows []int) {
	parallel.For(len(rows), 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := o.block.Row(i)
			x := to[:o.X.Cols]
			for d, v := range o.X.Row(rows[i]) {
				x[d] = float64(v)
			}
			if o.Unit {
				if length := floats.Norm(x, 2); length > 0 { // else a sample of zeros, which stays
					floats.Scale(1/length, x)
				}
			}
			floats.Sub(x, o.mean)
			if o.Bias {
				to[o.X.Cols] = 1
			}
		}
	})
}

// evaluate computes the loss of some outputs with the classifiers w, outputs x E, and
// writes its gradient by them. With a Joint loss they are all outputs, and the first of
// losses is that of all.
func (o *objective) evaluate(outputs []int, w, gradient, losses []float64) {
	k, b := len(outputs), blas64.Implementation()
	clear(gradient)
	clear(losses)
	done := 0
	for part := range slices.Chunk(o.Rows, blockSize) {
		n := len(part)
		o.gather(part)
		b.Dgemm(blas.NoTrans, blas.Trans, n, k, o.e, 1, o.block.Data, o.e, w, o.e, 0, o.scores, k)
		parallel.For(n, 1+4096/k, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				o.sample(done+i, outputs, o.scores[i*k:(i+1)*k], o.losses[i*k:(i+1)*k])
			}
		})
		for i := range n {
			floats.Add(losses, o.losses[i*k:(i+1)*k])
		}
		b.Dgemm(blas.Trans, blas.NoTrans, k, o.e, n, 1, o.scores, k, o.block.Data, o.e, 1, gradient, o.e)
		done += n
	}
	floats.Scale(1/float64(len(o.Rows)), losses)
	floats.Scale(1/float64(len(o.Rows)), gradient)
	o.penalise(w, gradient, losses)
}

// sample writes the losses of a sample, and the slopes by its scores over these.
func (o *objective) sample(sample int, outputs []int, scores, losses []float64) {
	if o.Joint != nil {
		clear(losses)
		losses[0] = o.Joint(sample, scores)
		return
	}
	for i, k := range outputs {
		losses[i], scores[i] = o.Each(sample, k, scores[i])
	}
}

func (o *objective) penalise(w, gradient, losses []float64) {
	for i := range losses {
		weights := w[i*o.e : i*o.e+o.X.Cols]
		floats.AddScaled(gradient[i*o.e:i*o.e+o.X.Cols], o.Penalty, weights)
		of := i
		if o.Joint != nil {
			of = 0
		}
		losses[of] += o.Penalty / 2 * floats.Dot(weights, weights)
	}
}
