package features

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Form is that of features in CSV.
const Form = "a line of numbers for each sample, below at most one line of names, of which none is a number"

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
			hint := "Take the column out: labels.csv has the classes and ids of the samples, and for " +
				"predict the first column may be path or id. If it is a feature, rename it."
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
	if s.first = nil; record == nil {
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
