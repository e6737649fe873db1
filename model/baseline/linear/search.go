package linear

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"github.com/lago-train/lago-train/model"
)

// How far is far enough.
const (
	// flat is the steepest slope at the end, as a share of that at the start.
	flat = 1e-5
	// progress is by what share the loss falls at least in patience steps.
	progress, patience = 1e-9, 10
	// mostSteps is how many the program of the authors of SynC takes at most.
	mostSteps = 1000
	// memory is how many steps L-BFGS remembers.
	memory = 10
	// rounded is the slope, as a share of that at the start, from which on a line search
	// that finds no lower point is put down to rounding.
	rounded = 1e-2
)

// search is the optimisation of the classifiers of consecutive outputs.
type search struct {
	first    int // of the outputs
	at       []float64
	loss     float64   // where it is
	gradient []float64 // where it is

	ask      chan<- *search // for an evaluation where it is
	answered chan struct{}

	found optimize.Location
	err   error
}

// startSearches searches for classifiers in groups of some size, and returns when all
// are done.
func startSearches(o *objective, size int) []*search {
	r := &round{objective: o, size: size, asked: make(chan *search), done: make(chan struct{})}
	searches := make([]*search, o.Outputs/size)
	for i := range searches {
		s := &search{first: i * size, gradient: make([]float64, size*o.e), ask: r.asked, answered: make(chan struct{})}
		searches[i] = s
		go func() {
			s.err = s.run()
			r.done <- struct{}{}
		}()
	}
	for left := len(searches); left > 0; {
		left = r.play(left)
	}
	return searches
}

func (s *search) run() error {
	start := make([]float64, len(s.gradient))
	s.evaluate(start)
	steepest := floats.Norm(s.gradient, math.Inf(1))
	if sum := s.loss + floats.Sum(s.gradient); math.IsNaN(sum) || math.IsInf(sum, 0) {
		return &model.NotFinite{Term: "loss", Value: s.loss}
	}
	if steepest == 0 {
		s.found = optimize.Location{X: start, F: s.loss}
		return nil
	}
	result, err := optimize.Minimize(
		optimize.Problem{
			Func: func(x []float64) float64 { s.evaluate(x); return s.loss },
			Grad: func(to, x []float64) { s.evaluate(x); copy(to, s.gradient) },
		},
		start,
		&optimize.Settings{
			GradientThreshold: flat * steepest,
			Converger:         &optimize.FunctionConverge{Relative: progress, Iterations: patience},
			MajorIterations:   mostSteps,
		},
		&optimize.LBFGS{Store: memory, Linesearcher: &optimize.MoreThuente{}},
	)
	s.found = result.Location
	if slope := floats.Norm(result.Gradient, math.Inf(1)) / steepest; err != nil && !(slope < rounded) {
		return fmt.Errorf("linear: output %d, at %.2g of the slope of the start: %w", s.first, slope, err)
	}
	return nil
}

// evaluate goes to x and has the loss computed there. An optimiser asks for the gradient
// after the loss.
func (s *search) evaluate(x []float64) {
	if slices.Equal(x, s.at) {
		return
	}
	s.at = append(s.at[:0], x...)
	s.ask <- s
	<-s.answered
}
