package features

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/invalid"
)

// isHeader reports whether no cell of a line is a number. A line with numbers and names is a row with
// mistakes; the first name may be empty, and the others may count up from 0, as pandas writes an array.
func isHeader(record []string) bool {
	if len(record) > 2 && record[1] == "0" && record[2] == "1" {
		_, err := table.Number(record[0], 32)
		return err != nil
	}
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
	if row, err = s.csv.Read(); err != nil {
		return nil, nil, err
	}
	s.header = s.csv.Line
	if isHeader(row) {
		names = slices.Clone(row)
		names[0] = strings.TrimPrefix(names[0], "#") // of numpy.savetxt
		row, err = s.csv.Read()
	} else if quoted := s.csv.Quoted(); quoted || rises(row) {
		first := slices.Clone(row)
		second, nextErr := s.csv.Read()
		if nextErr != nil || !(quoted && !s.csv.Quoted() || rises(first) && !rises(second)) {
			s.second, s.err = slices.Clone(second), nextErr
			return nil, first, nil
		}
		names, row = first, second
	}
	for j, name := range names {
		names[j] = dataset.Name(name)
	}
	return names, row, err
}

// rises reports whether numbers only rise or only fall, as wavelengths and masses above spectra do: more than
// features of a sample would by chance.
func rises(record []string) bool {
	values := make([]float64, len(record))
	for j, cell := range record {
		v, err := table.Number(cell, 64)
		if values[j] = v; err != nil {
			return false
		}
	}
	up, even := 0, 0
	for j := 1; j < len(values); j++ {
		step := values[j] - values[j-1]
		if step*(values[1]-values[0]) > 0 {
			up++
		}
		if step == values[1]-values[0] {
			even++
		}
	}
	steps := len(values) - 1
	return up == steps && (steps > 6 || steps > 2 && even == steps && values[0] != 0)
}

// ofSamples matches the names of columns that say which sample a line is, or its class.
var ofSamples = regexp.MustCompile(`(?i)^((.*[_. -])?(id|index|labels?|class|target)|(?-i:.*[a-z]I[dD])|unnamed: 0|row_?names?|` +
	`species|taxon|path|file(_?(name|path))?|timestamp|test_seen|prediction|predicted|ground_?truth|y_(true|pred))$`)

// ofNames matches the name of a first column with the names of samples.
var ofNames = regexp.MustCompile(`(?i)^(|(.*[_. -])?(id|index)|unnamed: 0|row_?names?|sample|image|photo|path|file(_?(name|path))?)$`)

const aNumber = "a number"

const withoutRowNames = "Write the file without names of rows: to_csv(index=False), or " +
	"row.names = FALSE in R."

// checkNames refuses columns that are no features by their names.
func (s *csvFile) checkNames(names []string) *invalid.Error {
	for j, name := range names {
		switch column := fmt.Sprintf("column %d", j+1); {
		case name == "":
			got := "none, as pandas' to_csv() and R's write.csv leave it above names of rows"
			return s.wrongIn(s.header, column, "a name, as the other columns have", got, withoutRowNames)
		case ofSamples.MatchString(name):
			hint := "Take the column out: labels.csv has the classes and ids of the samples. If it " +
				"is a feature, rename it."
			return s.wrongIn(s.header, column, "features alone", invalid.Quote(name), hint)
		}
	}
	return nil
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

func (s *csvFile) next(row []float32) (bad *invalid.Error, err error) {
	record := s.first
	switch {
	case record != nil:
		s.first = nil
	case s.second != nil:
		record, s.second = s.second, nil
	case s.err != nil:
		return nil, s.err
	default:
		if record, err = s.csv.Read(); err != nil {
			return nil, err
		}
	}
	if s.named && len(record) > 0 {
		s.ids = append(s.ids, dataset.Name(record[0]))
		record = record[1:]
	}
	return s.parse(record, row), nil
}
