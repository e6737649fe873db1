package model

import (
	"fmt"
	"sync"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/internal/invalid"
)

// building serialises the building of graphs: Gorgonia shares constants between them.
// Graphs run in parallel safely.
var building sync.Mutex

// compile builds a graph and makes a machine of it.
func compile(build func(g *G.ExprGraph) error) (G.VM, error) {
	building.Lock()
	defer building.Unlock()
	g := G.NewGraph()
	if err := build(g); err != nil {
		return nil, fmt.Errorf("building the graph: %w", err)
	}
	return G.NewTapeMachine(g), nil
}

func runOnce(vm G.VM) error {
	vm.Reset()
	if err := vm.RunAll(); err != nil {
		return fmt.Errorf("running the graph: %w", err)
	}
	return nil
}

// scalar returns the value of a scalar node.
func scalar[T Float](n *G.Node) float64 { return float64(values[T](n.Value())[0]) }

// Batch is the memory that a machine reads at each step.
type Batch[T Float] struct {
	X dataset.Matrix[T] // one sample per row: features for W, detections for V
	y dataset.Matrix[T] // samples x classes, a one at the class of each sample
}

func newBatch[T Float](samples, width, classes int) (Batch[T], error) {
	if samples < 1 {
		return Batch[T]{}, &invalid.Error{Field: "batch", Want: "at least 1 sample", Got: fmt.Sprint(samples)}
	}
	return Batch[T]{X: dataset.NewMatrix[T](samples, width), y: dataset.NewMatrix[T](samples, classes)}, nil
}

// Label sets the candidate class of each sample. With fewer labels than the batch has
// rows, the last rows do not count in the loss.
func (b *Batch[T]) Label(classes ...int) {
	clear(b.y.Data)
	for i, z := range classes {
		b.y.Row(i)[z] = 1
	}
}

// Learnable is a parameter and, after a step, its gradient. It is a gorgonia.ValueGrad,
// as a gorgonia.Solver takes it.
type Learnable struct{ value, grad *G.Node }

// Value returns the parameter.
func (l Learnable) Value() G.Value { return l.value.Value() }

// Grad returns the gradient of the last step. It does not add up over steps, as the dual
// values of Gorgonia do.
func (l Learnable) Grad() (G.Value, error) {
	if l.grad.Value() == nil {
		return nil, fmt.Errorf("%s has no gradient before the first step", l.value.Name())
	}
	return l.grad.Value(), nil
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

// NotFinite is the error of a training step whose numbers left the range of float32.
type NotFinite struct {
	Term  string // of the loss, as in Terms, or W, b or V
	Value float64
}

func (e *NotFinite) Error() string { return fmt.Sprintf("%s is %g", e.Term, e.Value) }

// finite returns a *NotFinite for the first term that is NaN or infinite.
func (t Terms) finite() error {
	values := []float64{t.CXE, t.BXE, t.W2, t.WU2, t.Prior}
	if i := finite.Index(values); i >= 0 {
		return &NotFinite{[]string{"cxe", "bxe", "w2", "wu2", "prior"}[i], values[i]}
	}
	return nil
}
