package baseline

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Objective is what linear classifiers, W (K x D) and optional biases b (K), minimise:
//
//	mean over samples of loss(W x + b)  +  penalty/2 |W|^2
//
// for a convex differentiable loss. DAP fits classifiers of attributes, SynC those that it combines.
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

	// Loss returns the loss of one score of a sample, and its derivative. Several goroutines call it.
	Loss func(sample, output int, score float64) (loss, slope float64)
}

// Classifiers are the minimum of an objective.
type Classifiers struct {
	W    dataset.Matrix[float64] // K x D
	B    []float64               // K, zeros without biases
	Loss float64                 // mean over samples, without the penalty
}

// Minimise returns the minimum, starting from zeros. It is not random. The error is a *model.NotFinite if the
// loss at the start is not finite; others name the output that did not converge.
//
// Each output has its own optimiser and number of steps; the evaluations of all optimisers are batched into
// matrix products.
func (o Objective) Minimise() (*Classifiers, error) {
	if len(o.Rows) < o.X.Cols {
		return o.minimiseWide()
	}
	e := newEvaluator(o)
	if err := e.precondition(); err != nil {
		return nil, err
	}
	all := make([]*optimiser, o.Outputs)
	for k := range all {
		all[k] = newOptimiser(k, e.width)
	}
	for e.round(all) {
	}
	c := &Classifiers{W: dataset.NewMatrix[float64](o.Outputs, o.X.Cols), B: make([]float64, o.Outputs)}
	for k, opt := range all {
		if opt.err != nil {
			return nil, opt.err
		}
		c.Loss += opt.found.F
		e.solve(blas.Trans, opt.found.X)
		w := c.W.Row(k)
		copy(w, opt.found.X)
		if o.Bias { // the point found is for centred samples
			c.B[k] = opt.found.X[o.X.Cols] - floats.Dot(e.mean, w)
		}
	}
	c.Loss -= o.Penalty / 2 * floats.Dot(c.W.Data, c.W.Data)
	return c, nil
}

// minimiseWide is Minimise for fewer samples than dimensions. All classifiers at the minimum are combinations
// of the samples. Where XX' = LL', the rows of L are the samples in the coordinates of an orthonormal basis
// of these, X' L'^-1, and have as many dimensions as there are samples.
func (o Objective) minimiseWide() (*Classifiers, error) {
	n := len(o.Rows)
	a := preprocess.SamplesGram(o.X, o.Rows)
	scale := slices.Repeat([]float64{1}, n)
	for i := range scale {
		if v := a.At(i, i); o.Unit && v > 0 {
			scale[i] = 1 / math.Sqrt(v)
		}
	}
	least := jitter * mat.Trace(a) / float64(n)
	for i := range n {
		for j := i; j < n; j++ {
			v := a.At(i, j)
			if i == j {
				v += least
			}
			a.SetSym(i, j, scale[i]*scale[j]*v)
		}
	}
	u, ok := lapack64.Potrf(a.RawSymmetric()) // L = U'
	if !ok {
		return nil, &model.NotFinite{Term: "loss", Value: least}
	}
	x := dataset.NewMatrix[float32](n, n)
	for i := range n {
		for j := range i + 1 {
			x.Row(i)[j] = float32(u.Data[j*u.Stride+i])
		}
	}
	reduced := o
	reduced.X, reduced.Rows, reduced.Unit = x, x.AllRows(), false
	c, err := reduced.Minimise()
	if err != nil {
		return nil, err
	}
	v := blas64.General{Rows: c.W.Rows, Cols: n, Stride: n, Data: c.W.Data}
	blas64.Trsm(blas.Right, blas.Trans, 1, u, v)
	weights := mat.NewDense(n, c.W.Rows, nil)
	for i := range n {
		for k := range c.W.Rows {
			weights.Set(i, k, scale[i]*c.W.Row(k)[i])
		}
	}
	w := preprocess.Combine(o.X, o.Rows, weights)
	c.W = matrix.Of(mat.DenseCopyOf(w.T()).RawMatrix().Data, o.X.Cols)
	return c, nil
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
	factor blas64.Triangular       // U, width x width: see precondition
}

