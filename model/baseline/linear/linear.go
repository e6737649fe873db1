// Package linear fits linear classifiers, W (K x D) and optional biases b (K), to the
// minimum of
//
//	mean over samples of loss(W x + b)  +  penalty/2 |W|^2
//
// for a convex differentiable loss, with L-BFGS of gonum/optimize in float64. Package dap
// fits classifiers of attributes and classes with it, package synclassifier those that
// SynC combines. Scoring is baseline.Project.
package linear

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Objective is the function to minimise. Exactly one of Each and Joint is set; both are
// called by several goroutines.
type Objective struct {
	X       dataset.Matrix[float32] // shared, never written
	Rows    []int                   // the rows of X to fit to, at least one
	Unit    bool                    // scale samples to length 1
	Bias    bool                    // fit biases, which are not penalised
	Outputs int                     // K
	Penalty float64                 // above 0
	// Curvature, above 0, is about the second derivative of the loss by a score. It changes
	// the number of steps, not the minimum.
	Curvature float64

	// Each returns the loss of one score of a sample, and its derivative. The outputs
	// are then independent problems.
	Each func(sample, output int, score float64) (loss, slope float64)
	// Joint returns the loss of the K scores of a sample, and replaces them by its
	// gradient.
	Joint func(sample int, scores []float64) (loss float64)
}

// Classifiers are the minimum of an objective.
type Classifiers struct {
	W    dataset.Matrix[float64] // K x D
	B    []float64               // K, zeros without biases
	Loss float64                 // mean over samples, without the penalty
}

// Minimise returns the minimum, starting from zeros. It is not random. The error is a
// *model.NotFinite if the loss at the start is not finite; others name the output that did
// not converge.
//
// Each independent output has its own optimiser and number of steps; the evaluations of
// all optimisers are batched into matrix products.
func (o Objective) Minimise() (*Classifiers, error) {
	e := newEvaluator(o)
	size := o.Outputs // of one optimiser
	if o.Joint == nil {
		size = 1
	}
	c := &Classifiers{W: dataset.NewMatrix[float64](o.Outputs, o.X.Cols), B: make([]float64, o.Outputs)}
	precondition, err := newPreconditioner(e)
	if err != nil {
		return nil, err
	}
	for _, opt := range optimise(e, precondition, size) {
		if opt.err != nil {
			return nil, opt.err
		}
		c.Loss += opt.found.F
		precondition.weights(opt.found.X)
		for j := range size {
			row := opt.found.X[j*e.width : (j+1)*e.width]
			w := c.W.Row(opt.first + j)
			copy(w, row)
			if o.Bias { // row is for centred samples
				c.B[opt.first+j] = row[o.X.Cols] - floats.Dot(e.mean, w)
			}
		}
	}
	c.Loss -= o.Penalty / 2 * floats.Dot(c.W.Data, c.W.Data)
	return c, nil
}

// Store copies the classifiers into the matrices of a model: W as D x K, and the biases as
// 1 x K unless b is empty.
func (c *Classifiers) Store(w, b dataset.Matrix[float32]) {
	for k := range w.Cols {
		for d, v := range c.W.Row(k) {
			w.Row(d)[k] = float32(v)
		}
	}
	for k := range b.Data {
		b.Data[k] = float32(c.B[k])
	}
}

// blockSize is the number of samples evaluated at a time.
const blockSize = 256

// evaluator computes an objective and its gradient. A classifier is a row of width
// numbers: its D weights and, with Bias, its bias.
type evaluator struct {
	Objective
	width  int
	mean   []float64               // D: of the samples with Bias, else zeros
	block  dataset.Matrix[float64] // samples x width
	scores []float64               // samples x outputs, then the derivatives by them
	losses []float64               // samples x outputs
}

func newEvaluator(o Objective) *evaluator {
	n, width := min(blockSize, len(o.Rows)), o.X.Cols
	if o.Bias {
		width++
	}
	e := &evaluator{
		Objective: o, width: width, mean: make([]float64, o.X.Cols),
		block:  dataset.NewMatrix[float64](n, width),
		scores: make([]float64, n*o.Outputs), losses: make([]float64, n*o.Outputs),
	}
	if o.Bias {
		e.mean = e.meanSample()
	}
	return e
}

func (e *evaluator) meanSample() []float64 {
	mean := make([]float64, e.X.Cols)
	for part := range slices.Chunk(e.Rows, blockSize) {
		e.gather(part)
		for i := range part {
			floats.Add(mean, e.block.Row(i)[:e.X.Cols])
		}
	}
	floats.Scale(1/float64(len(e.Rows)), mean)
	return mean
}

// gather copies samples into the block. With Bias, samples are centred, on which L-BFGS
// converges in fewer steps, and end in a one.
func (e *evaluator) gather(rows []int) {
	parallel.For(len(rows), 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := e.block.Row(i)
			x := to[:e.X.Cols]
			for d, v := range e.X.Row(rows[i]) {
				x[d] = float64(v)
			}
			if e.Unit {
				if length := floats.Norm(x, 2); length > 0 {
					floats.Scale(1/length, x)
				}
			}
			floats.Sub(x, e.mean)
			if e.Bias {
				to[e.X.Cols] = 1
			}
		}
	})
}

// evaluate computes the losses of some outputs with the classifiers w, outputs x width,
// and their gradient. A Joint loss is evaluated for all outputs, and is the first of
// losses.
func (e *evaluator) evaluate(outputs []int, w, gradient, losses []float64) {
	k, b := len(outputs), blas64.Implementation()
	clear(gradient)
	clear(losses)
	done := 0
	for part := range slices.Chunk(e.Rows, blockSize) {
		n := len(part)
		e.gather(part)
		b.Dgemm(blas.NoTrans, blas.Trans, n, k, e.width, 1, e.block.Data, e.width, w, e.width, 0, e.scores, k)
		parallel.For(n, 1+4096/k, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				e.sample(done+i, outputs, e.scores[i*k:(i+1)*k], e.losses[i*k:(i+1)*k])
			}
		})
		for i := range n {
			floats.Add(losses, e.losses[i*k:(i+1)*k])
		}
		b.Dgemm(blas.Trans, blas.NoTrans, k, e.width, n, 1, e.scores, k, e.block.Data, e.width, 1, gradient, e.width)
		done += n
	}
	floats.Scale(1/float64(len(e.Rows)), losses)
	floats.Scale(1/float64(len(e.Rows)), gradient)
	for i := range losses {
		weights := w[i*e.width : i*e.width+e.X.Cols]
		floats.AddScaled(gradient[i*e.width:i*e.width+e.X.Cols], e.Penalty, weights)
		of := i
		if e.Joint != nil {
			of = 0
		}
		losses[of] += e.Penalty / 2 * floats.Dot(weights, weights)
	}
}

// sample writes the losses of a sample, and replaces the scores by the derivatives.
func (e *evaluator) sample(sample int, outputs []int, scores, losses []float64) {
	if e.Joint != nil {
		clear(losses)
		losses[0] = e.Joint(sample, scores)
		return
	}
	for i, k := range outputs {
		losses[i], scores[i] = e.Each(sample, k, scores[i])
	}
}
