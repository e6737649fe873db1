package features

import (
	"context"
	"fmt"
	"io"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/invalid"
)

// variable is the variable of a MAT-file that is read.
const variable = "features"

// inMemory gives the rows of a matrix.
type inMemory struct {
	file string
	x    dataset.Matrix[float32]
	next int // row
}

// openMAT reads a D x samples matrix, which column by column is a samples x D one
// row by row.
func openMAT(ctx context.Context, path string) (*inMemory, error) {
	vars, err := matlab.Read(ctx, path, variable)
	if err != nil {
		return nil, err
	}
	a := vars[variable]
	if len(a.Dims) != 2 || len(a.Float32) == 0 {
		return nil, &invalid.Error{
			Where: path, Field: variable, Want: "numbers for D dimensions x samples, at least one of each",
			Got: fmt.Sprintf("%v of %v", a.Class, a.Dims),
		}
	}
	return &inMemory{file: path, x: dataset.Matrix[float32]{Rows: a.Dims[1], Cols: a.Dims[0], Data: a.Float32}}, nil
}

func (s *inMemory) Rows() int    { return s.x.Rows }
func (s *inMemory) Cols() int    { return s.x.Cols }
func (s *inMemory) Close() error { return nil }

func (s *inMemory) read(block dataset.Matrix[float32]) (int, error) {
	if s.next == s.Rows() {
		return 0, io.EOF
	}
	n := min(block.Rows, s.Rows()-s.next)
	for i := range n {
		row := s.x.Row(s.next)
		s.next++
		if !dataset.AllFinite(row) {
			return i, notFinite(s.file, s.next-1, row)
		}
		copy(block.Row(i), row)
	}
	return n, nil
}
