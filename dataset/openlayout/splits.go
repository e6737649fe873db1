package openlayout

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The subsets of a split, as splits.csv names them.
const (
	train = "train"
	val   = "val"
	test  = "test"

	// misspelt replaces a name that was reported, so that its consequences are not
	// reported too.
	misspelt = "?"
)

// partColumns are the columns of the three splits.
var partColumns = []string{"part", "part2", "part3"}

func isSeen(part string) bool { return part == train || part == val }

// splits are the splits of the classes.
type splits struct {
	partOf  [][]string // for each column that is there, the subset of each class
	columns []string
	table   *table.Table
}

// readSplits returns nil if the file is no table.
func (r *reader) readSplits(name string, c *classes) *splits {
	t := r.table(name)
	if t == nil {
		return nil
	}
	if ok := t.Require(classColumn, partColumns[0]); !t.Allow(append([]string{classColumn}, partColumns...)...) || !ok || c == nil {
		return nil
	}
	s := &splits{table: t}
	for n, column := range partColumns {
		if t.Column(column) < 0 {
			continue
		}
		if n != len(s.columns) {
			t.Report("column", 1, "", "a column "+partColumns[n-1]+" before "+column, t.Header())
			return nil
		}
		s.columns = append(s.columns, column)
		s.partOf = append(s.partOf, make([]string, len(c.names)))
	}
	lineOf := make(map[int]int)
	for _, row := range t.Rows {
		z := c.find(t, row)
		if z < 0 {
			continue
		}
		if other, repeated := lineOf[z]; repeated {
			t.Report("repeated", row.Line, classColumn, "every class once", fmt.Sprintf("%s, which is also on line %d", invalid.Quote(c.names[z]), other))
			continue
		}
		lineOf[z] = row.Line
		for n, column := range s.columns {
			part := t.Cell(row, column)
			if part != "" && part != test && !isSeen(part) {
				t.ReportUnknown(column, row.Line, column, "train, val or test, or nothing for a class that is left out", part, []string{train, val, test})
				part = misspelt
			}
			s.partOf[n][z] = part
		}
		s.checkUnseen(row, z)
	}
	for z, name := range c.names {
		if _, listed := lineOf[z]; !listed && name != "" {
			r.problems.Add("unlisted", &invalid.Error{
				Where: t.File, Field: "class " + invalid.Quote(name),
				Want: "a line for every class of " + c.source + ", with an empty part for a class that is left out", Got: "none",
			})
		}
	}
	for n, column := range s.columns {
		for _, part := range []string{train, val, test} {
			if !slices.Contains(s.partOf[n], part) && !slices.Contains(s.partOf[n], misspelt) {
				r.problems.AddError(&invalid.Error{Where: t.File, Field: "column " + column, Want: "at least one " + part + " class", Got: "none"})
			}
		}
	}
	return s
}

// checkUnseen checks that the splits of a class differ only in train and val.
func (s *splits) checkUnseen(row table.Row, z int) {
	first := s.partOf[0][z]
	for n := 1; n < len(s.columns); n++ {
		other := s.partOf[n][z]
		if first == misspelt || other == misspelt || first == other || isSeen(first) && isSeen(other) {
			continue
		}
		want := "train or val, as in part"
		if !isSeen(first) {
			want = fmt.Sprintf("%q, as in part", first)
		}
		s.table.Report("unseen", row.Line, s.columns[n], want, fmt.Sprintf("%q", other))
	}
}

// all returns the splits, at least one.
func (s *splits) all() []dataset.Split {
	all := make([]dataset.Split, len(s.columns))
	for n := range all {
		into := map[string]*[]int{train: &all[n].Train, val: &all[n].Val, test: &all[n].Test}
		for z, part := range s.partOf[n] {
			if classes := into[part]; classes != nil {
				*classes = append(*classes, z)
			}
		}
	}
	return all
}

// ReadSplits reads a file in the form of splits.csv for the given classes. It returns one
// split for each of the columns part, part2 and part3 that the file has. The error joins
// all problems, each an *invalid.Error.
func ReadSplits(ctx context.Context, path string, classes []string) ([]dataset.Split, error) {
	r := &reader{ctx: ctx, dir: filepath.Dir(path)}
	s := r.readSplits(filepath.Base(path), namedClasses(classes, "the data set"))
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	return s.all(), nil
}
