package features

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"

	"github.com/lago-train/lago-train/internal/finite"
)

const withoutNames = "Write the file with to_csv(header=False, index=False)."

// csvFile reads the rows of numbers of a CSV file.
type csvFile struct {
	file   *input.File
	csv    *table.Reader
	cols   int
	peeked []float32 // the first row, until it is read
	first  error     // its error, if it has one
	failed error     // after which nothing can be read
}

func openCSV(ctx context.Context, path string) (s *csvFile, err error) {
	f, err := input.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	return newCSV(f)
}

// newCSV reads from an open file or pipe. The first row gives the number of columns; a
// line of names may precede it.
func newCSV(f *input.File) (*csvFile, error) {
	s := &csvFile{file: f, csv: table.NewReader(f.Name(), f)}
	record, err := s.csv.Read()
	if err == nil {
		s.cols = len(record)
		if isHeader(record) {
			record, err = s.csv.Read()
		}
	}
	switch {
	case err == io.EOF:
		return nil, &invalid.Error{Where: f.Name(), Want: "at least one line of numbers", Got: "none"}
	case err != nil:
		return nil, err
	case countsUp(record):
		return nil, &invalid.Error{
			Where: f.Name(), Field: s.line(), Want: "a sample, or names of the columns",
			Got:  fmt.Sprintf("the numbers from 0 to %d, which look like pandas' column names", len(record)-1),
			Hint: withoutNames,
		}
	}
	s.peeked = make([]float32, s.cols)
	s.first = s.parse(record, s.peeked)
	return s, nil
}

func (s *csvFile) Rows() int    { return -1 }
func (s *csvFile) Cols() int    { return s.cols }
func (s *csvFile) Close() error { return s.file.Close() }

// isHeader reports whether no cell of a line is a number. A line with numbers and names
// is a row with mistakes.
func isHeader(record []string) bool {
	for _, cell := range record {
		_, err := number(cell)
		if err == nil || errors.Is(err, strconv.ErrRange) || strings.TrimSpace(cell) == "" {
			return false
		}
	}
	return true
}

// countsUp reports whether a row is 0, 1, 2 and so on, as no sample is.
func countsUp(record []string) bool {
	for j, cell := range record {
		if cell != strconv.Itoa(j) {
			return false
		}
	}
	return len(record) > 2
}

// checkIndex returns an error if the first of several columns is 0, 1, 2 and so on, as no
// feature is.
func (s *csvFile) checkIndex(x dataset.Matrix[float32]) error {
	for i := range x.Rows {
		if x.Row(i)[0] != float32(i) {
			return nil
		}
	}
	if x.Rows < 3 || x.Cols < 2 {
		return nil
	}
	return &invalid.Error{
		Where: s.file.Name(), Field: "column 1", Want: "a feature",
		Got:  fmt.Sprintf("the numbers from 0 to %d, which look like pandas' row names", x.Rows-1),
		Hint: withoutNames,
	}
}

func (s *csvFile) read(block dataset.Matrix[float32]) (int, error) {
	for i := range block.Rows {
		if s.failed != nil {
			return i, s.failed
		}
		if err := s.row(block.Row(i)); err != nil {
			if i > 0 && err == io.EOF {
				err = nil // the next call returns it
			}
			return i, err
		}
	}
	return block.Rows, nil
}

func (s *csvFile) row(to []float32) error {
	if s.peeked != nil {
		copy(to, s.peeked)
		s.peeked = nil
		return s.first
	}
	record, err := s.csv.Read()
	if err != nil {
		s.failed = err
		return err
	}
	return s.parse(record, to)
}

// parse converts the cells of a record to numbers.
func (s *csvFile) parse(record []string, to []float32) error {
	e := &invalid.Error{Where: s.file.Name(), Field: s.line()}
	bad := &rowError{e}
	if len(record) != len(to) {
		e.Want = fmt.Sprintf("%d numbers, as in the line before", len(to))
		e.Got = fmt.Sprint(len(record))
		return bad
	}
	for j, cell := range record {
		v, err := number(cell)
		if err == nil && finite.Is(v) {
			to[j] = float32(v)
			continue
		}
		e.Field = fmt.Sprintf("%s, column %d", s.line(), j+1)
		e.Want, e.Got = "a number", invalid.Quote(cell)
		if err == nil || errors.Is(err, strconv.ErrRange) {
			e.Want, e.Got = finiteNumber, strings.TrimSpace(cell)
		}
		return bad
	}
	return nil
}

// number returns the float32 value of a cell.
func number(cell string) (float64, error) {
	return strconv.ParseFloat(strings.TrimSpace(cell), 32)
}

func (s *csvFile) line() string { return fmt.Sprintf("line %d", s.csv.Line()) }