func newEvaluator(o Objective) *evaluator {
	n, width := min(blockSize, len(o.Rows)), o.X.Cols
	if o.Bias {
		width++
	}
	e := &evaluator{
		Objective: o, width: width, mean: make([]float64, o.X.Cols),
		block: dataset.NewMatrix[float64](n, width),
	}
	if o.Bias {
		sum := make([]float64, e.X.Cols)
		for part := range slices.Chunk(e.Rows, blockSize) {
			e.gather(part)
			for i := range part {
				floats.Add(sum, e.block.Row(i)[:e.X.Cols])
			}
		}
		floats.ScaleTo(e.mean, 1/float64(len(e.Rows)), sum)
	}
	return e
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

// evaluate computes the losses of some outputs with the classifiers w, outputs x width, and their gradient.
func (e *evaluator) evaluate(outputs []int, w []float64) (gradient, losses []float64) {
	k := len(outputs)
	gradient, losses = make([]float64, len(w)), make([]float64, k)
	done := 0
	for part := range slices.Chunk(e.Rows, blockSize) {
		e.gather(part)
		block := e.block.Slice(0, len(part))
		scores := matrix.Product(block, matrix.Of(w, e.width).T())
		sampled := matrix.New[float64](len(part), k) // losses
		parallel.For(len(part), 1+4096/k, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row, loss := scores.Row(i), sampled.Row(i)
				for j, output := range outputs { // the derivative replaces the score
					loss[j], row[j] = e.Loss(done+i, output, row[j])
				}
			}
		})
		for i := range part {
			floats.Add(losses, sampled.Row(i))
		}
		matrix.AddMul(matrix.Of(gradient, e.width), scores.T(), block)
		done += len(part)
	}
	floats.Scale(1/float64(len(e.Rows)), losses)
	floats.Scale(1/float64(len(e.Rows)), gradient)
	for i := range losses {
		weights := w[i*e.width : i*e.width+e.X.Cols]
		floats.AddScaled(gradient[i*e.width:i*e.width+e.X.Cols], e.Penalty, weights)
		losses[i] += e.Penalty / 2 * floats.Dot(weights, weights)
	}
	return gradient, losses
}

// When an optimiser has converged.
const (
	// gradientTolerance is relative to the gradient at the start.
	gradientTolerance = 1e-5
	// The loss falls by less than lossTolerance (relative) in patience steps.
	lossTolerance, patience = 1e-9, 10
	// maxSteps is the limit in the program of the authors of SynC.
	maxSteps = 1000
	// storedSteps is the number of steps that L-BFGS stores.
	storedSteps = 10
	// roundingTolerance: a line search that finds no lower loss is attributed to rounding
	// if the gradient, relative to that at the start, is smaller.
	roundingTolerance = 1e-2
)

type optimiser struct {
	output   int
	at       []float64 // the point evaluated last, with its loss and gradient: see precondition
	loss     float64
	gradient []float64

	requests  chan struct{} // for an evaluation at the classifiers at; closed at the end
	evaluated chan struct{}
	found     optimize.Location
	err       error
}

func newOptimiser(output, width int) *optimiser {
	o := &optimiser{
		output: output, gradient: make([]float64, width), requests: make(chan struct{}),
		evaluated: make(chan struct{}),
	}
	go func() {
		o.err = o.run()
		close(o.requests)
	}()
	return o
}

