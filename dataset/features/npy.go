package features

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
)

// npyFile reads the rows of a NumPy array of two dimensions.
type npyFile struct {
	file   *input.File
	header npy.Header
	values npyValues
	next   int // row
	buffer []byte
	column []float32 // of a tile, in Fortran order
}

const (
	bufferSize = 1 << 18
	// tileRows is how many rows are read at a time in Fortran order: so few that
	// the lines of memory that hold one column of them stay in the fastest cache
	// while the next columns are written beside it.
	tileRows = 512
)

func openNPY(ctx context.Context, path string) (s *npyFile, err error) {
	f, err := input.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	size, regular := f.Size()
	if !regular {
		return nil, &invalid.Error{Where: path, Want: "a regular file", Got: "a pipe, device or folder"}
	}
	h, err := npy.ReadHeader(f, path)
	if err != nil {
		return nil, err
	}
	v, err := valuesOf(h, path)
	if err != nil {
		return nil, err
	}
	if err := checkSize(h, v.width, size-h.Offset, path); err != nil {
		return nil, err
	}
	return &npyFile{file: f, header: h, values: v, buffer: make([]byte, bufferSize)}, nil
}

// checkSize checks that the file has just the values that the header promises, of at
// least one sample; size is what comes behind the header.
func checkSize(h npy.Header, width int, size int64, file string) error {
	e := &invalid.Error{Where: file, Field: "shape", Got: h.Shape.String()}
	switch {
	case len(h.Shape) != 2:
		e.Want = "samples x D (of more dimensions, x.reshape(len(x), -1) makes two)"
	case h.Shape[0] < 1 || h.Shape[1] < 1:
		e.Want = "at least one sample and one value"
	case !h.Fits(size, width):
		e.Field, e.Want = "size", fmt.Sprintf("%v values of %d bytes behind the header", h.Shape, width)
		e.Got = fmt.Sprintf("%d bytes", size)
	default:
		return nil
	}
	return e
}

func (s *npyFile) Rows() int    { return s.header.Shape[0] }
func (s *npyFile) Cols() int    { return s.header.Shape[1] }
func (s *npyFile) Close() error { return s.file.Close() }

func (s *npyFile) read(block dataset.Matrix[float32]) (int, error) {
	if s.next == s.Rows() {
		return 0, io.EOF
	}
	n := min(block.Rows, s.Rows()-s.next)
	x := dataset.Matrix[float32]{Rows: n, Cols: block.Cols, Data: block.Data[:n*block.Cols]}
	load := s.loadRows
	if s.header.Fortran {
		load = s.loadColumns
	}
	if err := load(x); err != nil {
		return 0, fileError(s.file.Name(), err)
	}
	if i := firstNotFinite(x); i >= 0 {
		err := notFinite(s.file.Name(), s.next+i, x.Row(i))
		s.next += i + 1
		return i, err
	}
	s.next += n
	return n, nil
}

// loadRows fills x with the next rows of an array in C order.
func (s *npyFile) loadRows(x dataset.Matrix[float32]) error {
	return s.load(x.Data, int64(s.next)*int64(s.Cols()))
}

// loadColumns fills x with the next rows of an array in Fortran order, which has
// them column by column.
func (s *npyFile) loadColumns(x dataset.Matrix[float32]) error {
	if s.column == nil {
		s.column = make([]float32, tileRows)
	}
	for top := 0; top < x.Rows; top += tileRows {
		tile := s.column[:min(tileRows, x.Rows-top)]
		for j := range x.Cols {
			if err := s.load(tile, int64(j)*int64(s.Rows())+int64(s.next+top)); err != nil {
				return err
			}
			for i, v := range tile {
				x.Data[(top+i)*x.Cols+j] = v
			}
		}
	}
	return nil
}

// load fills dst with the values of the file from the given one on.
func (s *npyFile) load(dst []float32, from int64) error {
	width := s.values.width
	at := s.header.Offset + from*int64(width)
	for len(dst) > 0 {
		n := min(len(dst), len(s.buffer)/width)
		raw := s.buffer[:n*width]
		if got, err := s.file.ReadAt(raw, at); got < len(raw) {
			// The file had the size when it was opened.
			return fmt.Errorf("%d bytes at byte %d, of %d: %w", got, at, len(raw), err)
		}
		s.values.convert(dst[:n], raw)
		dst = dst[n:]
		at += int64(len(raw))
	}
	return nil
}
