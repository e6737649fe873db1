// Package features reads matrices of features, one row per sample, in blocks of rows, so
// that large files need not be held in memory:
//
//	.npy    a NumPy array of numbers, samples x D, as numpy.save writes it
//	.csv    numbers separated by commas, one line per sample, with or without a line of
//	        column names; also from standard input
//
// Values are returned as float32. They must be finite, or codes of missing features.
//
// The package does not know the classes of the samples, nor what a data set is: see package openlayout.
package features

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/npy"
)

// Reader reads the rows of a file of features in order. It must not be used by several goroutines at once.
type Reader struct {
	Names []string // of the columns of a CSV file; nil without a line of them

	ids        *[]string // names of the samples read so far, or of all; nil for none
	path       string
	rows, cols int // rows are -1 where only reading them shows it

	// next fills the next row, or returns why its values cannot be used; reading can go on
	// with the row behind it. The error is io.EOF at the end.
	next func(row []float32) (bad *invalid.Error, err error)
	// place is that of a column with a value in the row that was read last, and what the file has there.
	place func(column int, v float32) (field, found string)
	close func() error

	missing []dataset.Code
}

// Cols returns the number of values per row, at least 1.
func (r *Reader) Cols() int { return r.cols }

func (r *Reader) Close() error { return r.close() }

// Open opens a file of features by its extension: .npy or .csv, in any case; "-" is CSV
// on standard input. With named, the first column in CSV may be path or id, with the names of the samples.
// Errors are *invalid.Error, or the context's.
func Open(ctx context.Context, path string, named bool) (*Reader, error) {
	r, err := open(ctx, path, named)
	if err != nil {
		return nil, err
	}
	next := r.next
	r.next = func(row []float32) (*invalid.Error, error) {
		bad, err := next(row)
		if bad != nil || err != nil || matrix.NotFinite(row) < 0 {
			return bad, err
		}
		j := slices.IndexFunc(row, func(v float32) bool {
			return !matrix.Finite(v) && !dataset.AnyIs(r.missing, v)
		})
		if j < 0 {
			return nil, nil
		}
		field, found := r.place(j, row[j])
		bad = &invalid.Error{Where: path, Field: field, Want: finiteNumber, Got: found, Hint: missingHint}
		return bad, nil
	}
	return r, nil
}

func open(ctx context.Context, path string, named bool) (*Reader, error) {
	if path == "-" {
		return newCSV(fileio.Stdin(ctx), named)
	}
	extension := filepath.Ext(path)
	switch strings.ToLower(extension) {
	case ".npy":
		return openNPY(ctx, path)
	case ".csv":
		f, err := fileio.Open(ctx, path)
		if err != nil {
			return nil, err
		}
		r, err := newCSV(f, named)
		if err != nil {
			_ = f.Close() // nothing was written
		}
		return r, err
	}
	if _, err := fileio.SizeOfRegular(path); err != nil {
		return nil, err
	}
	return nil, &invalid.Error{
		Where: path, Want: "features in a file named .npy or .csv", Got: strconv.Quote(extension),
		Hint: "Save a table as CSV, and an array with numpy.save.",
	}
}

// openNPY reads an array, of which the number of rows is known.
func openNPY(ctx context.Context, path string) (*Reader, error) {
	a, err := npy.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	i := -1
	next := func(row []float32) (*invalid.Error, error) {
		if i++; i >= a.Rows {
			return nil, io.EOF
		}
		return nil, a.Read(row)
	}
	place := func(j int, v float32) (field, found string) {
		return fmt.Sprintf("row %d, column %d (from 0)", i, j), fmt.Sprint(v)
	}
	return &Reader{path: path, rows: a.Rows, cols: a.Cols, next: next, place: place, close: a.Close}, nil
}

