package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
)

// Nodes and ops for tests.
var (
	SoftAndOp32 = softAnd[float32]
	Constant    = variableMatrix[float64]
)

// Ratio is p(a_m | z) / p(a_m), M x Z.
func (d *Description) Ratio() dataset.Matrix[float64] {
	r := dataset.NewMatrix[float64](d.U.Cols, d.U.Rows)
	writeRatio(r, d.U, d.P)
	return r
}

// Loss is the value of the node of the loss.
func (m *Machine[T]) Loss() float64 { return float64(numbers[T](m.loss.Value())[0]) }

const fixed = "fixed in this phase"

// Dot draws the graph from the inputs to the loss, without the gradients, in the language of
// Graphviz: parameters that train are filled, constants dotted and values that are remembered
// for a phase dashed. letters are the names of sizes, notes what is said of inputs.
func (m *Machine[T]) Dot(name string, letters map[int]string, notes map[string]string) string {
	var dot strings.Builder
	fmt.Fprintf(&dot, "digraph %q {\n\tnode [shape=box, fontname=\"sans-serif\", fontsize=12, style=rounded]\n", name)
	trains, g, number := map[*G.Node]bool{}, m.loss.Graph(), map[int64]int{}
	for _, p := range m.learn {
		trains[p.(learnable).value] = true
	}
	var draw func(n *G.Node) int
	draw = func(n *G.Node) int {
		if i, done := number[n.ID()]; done {
			return i
		}
		var from []int
		for inputs := g.From(n.ID()); inputs.Next(); {
			from = append(from, draw(inputs.Node().(*G.Node)))
		}
		i := len(number)
		number[n.ID()] = i
		label, style := n.Name(), ""
		k, isKernel := n.Op().(*kernel)
		switch {
		case isKernel && k.remembered:
			label, style = k.name, `, style="rounded,dashed"`
		case isKernel:
			label = k.name
		case trains[n]:
			style = `, style="rounded,filled", fillcolor="#cfe2f3"`
		case n.Op() != nil && from == nil:
			style = `, style="rounded,dotted"`
		case n.Op() != nil: // one of Gorgonia's
			label = strings.NewReplacer(" false", "", "A × B", "×", "a ⋅ b", "⋅").Replace(fmt.Sprint(n.Op()))
			if what, size, found := strings.Cut(label, "="); found {
				number, _ := strconv.Atoi(size)
				label = what + " " + letters[number]
			}
		}
		var sizes []string
		for _, size := range n.Shape() {
			sizes = append(sizes, cmp.Or(letters[size], strconv.Itoa(size)))
		}
		if sizes != nil {
			label += "\n" + strings.Join(sizes, " x ")
		}
		if note, noted := notes[n.Name()]; noted && !isKernel {
			label += "\n" + note
			if note == fixed {
				style = `, style="rounded,dotted"`
			}
		}
		fmt.Fprintf(&dot, "\t%d [label=%q%s]\n", i, label, style)
		for _, f := range from {
			fmt.Fprintf(&dot, "\t%d -> %d\n", f, i)
		}
		return i
	}
	draw(m.loss)
	return dot.String() + "}\n"
}

// GroupScores returns G of one sample with the detections a, K x Z.
func (f *Forward[T]) GroupScores(a []T) dataset.Matrix[T] { return f.groupScores(a) }

// NewExplainer explains the grouping V.
var NewExplainer = newExplainer

// ClassCorrection returns e of a Correction.
func (f *Forward[T]) ClassCorrection(stored dataset.Matrix[T]) ([]float64, error) {
	l, err := f.scorer().scores(stored)
	return Correction{Kind: Subtract, Omega: 1}.adjustment(l, 0).shift, err
}

// NoneOfOp is Q of r without scale.
func NoneOfOp(r, gamma *G.Node) *G.Node {
	k := gamma.Shape()[1]
	unscaled := &noneOfClasses[float64]{detection: slices.Repeat([]float64{1}, k)}
	unscaled.node = variableMatrix(r.Graph(), "Uc, pc", matrix.New[float64](1, k))
	return noneOfDetections(r, gamma, unscaled)
}

// Corrected returns L of the detections a, corrected by stored ones with their centre 0, or with logs log p(z|x).
func (f *Forward[T]) Corrected(a, stored dataset.Matrix[T], c Correction, logs bool) (dataset.Matrix[T], error) {
	to, s := dataset.NewMatrix[T](a.Rows, f.z), f.scorer()
	l, err := s.scores(stored)
	if err != nil {
		return to, err
	}
	s.Logs, s.own = logs, c.adjustment(l, 0)
	return to, s.write(a, to, nil)
}
