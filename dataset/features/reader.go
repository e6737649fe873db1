package features

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Reader reads the rows of a file of features in order. It must not be used by several
// goroutines at once.
type Reader struct {
	path string
	source
}

// source is one of the formats.
type source interface {
	// Rows returns the number of rows, -1 where only reading them shows it.
	Rows() int
	// Cols returns the number of values per row, at least 1.
	Cols() int
	// read fills the first rows of a block of Cols columns from the next rows of the
	// file. It returns fewer than the block has only at the end of the file or with an
	// error, and io.EOF where there are none left. After a *rowError, reading can go on
	// with the next row.
	read(block dataset.Matrix[float32]) (n int, err error)
	// Close closes the file.
	Close() error
}

// rowError reports a row whose values cannot be used.
type rowError struct{ cause *invalid.Error }

func (e *rowError) Error() string { return e.cause.Error() }

// Open opens a file of features by its extension: .npy, .csv or .mat, in any case.
// Errors are *invalid.Error, or the context's.
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

// Stdin reads CSV from standard input.
func Stdin(ctx context.Context) (*Reader, error) {
	f := input.Stdin(ctx)
	s, err := newCSV(f)
	if err != nil {
		return nil, err
	}
	return &Reader{f.Name(), s}, nil
}

// Read fills block from the next rows and returns how many it filled. These are fewer
// than the block has only at the end or with an error; at the end there are none, and the
// error is io.EOF. A block with other than Cols columns is an error.
func (r *Reader) Read(block dataset.Matrix[float32]) (n int, err error) {
	if block.Cols != r.Cols() {
		return 0, &invalid.Error{
			Where: r.path, Field: "features", Want: fmt.Sprintf("%d of each sample", block.Cols), Got: fmt.Sprint(r.Cols()),
		}
	}
	n, err = r.read(block)
	if row := (*rowError)(nil); errors.As(err, &row) {
		err = row.cause
	}
	return n, err
}

// ReadAll returns all rows of a file that Open opens, which must be a regular file. If
// rows cannot be used, the error joins those of the first few and the number of others,
// and the matrix has a size but no values.
func ReadAll(ctx context.Context, path string) (x dataset.Matrix[float32], err error) {
	f, _, err := input.OpenRegular(ctx, path) // rows from a pipe might never end
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return x, err
	}
	r, err := Open(ctx, path)
	if err != nil {
		return x, err
	}
	defer func() { _ = r.Close() }() // nothing was written
	x.Cols = r.Cols()
	rows := r.Rows()
	if rows < 0 {
		const bytes = 1 << 20
		rows = max(1, bytes/4/x.Cols)
	}
	var bad invalid.List
	skipped := 0
	block := dataset.NewMatrix[float32](rows, x.Cols)
	for {
		n, err := r.read(block)
		var row *rowError
		switch {
		case errors.As(err, &row):
			bad.Add("row", row.cause)
			skipped++
		case err == io.EOF && skipped > 0:
			return dataset.Matrix[float32]{Rows: x.Rows + skipped, Cols: x.Cols}, bad.Err()
		case err == io.EOF:
			if csv, ok := r.source.(*csvFile); ok {
				return x, csv.checkIndex(x)
			}
			return x, nil
		case err != nil:
			bad.AddError(err)
			return dataset.Matrix[float32]{}, bad.Err()
		}
		if x.Data == nil && n == r.Rows() {
			x = block // all rows at once, which need not be copied
			continue
		}
		x.Rows += n
		x.Data = append(x.Data, block.Data[:n*x.Cols]...)
	}
}

// ReadRow returns one row of a file, counted from 0, as a matrix of one row of cols
// columns. Rows before it may be unusable.
func ReadRow(ctx context.Context, path string, row, cols int) (x dataset.Matrix[float32], err error) {
	r, err := Open(ctx, path)
	if err != nil {
		return x, err
	}
	defer func() { _ = r.Close() }() // nothing was written
	x = dataset.NewMatrix[float32](1, cols)
	if r.Cols() != cols {
		_, err := r.Read(x)
		return x, err
	}
	for i := 0; ; i++ {
		_, err := r.read(x)
		var wrong *rowError
		switch {
		case err == io.EOF:
			return x, &invalid.Error{Where: path, Field: "row", Want: fmt.Sprintf("0 to %d, counted from 0", i-1), Got: strconv.Itoa(row)}
		case errors.As(err, &wrong) && i < row:
		case wrong != nil:
			return x, wrong.cause
		case err != nil || i == row:
			return x, err
		}
	}
}

// finiteNumber describes the values that are accepted.
const finiteNumber = "a finite number in the range of float32"

// checkRows returns the first row of x with a value that is not finite, as the number of
// rows before it and a *rowError. first is the number of row 0 in the file.
func checkRows(file string, first int, x dataset.Matrix[float32]) (int, error) {
	for i := range x.Rows {
		if finite.All(x.Row(i)) {
			continue
		}
		j, n := dataset.NotFinite(x.Row(i))
		e := &invalid.Error{
			Where: file, Field: fmt.Sprintf("row %d, column %d (from 0)", first+i, j), Want: finiteNumber, Got: fmt.Sprint(x.Row(i)[j]),
		}
		if n > 1 {
			e.Got = fmt.Sprintf("%s, and %d more in this row", e.Got, n-1)
		}
		return i, &rowError{e}
	}
	return x.Rows, nil
}