// Read fills block from the next rows and returns how many it filled. These are fewer
// than the block has only at the end or with an error; at the end there are none, and the
// error is io.EOF. The block has Cols columns.
func (r *Reader) Read(block dataset.Matrix[float32]) (n int, err error) {
	for n := range block.Rows {
		bad, err := r.next(block.Row(n))
		switch {
		case err == io.EOF && n > 0:
			return n, nil // the next call returns it
		case bad != nil:
			return n, bad
		case err != nil:
			return n, err
		}
	}
	return block.Rows, nil
}

// ReadAll returns all rows of a file that Open opens, which must be a regular file. If rows cannot be used,
// the error joins those of the first few and the number of others, and the matrix has a size but no values.
func ReadAll(ctx context.Context, path string) (x dataset.Matrix[float32], err error) {
	x, _, err = ReadTable(ctx, path, nil)
	return x, err
}

// ReadTable is ReadAll with codes of missing features and the names of the columns, nil for none.
func ReadTable(ctx context.Context, path string,
	missing []dataset.Code,
) (x dataset.Matrix[float32], names []string, err error) {
	if _, err := fileio.SizeOfRegular(path); err != nil { // rows from a pipe might never end
		return x, nil, err
	}
	r, err := Open(ctx, path, false)
	if err != nil {
		return x, nil, err
	}
	r.missing = missing
	x, err = r.All()
	return x, r.Names, err
}

// All returns all rows of an open file, as ReadAll does, and closes it.
func (r *Reader) All() (x dataset.Matrix[float32], err error) {
	defer func() { _ = r.Close() }() // nothing was written
	x.Cols = r.cols
	x.Data = make([]float32, 0, max(r.rows, 1)*x.Cols)
	var problems invalid.List
	for aside := make([]float32, x.Cols); ; {
		row, n := aside, len(x.Data)
		if n+x.Cols <= cap(x.Data) {
			row = x.Data[n : n+x.Cols] // in its place
		}
		bad, err := r.next(row)
		switch {
		case bad != nil:
			problems.Add("row", bad)
		case err == io.EOF && problems.Len() > 0:
			x.Data = nil
			return x, problems.Err()
		case err == io.EOF:
			return x, nil
		case err != nil:
			problems.AddError(err)
			return dataset.Matrix[float32]{}, problems.Err()
		}
		x.Rows++
		x.Data = append(x.Data, row...)
	}
}

// Match makes the reader return its columns in the order of names, which a model was trained on. Nothing
// happens if they, or the names of the reader, are not known. Other columns are an *invalid.Error.
func (r *Reader) Match(names []string) error {
	if names == nil || r.Names == nil || slices.Equal(names, r.Names) {
		return nil
	}
	index := make(map[string]int, len(r.Names))
	for j, name := range r.Names {
		index[name] = j
	}
	e := &invalid.Error{Where: r.path, Want: "the columns of the features that the model was trained on"}
	order := make([]int, len(names))
	for j, name := range names {
		k, known := index[name]
		if !known {
			e.Got, e.Hint = "none named "+invalid.Quote(name), invalid.DidYouMean(name, r.Names)
			return e
		}
		order[j] = k
		delete(index, name)
	}
	if i := slices.IndexFunc(r.Names, func(name string) bool {
		_, other := index[name]
		return other
	}); i >= 0 {
		e.Got, e.Hint = invalid.Quote(r.Names[i])+" as well", "Take it out."
		return e
	}
	next, row := r.next, make([]float32, r.cols)
	r.next = func(to []float32) (*invalid.Error, error) {
		bad, err := next(row)
		for j, k := range order {
			to[j] = row[k]
		}
		return bad, err
	}
	return nil
}

// Replace makes the reader return means in place of values that stand for missing ones.
func (r *Reader) Replace(a *dataset.Absent) {
	next := r.next
	r.missing = a.Values
	r.next = func(row []float32) (*invalid.Error, error) {
		bad, err := next(row)
		if bad == nil && err == nil {
			a.Fill(row)
		}
		return bad, err
	}
}

