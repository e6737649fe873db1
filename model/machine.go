package model

import (
	"fmt"
	"math"
	"sync"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// building keeps graphs from being built at the same time: Gorgonia shares
// constants between them. Running them side by side is safe.
var building sync.Mutex

// Learnable is a parameter and, after a step, its gradient, in the form in which
// a gorgonia.Solver takes them.
type Learnable struct{ value, grad *G.Node }

// Value returns the parameter.
func (l Learnable) Value() G.Value { return l.value.Value() }

// Grad returns the gradient of the last step. It is not a sum over steps, as the
// dual values of Gorgonia are.
func (l Learnable) Grad() (G.Value, error) {
	if l.grad.Value() == nil {
		return nil, fmt.Errorf("model: %s has no gradient before the first step", l.value.Name())
	}
	return l.grad.Value(), nil
}

// NotFinite says that a term of the loss is infinite or no number.
type NotFinite struct {
	Term  string // as in Terms
	Value float64
}

func (e *NotFinite) Error() string { return fmt.Sprintf("the term %s is %g", e.Term, e.Value) }

// finite returns a *NotFinite for the first term that is not.
func (t Terms) finite() error {
	for _, term := range []struct {
		name  string
		value float64
	}{{"cxe", t.CXE}, {"bxe", t.BXE}, {"w2", t.W2}, {"wu2", t.WU2}, {"prior", t.Prior}} {
		if math.IsNaN(term.value) || math.IsInf(term.value, 0) {
			return &NotFinite{term.name, term.value}
		}
	}
	return nil
}

// Batch is the memory that a machine reads at each step.
type Batch[T Float] struct {
	X dataset.Matrix[T] // the rows of the samples: features for W, detections for V
	y dataset.Matrix[T] // one row a sample, a one at its class
}

func newBatch[T Float](samples, width, classes int) Batch[T] {
	return Batch[T]{X: dataset.NewMatrix[T](samples, width), y: dataset.NewMatrix[T](samples, classes)}
}

// Label says which of the classes at hand each sample is of. Fewer labels than
// the batch has rows leave the last rows out of the loss.
func (b *Batch[T]) Label(classes ...int) {
	clear(b.y.Data)
	for i, z := range classes {
		b.y.Row(i)[z] = 1
	}
}

// Problem is what a machine is compiled for.
type Problem struct {
	Config   Config
	Classes  *Description // the classes at hand
	Semantic []int        // the group of each attribute, nil where the data set names none
	Batch    int          // samples a step
}

// check returns K.
func (p Problem) check(attributes int) (int, error) {
	if err := p.Config.Check(); err != nil {
		return 0, err
	}
	if p.Batch < 1 {
		return 0, &invalid.Error{Field: "batch", Want: "at least 1 sample", Got: fmt.Sprint(p.Batch)}
	}
	if attributes != p.Classes.U.Cols {
		return 0, &invalid.Error{Field: "descriptions", Want: fmt.Sprintf("%d attributes, as many as there are detectors", attributes), Got: fmt.Sprint(p.Classes.U.Cols)}
	}
	k, _, err := p.Config.groups(attributes, p.Semantic)
	return k, err
}

// compile builds a graph and makes a machine of it.
func compile(build func(g *G.ExprGraph) error) (G.VM, error) {
	building.Lock()
	defer building.Unlock()
	g := G.NewGraph()
	if err := build(g); err != nil {
		return nil, fmt.Errorf("model: building the graph: %w", err)
	}
	return G.NewTapeMachine(g), nil
}

// learnables pairs parameters with their gradients.
func learnables(loss *G.Node, params ...*G.Node) ([]G.ValueGrad, error) {
	grads, err := G.Grad(loss, params...)
	if err != nil {
		return nil, err
	}
	pairs := make([]G.ValueGrad, len(params))
	for i, p := range params {
		pairs[i] = Learnable{p, grads[i]}
	}
	return pairs, nil
}

func runOnce(vm G.VM) error {
	vm.Reset()
	if err := vm.RunAll(); err != nil {
		return fmt.Errorf("model: running the graph: %w", err)
	}
	return nil
}

// scalar is the value of the node of a term.
func scalar[T Float](n *G.Node) float64 { return float64(values[T](n.Value())[0]) }
