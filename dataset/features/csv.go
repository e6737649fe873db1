package features

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// table reads the rows of numbers in a CSV file.
type table struct {
	file   *input.File
	csv    *csv.Reader
	cols   int
	peeked []float32 // the first row, until it is read
	first  error     // its error, if it has one
	next   int       // row
	failed error     // after which nothing can be read
}

const byteOrderMark = "\ufeff"

func openCSV(ctx context.Context, path string) (s *table, err error) {
	f, err := input.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	return newTable(f)
}

// newTable reads from an open file, whether it has an end or is a pipe.
func newTable(f *input.File) (s *table, err error) {
	b := bufio.NewReaderSize(f, bufferSize)
	if mark, err := b.Peek(len(byteOrderMark)); err == nil && string(mark) == byteOrderMark {
		if _, err := b.Discard(len(mark)); err != nil {
			return nil, fileError(f.Name(), err)
		}
	}
	s = &table{file: f, csv: csv.NewReader(b)}
	s.csv.FieldsPerRecord = -1 // told by errors of our own
	s.csv.ReuseRecord = true
	s.csv.TrimLeadingSpace = true
	return s, s.begin()
}

func (s *table) Rows() int    { return -1 }
func (s *table) Cols() int    { return s.cols }
func (s *table) Close() error { return s.file.Close() }

// begin reads the first row, which tells how many columns there are, and the line
// of names before it.
func (s *table) begin() error {
	record, err := s.csv.Read()
	if err == nil {
		s.cols = len(record)
		if !isHeader(record) {
			return s.peek(record)
		}
		record, err = s.csv.Read()
	}
	switch {
	case err == io.EOF:
		return &invalid.Error{Where: s.file.Name(), Want: "at least one line of numbers", Got: "none"}
	case err != nil:
		return s.parseError(err)
	}
	return s.peek(record)
}

// peek keeps the first row until it is asked for.
func (s *table) peek(record []string) error {
	if countsUp(record) {
		return &invalid.Error{
			Where: s.file.Name(), Field: s.line(),
			Want: "a sample, or names of the columns",
			Got:  fmt.Sprintf("the numbers from 0 to %d, which look like names that pandas gives (to_csv(header=False, index=False) leaves them out)", len(record)-1),
		}
	}
	s.peeked = make([]float32, s.cols)
	s.first = s.parse(record, s.peeked)
	return nil
}

// isHeader reports whether a line has names: no number at all. One with both is a
// row with mistakes.
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

func (s *table) read(block dataset.Matrix[float32]) (int, error) {
	for i := range block.Rows {
		if s.failed != nil {
			return i, s.failed
		}
		if err := s.row(block.Row(i)); err != nil {
			if i > 0 && err == io.EOF {
				err = nil // the next call says so
			}
			return i, err
		}
	}
	return block.Rows, nil
}

// row reads the next row.
func (s *table) row(to []float32) error {
	if s.peeked != nil {
		copy(to, s.peeked)
		s.peeked = nil
		return s.first
	}
	record, err := s.csv.Read()
	if err != nil {
		s.failed = err
		if err != io.EOF {
			s.failed = s.parseError(err)
		}
		return s.failed
	}
	return s.parse(record, to)
}

// parse turns one record into numbers.
func (s *table) parse(record []string, to []float32) error {
	e := &invalid.Error{Where: s.file.Name()}
	bad := &RowError{Row: s.next, Err: e}
	s.next++
	if len(record) != len(to) {
		e.Field = s.line()
		e.Want = fmt.Sprintf("%d numbers, as in the line before", len(to))
		e.Got = fmt.Sprint(len(record))
		return bad
	}
	for j, cell := range record {
		v, err := number(cell)
		if err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			to[j] = float32(v)
			continue
		}
		e.Field = fmt.Sprintf("%s, column %d", s.line(), j+1)
		e.Want, e.Got = "a number", strconv.Quote(cell)
		if err == nil || errors.Is(err, strconv.ErrRange) {
			e.Want, e.Got = finite, cell
		}
		return bad
	}
	return nil
}

// number returns the float32 that a cell has.
func number(cell string) (float64, error) {
	return strconv.ParseFloat(strings.TrimSpace(cell), 32)
}

// line names the line of the record at hand.
func (s *table) line() string {
	line, _ := s.csv.FieldPos(0)
	return fmt.Sprintf("line %d", line)
}

// parseError says where the commas and quotes make no sense.
func (s *table) parseError(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return &invalid.Error{Where: s.file.Name(), Field: fmt.Sprintf("line %d, character %d", parse.Line, parse.Column), Err: parse.Err}
	}
	return fileError(s.file.Name(), err)
}