// Name gives the samples names, such as the paths of their images, unless the file has some itself. It
// reports whether there are as many as samples.
func (r *Reader) Name(names []string) bool {
	if r.ids == nil && r.rows == len(names) {
		r.ids = &names
	}
	return r.rows == len(names)
}

// Sample returns the index and the name of the i-th sample, "" if it has none. Its class is not known.
func (r *Reader) Sample(i int) (index int, id, class string) {
	if r.ids != nil && i < len(*r.ids) {
		id = (*r.ids)[i]
	}
	return i, id, ""
}

// Form is that of features in CSV.
const Form = "a line of numbers for each sample, below at most one line of names, of which none is a number"

const finiteNumber = "a finite number in the range of float32"

const missingHint = "Features are known for every sample: leave the column or the sample out, estimate the " +
	"value, or let --missing nan (or inf) of dataset check and run put the mean of the column in its place."

type csvFile struct {
	path   string
	csv    *table.Reader
	first  []string // row, until it is read
	last   []string // row that was read, without the name of the sample
	header int      // its line
	named  bool     // the first column has the names of the samples
	ids    []string
}

// newCSV reads from an open file or pipe. The first row gives the number of columns; a
// line of names may precede it.
func newCSV(f *fileio.File, named bool) (*Reader, error) {
	s := &csvFile{path: f.Name(), csv: table.NewReader(f.Name(), f)}
	names, record, err := s.readHeader()
	cols := len(record)
	if names != nil {
		cols = len(names)
		if s.named = named && slices.Contains(sampleColumns, names[0]); s.named {
			names = names[1:]
		}
		if e := s.checkNames(names); e != nil {
			return nil, e
		}
	}
	switch {
	case err == io.EOF:
		return nil, &invalid.Error{Where: s.path, Want: Form, Got: "none"}
	case err != nil:
		return nil, err
	case len(record) != cols:
		got := fmt.Sprintf("%s above %s", format.Count(cols, "name"), format.Count(len(record), "cell"))
		return nil, s.wrong(s.csv.Line, "", Form, got, withoutRowNames)
	}
	s.first = record
	if s.named {
		record, cols = record[1:], cols-1
	}
	row := make([]float32, cols)
	if bad := s.parse(record, row); names == nil && bad == nil && looksLikeNames(row) {
		got := fmt.Sprintf("numbers that rise from %s to %s, as names of columns do", record[0],
			record[cols-1])
		return nil, s.wrong(s.csv.Line, "", Form, got, `In pandas, df.add_prefix("f") makes names of them. `+
			"Above a sample whose numbers rise, write a line of names.")
	}
	r := &Reader{Names: names, path: s.path, rows: -1, cols: cols, next: s.next, close: f.Close}
	r.place = func(j int, _ float32) (field, found string) {
		return fmt.Sprintf("line %d, column %d", s.csv.Line, j+1), invalid.Quote(s.last[j])
	}
	if s.named {
		r.ids = &s.ids
	}
	return r, nil
}

// looksLikeNames reports whether a first line has numbers that name columns: those of pandas from 0, or
// others that rise over more columns than they do by chance, such as wavelengths.
func looksLikeNames(row []float32) bool {
	const many = 8
	rise := len(row) >= many
	for j := 1; j < len(row) && rise; j++ {
		rise = row[j] > row[j-1]
	}
	return rise || len(row) > 2 && row[0] == 0 && matrix.CountUp(row)
}

// isHeader reports whether no cell of a line is a number. A line with numbers and names is a row with
// mistakes; the first name may be empty.
func isHeader(record []string) bool {
	for j, cell := range record {
		_, err := strconv.ParseFloat(strings.TrimSpace(cell), 32) // 1_1 is no name
		empty := strings.TrimSpace(cell) == "" && (j > 0 || len(record) == 1)
		if err == nil || errors.Is(err, strconv.ErrRange) || empty {
			return false
		}
	}
	return true
}

