package features

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// finite is what every value must be.
const finite = "a finite number in the range of float32"

// RowError says that the values of one row can't be used. The reader is then behind
// that row: who wants to know of all such rows reads on.
type RowError struct {
	Row int            // from 0; a line of names is none
	Err *invalid.Error // names the file, and the line or row and column
}

func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap returns the *invalid.Error.
func (e *RowError) Unwrap() error { return e.Err }

// fileError says that a file could not be read; the system's error need not name
// the file a second time.
func fileError(path string, err error) error {
	var system *fs.PathError
	if errors.As(err, &system) {
		err = system.Err
	}
	return &invalid.Error{Where: path, Err: err}
}

// firstNotFinite returns the first of the rows that has a value which is not
// finite, or -1.
func firstNotFinite(x dataset.Matrix[float32]) int {
	for i := range x.Rows {
		if !dataset.AllFinite(x.Row(i)) {
			return i
		}
	}
	return -1
}

// notFinite says which values of row are not finite; rows are counted from 0, as
// NumPy does, and columns too.
func notFinite(file string, number int, row []float32) *RowError {
	j, n := dataset.NotFinite(row)
	e := &invalid.Error{
		Where: file, Field: fmt.Sprintf("row %d, column %d (from 0)", number, j), Want: finite, Got: fmt.Sprint(row[j]),
	}
	if n > 1 {
		e.Got = fmt.Sprintf("%s, and %d more such in this row", e.Got, n-1)
	}
	return &RowError{Row: number, Err: e}
}
