package features

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Reader gives the rows of a file of features in their order. It is not for use by
// several goroutines at once.
type Reader struct {
	path string
	source
}

// source is one of the formats.
type source interface {
	// Rows returns how many rows there are, -1 where only reading them tells.
	Rows() int
	// Cols returns how many values a row has, at least 1.
	Cols() int
	// read fills the first rows of a block of Cols columns from the next rows of
	// the file. It returns fewer than the block has only at the end of the file or
	// with an error, and io.EOF where there are none left.
	read(block dataset.Matrix[float32]) (n int, err error)
	// Close closes the file.
	Close() error
}

// Open opens a file of features by the ending of its name: .npy, .csv or .mat, in
// any case. Errors are of type *invalid.Error, or *matlab.Error where a .mat can't
// be decoded.
func Open(ctx context.Context, path string) (*Reader, error) {
	var s source
	var err error
	switch ext := filepath.Ext(path); strings.ToLower(ext) {
	case ".npy":
		s, err = openNPY(ctx, path)
	case ".csv":
		s, err = openCSV(ctx, path)
	case ".mat":
		s, err = openMAT(ctx, path)
	default:
		err = &invalid.Error{Where: path, Want: "features in a file named .npy, .csv or .mat", Got: strconv.Quote(ext)}
	}
	if err != nil {
		return nil, err
	}
	return &Reader{path, s}, nil
}

// Stdin reads CSV from stdin.
func Stdin(ctx context.Context) (*Reader, error) {
	s, err := newCSV(input.Stdin(ctx))
	if err != nil {
		return nil, err
	}
	return &Reader{os.Stdin.Name(), s}, nil
}

// Read fills block from the next rows and returns how many it filled. These are
// fewer than the block has only at the end or with an error; at the end there are
// none, and the error is io.EOF. A block is as wide as the features are to be: one
// of other than Cols columns is an error, and nothing is read.
//
// A row whose values can't be used is a *RowError, behind which reading can go on;
// any other error is of the file as a whole.
func (r *Reader) Read(block dataset.Matrix[float32]) (n int, err error) {
	if block.Cols != r.Cols() {
		return 0, &invalid.Error{
			Where: r.path, Field: "features", Want: fmt.Sprintf("%d of each sample", block.Cols), Got: fmt.Sprint(r.Cols()),
		}
	}
	return r.read(block)
}

// ReadAll returns all rows of a file that Open takes. Where rows can't be used, the
// error joins those of the first few and the number of others, and the matrix has
// the right size but no meaning.
func ReadAll(ctx context.Context, path string) (x dataset.Matrix[float32], err error) {
	r, err := Open(ctx, path)
	if err != nil {
		return x, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.Rows() < 0 {
		return r.grow()
	}
	x = dataset.NewMatrix[float32](r.Rows(), r.Cols())
	rest := x
	return x, r.each(func(n int) dataset.Matrix[float32] {
		rest.Rows, rest.Data = rest.Rows-n, rest.Data[n*x.Cols:]
		return rest
	})
}

// grow reads all rows where only reading tells how many there are.
func (r *Reader) grow() (dataset.Matrix[float32], error) {
	const bytes = 1 << 20
	block := dataset.NewMatrix[float32](max(1, bytes/4/r.Cols()), r.Cols())
	x := dataset.Matrix[float32]{Cols: r.Cols()}
	err := r.each(func(n int) dataset.Matrix[float32] {
		x.Rows += n
		x.Data = append(x.Data, block.Data[:n*x.Cols]...)
		return block
	})
	return x, err
}

// each reads to the end, into blocks that next returns; it is told how many rows of
// the last one were filled. A row that can't be used counts as one of them.
func (r *Reader) each(next func(filled int) dataset.Matrix[float32]) error {
	var bad invalid.List
	n := 0
	for {
		var err error
		n, err = r.Read(next(n))
		var row *RowError
		switch {
		case errors.As(err, &row):
			bad.Add("row", row.Err)
			n++
		case err == io.EOF:
			return bad.Err()
		case err != nil:
			bad.AddError(err)
			return bad.Err()
		}
	}
}