// readHeader returns the names of the columns, nil for none, and the first row.
func (s *csvFile) readHeader() (names, row []string, err error) {
	if row, err = s.csv.Read(); err != nil || !isHeader(row) {
		return nil, row, err
	}
	s.header = s.csv.Line
	names = slices.Clone(row)
	names[0] = strings.TrimPrefix(names[0], "#") // of numpy.savetxt
	for j, name := range names {
		names[j] = dataset.Name(name)
	}
	row, err = s.csv.Read()
	return names, row, err
}

// ofSamples matches the names of columns that say which sample a line is, or its class.
var ofSamples = regexp.MustCompile(`(?i)^((.*[_. -])?(id|index|labels?|class|target)|(?-i:.*[a-z]I[dD])|` +
	`unnamed: 0|row_?names?|system:index|\.geo|species|taxon|path|file(_?(name|path))?|timestamp|test_seen|` +
	`prediction|predicted|ground_?truth|y_(true|pred))$`)

// sampleColumns are the names of a first column with the names of samples, where these are read.
var sampleColumns = []string{"path", "id"}

const withoutRowNames = "Write the file without names of rows: to_csv(index=False), or " +
	"row.names = FALSE in R."

// checkNames refuses columns that are no features by their names, and names of two columns.
func (s *csvFile) checkNames(names []string) *invalid.Error {
	before := map[string]int{}
	for j, name := range names {
		column, first := fmt.Sprintf("column %d", j+1), before[name]
		before[name] = j + 1
		switch {
		case first > 0 && name != "":
			return s.wrong(s.header, column, "a name that no other column has",
				fmt.Sprintf("%s, as column %d", invalid.Quote(name), first), "Rename one of them.")
		case name == "":
			got := "none, as pandas' to_csv() and R's write.csv leave it above names of rows"
			return s.wrong(s.header, column, "a name, as the other columns have", got, withoutRowNames)
		case ofSamples.MatchString(name):
			hint := "Take the column out: labels.csv has the classes and ids of the samples, and for " +
				"predict the first column may be path or id. If it is a feature, rename it."
			return s.wrong(s.header, column, "features alone", invalid.Quote(name), hint)
		}
	}
	return nil
}

func (s *csvFile) next(row []float32) (bad *invalid.Error, err error) {
	record := s.first
	if s.first = nil; record == nil {
		if record, err = s.csv.Read(); err != nil {
			return nil, err
		}
	}
	if s.named && len(record) > 0 {
		s.ids = append(s.ids, dataset.Name(record[0]))
		record = record[1:]
	}
	s.last = record
	return s.parse(record, row), nil
}

func (s *csvFile) parse(record []string, to []float32) *invalid.Error {
	if len(record) != len(to) {
		want := fmt.Sprintf("%d numbers, as in the line before", len(to))
		return s.wrong(s.csv.Line, "", want, fmt.Sprint(len(record)), "")
	}
	for j, cell := range record {
		v, err := table.Number(cell, 32)
		switch column := fmt.Sprintf("column %d", j+1); {
		case err == nil:
			to[j] = float32(v)
		case errors.Is(err, strconv.ErrRange):
			return s.wrong(s.csv.Line, column, finiteNumber, strings.TrimSpace(cell), "")
		case table.Missing(cell): // pandas writes an empty cell
			to[j] = float32(math.NaN())
		default:
			hint := ""
			if j == 0 && strings.ContainsFunc(cell, unicode.IsLetter) {
				hint = "Leave out columns that are no features: labels.csv has the ids of samples."
			}
			return s.wrong(s.csv.Line, column, "a number", invalid.Quote(cell), hint)
		}
	}
	return nil
}

func (s *csvFile) wrong(line int, column, want, got, hint string) *invalid.Error {
	field := strings.TrimSuffix(fmt.Sprintf("line %d, %s", line, column), ", ")
	return &invalid.Error{Where: s.path, Field: field, Want: want, Got: got, Hint: hint}
}
