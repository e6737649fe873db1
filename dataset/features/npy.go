package features

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lago-train/lago-train/dataset"
)

// npy reads the rows of a NumPy array of two dimensions.
type npy struct {
	file *os.File
	npyHeader
	offset int64 // of the first value
	next   int   // row
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

func openNPY(path string) (s *npy, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, fileError(path, err)
	}
	h, offset, err := readNPYHeader(f, path)
	if err != nil {
		return nil, err
	}
	if err := h.fits(info.Size()-offset, path); err != nil {
		return nil, err
	}
	return &npy{file: f, npyHeader: h, offset: offset, buffer: make([]byte, bufferSize)}, nil
}

func (s *npy) Rows() int    { return s.shape[0] }
func (s *npy) Cols() int    { return s.shape[1] }
func (s *npy) Close() error { return s.file.Close() }

func (s *npy) read(block dataset.Matrix[float32]) (int, error) {
	if s.next == s.Rows() {
		return 0, io.EOF
	}
	n := min(block.Rows, s.Rows()-s.next)
	x := dataset.Matrix[float32]{Rows: n, Cols: block.Cols, Data: block.Data[:n*block.Cols]}
	load := s.loadRows
	if s.fortran {
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
func (s *npy) loadRows(x dataset.Matrix[float32]) error {
	return s.load(x.Data, int64(s.next)*int64(s.Cols()))
}

// loadColumns fills x with the next rows of an array in Fortran order, which has
// them column by column.
func (s *npy) loadColumns(x dataset.Matrix[float32]) error {
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
func (s *npy) load(dst []float32, from int64) error {
	width := s.values.width
	at := s.offset + from*int64(width)
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
