package features

import (
	"context"
	"io"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
)

// arrayFile is a file with a known number of rows, which can be read in any order.
type arrayFile struct {
	path       string
	rows, cols int
	load       func(row int, dst []float32) error // fills dst from the given row on
	close      func() error
	next       int // row
}

func openNPY(ctx context.Context, path string) (*arrayFile, error) {
	a, err := npy.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return &arrayFile{path: path, rows: a.Rows, cols: a.Cols, load: a.ReadRows, close: a.Close}, nil
}

// openMAT reads the variable features, D x samples, which column by column is samples x D
// row by row.
func openMAT(ctx context.Context, path string) (*arrayFile, error) {
	const variable = "features"
	vars, err := matlab.Read(ctx, path, variable)
	if err != nil {
		return nil, err
	}
	a := vars[variable]
	if len(a.Dims) != 2 || len(a.Float32) == 0 {
		return nil, &invalid.Error{Where: path, Field: variable, Want: "numbers for D dimensions x samples, at least one of each", Got: a.Size()}
	}
	cols := a.Dims[0]
	return &arrayFile{
		path: path, rows: a.Dims[1], cols: cols,
		load:  func(row int, dst []float32) error { copy(dst, a.Float32[row*cols:]); return nil },
		close: func() error { return nil },
	}, nil
}

func (s *arrayFile) Rows() int    { return s.rows }
func (s *arrayFile) Cols() int    { return s.cols }
func (s *arrayFile) Close() error { return s.close() }

func (s *arrayFile) read(block dataset.Matrix[float32]) (int, error) {
	if s.next == s.rows {
		return 0, io.EOF
	}
	n := min(block.Rows, s.rows-s.next)
	x := dataset.Matrix[float32]{Rows: n, Cols: s.cols, Data: block.Data[:n*s.cols]}
	if err := s.load(s.next, x.Data); err != nil {
		return 0, err
	}
	n, err := checkRows(s.path, s.next, x)
	s.next += n
	if err != nil {
		s.next++ // the row is skipped
	}
	return n, err
}

// WriteNPY writes features as a NumPy array of float32 in C order, samples x D, which
// Open reads unchanged. The file is written atomically.
func WriteNPY(path string, x dataset.Matrix[float32]) error {
	return atomicfile.Write(path, func(w io.Writer) error { return npy.Write(w, x.Rows, x.Cols, x.Data) })
}
