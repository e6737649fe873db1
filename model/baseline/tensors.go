package baseline

import (
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Tensor is a named matrix of a model or of a learner's state.
type Tensor struct {
	Name   string
	Matrix dataset.Matrix[float32]
}

// Tensors are several, by unique names.
type Tensors []Tensor

// Get returns the matrix of a name, which must have the given sizes; -1 stands for
// any above 0.
func (t Tensors) Get(name string, rows, cols int) (dataset.Matrix[float32], error) {
	i := slices.IndexFunc(t, func(t Tensor) bool { return t.Name == name })
	want := fmt.Sprintf("a matrix of %s x %s", size(rows), size(cols))
	if i < 0 {
		return dataset.Matrix[float32]{}, &invalid.Error{Field: name, Want: want, Got: fmt.Sprint("none")}
	}
	m := t[i].Matrix
	fits := func(want, got int) bool { return got == want || want < 0 && got > 0 }
	if !fits(rows, m.Rows) || !fits(cols, m.Cols) || len(m.Data) != m.Rows*m.Cols {
		return m, &invalid.Error{Field: name, Want: want, Got: fmt.Sprint(fmt.Sprintf("%d x %d", m.Rows, m.Cols))}
	}
	return m, nil
}

func size(n int) string {
	if n < 0 {
		return "any"
	}
	return fmt.Sprint(n)
}
