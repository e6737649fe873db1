package linear

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/optimize"

	"github.com/lago-train/lago-train/internal/numeric"
	"github.com/lago-train/lago-train/model"
)

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

// optimiser minimises over the classifiers of consecutive outputs.
type optimiser struct {
	first    int       // of the outputs
	at       []float64 // the point evaluated last, with its loss and gradient: see preconditioner
	loss     float64
	gradient []float64

	requests  chan<- *optimiser // evaluation at the classifiers at
	evaluated chan struct{}

	found optimize.Location
	err   error
}

// optimise runs an optimiser for each group of consecutive outputs of the given size.
func optimise(e *evaluator, p *preconditioner, size int) []*optimiser {
	b := &batcher{evaluator: e, precondition: p, size: size, requests: make(chan *optimiser), done: make(chan struct{})}
	all := make([]*optimiser, e.Outputs/size)
	for i := range all {
		o := &optimiser{first: i * size, gradient: make([]float64, size*e.width), requests: b.requests, evaluated: make(chan struct{})}
		all[i] = o
		go func() {
			o.err = o.run()
			b.done <- struct{}{}
		}()
	}
	for running := len(all); running > 0; {
		running = b.round(running)
	}
	return all
}

func (o *optimiser) run() error {
	start := make([]float64, len(o.gradient))
	o.evaluate(start)
	steepest := floats.Norm(o.gradient, math.Inf(1))
	if sum := o.loss + floats.Sum(o.gradient); !numeric.Finite(sum) {
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
		return fmt.Errorf("the classifier of output %d did not converge, its gradient is %.2g of that at the start: %w", o.first, g, err)
	}
	return nil
}

// evaluate sets loss and gradient for x. L-BFGS requests the gradient after the loss.
func (o *optimiser) evaluate(x []float64) {
	if slices.Equal(x, o.at) {
		return
	}
	o.at = append(o.at[:0], x...)
	o.requests <- o
	<-o.evaluated
}

// batcher evaluates the requests of all running optimisers together.
type batcher struct {
	*evaluator
	precondition *preconditioner

	size     int // outputs of an optimiser
	requests chan *optimiser
	done     chan struct{}

	waiting             []*optimiser
	outputs             []int
	w, gradient, losses []float64
}

// round waits until each of the running optimisers has a request or is done, evaluates
// the requests, and returns how many optimisers are running. Requests are evaluated in
// the order of the outputs, so that the result does not depend on which came first.
func (b *batcher) round(running int) int {
	b.waiting = b.waiting[:0]
	for len(b.waiting) < running {
		select {
		case o := <-b.requests:
			b.waiting = append(b.waiting, o)
		case <-b.done:
			running--
		}
	}
	if running == 0 {
		return 0
	}
	slices.SortFunc(b.waiting, func(a, b *optimiser) int { return cmp.Compare(a.first, b.first) })
	b.outputs, b.w = b.outputs[:0], b.w[:0]
	for _, o := range b.waiting {
		for j := range b.size {
			b.outputs = append(b.outputs, o.first+j)
		}
		b.w = append(b.w, o.at...)
	}
	b.gradient = slices.Grow(b.gradient[:0], len(b.w))[:len(b.w)]
	b.losses = slices.Grow(b.losses[:0], len(b.outputs))[:len(b.outputs)]

	b.precondition.weights(b.w)
	b.evaluate(b.outputs, b.w, b.gradient, b.losses)
	b.precondition.gradient(b.gradient)
	for i, o := range b.waiting {
		o.loss = b.losses[i*b.size]
		copy(o.gradient, b.gradient[i*b.size*b.width:])
		o.evaluated <- struct{}{}
	}
	return running
}

// preconditioner changes the variables of the optimisers from a classifier w to v = U w,
// where U'U is the Hessian if every score has the curvature of the objective:
//
//	U'U = curvature X'X / n + penalty I.
//
// Features of networks are correlated: in these variables L-BFGS takes a fraction of the
// steps.
type preconditioner struct {
	factor blas64.Triangular // U, width x width
}

// jitter is added to the diagonal, relative to its mean, so that the factorisation of
// finite numbers does not fail by rounding.
const jitter = 1e-10

// newPreconditioner returns a *model.NotFinite if the squares of features are not finite.
func newPreconditioner(e *evaluator) (*preconditioner, error) {
	h := blas64.Symmetric{N: e.width, Stride: e.width, Data: make([]float64, e.width*e.width), Uplo: blas.Upper}
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
	factor, ok := lapack64.Potrf(h)
	if !ok {
		return nil, &model.NotFinite{Term: "loss", Value: mean}
	}
	return &preconditioner{factor}, nil
}

// weights replaces points of the optimisers, rows of width numbers, by classifiers.
func (p *preconditioner) weights(v []float64) { p.solve(blas.Trans, v) }

// gradient replaces gradients by classifiers by those by the points of the optimisers.
func (p *preconditioner) gradient(g []float64) { p.solve(blas.NoTrans, g) }

// solve multiplies rows by the inverse of U or of its transpose, from the right.
func (p *preconditioner) solve(t blas.Transpose, rows []float64) {
	n := p.factor.N
	blas64.Implementation().Dtrsm(blas.Right, blas.Upper, t, blas.NonUnit, len(rows)/n, n, 1, p.factor.Data, n, rows, n)
}