func (o *optimiser) run() error {
	start := make([]float64, len(o.gradient))
	o.evaluate(start)
	steepest := floats.Norm(o.gradient, math.Inf(1))
	if sum := o.loss + floats.Sum(o.gradient); !matrix.Finite(sum) {
		return &model.NotFinite{Term: "loss", Value: o.loss}
	}
	if steepest == 0 {
		o.found = optimize.Location{X: start, F: o.loss}
		return nil
	}
	result, err := optimize.Minimize(
		optimize.Problem{
			Func: func(x []float64) float64 { o.evaluate(x); return o.loss },
			Grad: func(to, x []float64) { o.evaluate(x); copy(to, o.gradient) },
		},
		start,
		&optimize.Settings{
			GradientThreshold: gradientTolerance * steepest,
			Converger:         &optimize.FunctionConverge{Relative: lossTolerance, Iterations: patience},
			MajorIterations:   maxSteps,
		},
		&optimize.LBFGS{Store: storedSteps, Linesearcher: &optimize.MoreThuente{}},
	)
	o.found = result.Location
	if g := floats.Norm(result.Gradient, math.Inf(1)) / steepest; err != nil && !(g < roundingTolerance) {
		const text = "the classifier of output %d did not converge, its gradient is %.2g " +
			"of that at the start: %w"
		return fmt.Errorf(text, o.output, g, err)
	}
	return nil
}

// evaluate sets loss and gradient for x. L-BFGS requests the gradient after the loss.
func (o *optimiser) evaluate(x []float64) {
	if !slices.Equal(x, o.at) {
		o.at = append(o.at[:0], x...)
		o.requests <- struct{}{}
		<-o.evaluated
	}
}

// round waits for the next request of each optimiser, and evaluates them together, in the
// order of the outputs. It reports false if all have ended.
func (e *evaluator) round(all []*optimiser) bool {
	var running []*optimiser
	var outputs []int
	var w []float64
	for _, o := range all {
		if _, ok := <-o.requests; ok {
			running, outputs, w = append(running, o), append(outputs, o.output), append(w, o.at...)
		}
	}
	if len(running) == 0 {
		return false
	}
	e.solve(blas.Trans, w)
	gradient, losses := e.evaluate(outputs, w)
	e.solve(blas.NoTrans, gradient)
	for i, o := range running {
		o.loss = losses[i]
		copy(o.gradient, gradient[i*e.width:])
		o.evaluated <- struct{}{}
	}
	return true
}

// jitter is added to the diagonal, relative to its mean, so that the factorisation of
// finite numbers does not fail by rounding.
const jitter = 1e-10

// precondition changes the variables of the optimisers from a classifier w to v = U w,
// where U'U is the Hessian if every score has the curvature of the objective:
//
//	U'U = curvature X'X / n + penalty I.
//
// Features of networks are correlated: in these variables L-BFGS takes a fraction of the
// steps. The error is a *model.NotFinite if the squares of features are not finite.
func (e *evaluator) precondition() error {
	h := mat.NewSymDense(e.width, nil).RawSymmetric()
	for part := range slices.Chunk(e.Rows, blockSize) {
		e.gather(part)
		x := blas64.General{Rows: len(part), Cols: e.width, Stride: e.width, Data: e.block.Data}
		blas64.Syrk(blas.Trans, e.Curvature/float64(len(e.Rows)), x, 1, h)
	}
	var mean float64
	for d := range e.width {
		mean += h.Data[d*e.width+d] / float64(e.width)
	}
	for d := range e.width {
		h.Data[d*e.width+d] += jitter * mean
		if d < e.X.Cols {
			h.Data[d*e.width+d] += e.Penalty
		}
	}
	var ok bool
	if e.factor, ok = lapack64.Potrf(h); !ok {
		return &model.NotFinite{Term: "loss", Value: mean}
	}
	return nil
}

// solve multiplies rows of width numbers by the inverse of U, or of its transpose, from the right: Trans
// makes classifiers of points of the optimisers, and NoTrans gradients by these of gradients by classifiers.
func (e *evaluator) solve(t blas.Transpose, rows []float64) {
	blas64.Implementation().Dtrsm(blas.Right, blas.Upper, t, blas.NonUnit, len(rows)/e.width, e.width, 1,
		e.factor.Data, e.width, rows, e.width)
}
