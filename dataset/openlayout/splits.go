package openlayout

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The parts of a split, as splits.csv names them.
const (
	train = "train"
	val   = "val"
	test  = "test"

	// misspelt stands for a part that was told to be wrong, so that what follows from
	// it isn't told too.
	misspelt = "?"
)

// partColumns are the columns of the three divisions.
var partColumns = []string{"part", "part2", "part3"}

// splits are the divisions of the classes.
type splits struct {
	partOf  [][]string // for each division that is there, the part of each class
	columns []string   // of those
	table   *table
}

// readSplits returns nil where the file is no table.
func (r *reader) readSplits(name string, c *classes) *splits {
	t := r.table(name, []string{classColumn, partColumns[0]}, partColumns[1:], false)
	if t == nil || c == nil {
		return nil
	}
	s := &splits{table: t}
	for n, column := range partColumns {
		if t.column(column) < 0 {
			continue
		}
		if n != len(s.columns) {
			t.bad.AddError(&invalid.Error{Where: t.file, Field: "line 1", Want: "a column " + partColumns[n-1] + " before " + column, Got: list(t.columns)})
			return nil
		}
		s.columns = append(s.columns, column)
		s.partOf = append(s.partOf, make([]string, len(c.names)))
	}
	lineOf := make(map[int]int)
	for _, row := range t.rows {
		z := c.find(t, row)
		if z < 0 {
			continue
		}
		if other, taken := lineOf[z]; taken {
			t.wrong("twice", row, classColumn, "every class once", fmt.Sprintf("%q, which is in line %d as well", c.names[z], other))
			continue
		}
		lineOf[z] = row.line
		for n, column := range s.columns {
			s.partOf[n][z] = t.part(row, column)
		}
		s.sameUnseen(row, z)
	}
	for z, name := range c.names {
		if _, listed := lineOf[z]; !listed && name != "" {
			t.bad.Add("unlisted", &invalid.Error{
				Where: t.file, Field: fmt.Sprintf("class %q", name),
				Want: "a line for every class of " + c.source + ", with an empty part where it is left out", Got: "none",
			})
		}
	}
	s.checkParts()
	return s
}

// part reads the cell of a part.
func (t *table) part(row row, column string) string {
	cell := t.cell(row, column)
	switch cell {
	case train, val, test, "":
		return cell
	}
	t.wrong(column, row, column, "train, val or test, or nothing for a class that is left out", strconv.Quote(cell))
	return misspelt
}

// sameUnseen checks that the divisions differ in which seen classes are train and
// which are val, and in nothing else.
func (s *splits) sameUnseen(row row, z int) {
	seen := func(n int) bool { return s.partOf[n][z] == train || s.partOf[n][z] == val }
	for n := 1; n < len(s.columns); n++ {
		first, other := s.partOf[0][z], s.partOf[n][z]
		if first == misspelt || other == misspelt || seen(0) == seen(n) && (seen(0) || first == other) {
			continue
		}
		want := "train or val, as in part"
		if !seen(0) {
			want = strconv.Quote(first) + ", as in part"
		}
		s.table.wrong("unseen", row, s.columns[n], want, strconv.Quote(other))
	}
}

func (s *splits) checkParts() {
	for n, column := range s.columns {
		for _, part := range []string{train, val, test} {
			if slices.Contains(s.partOf[n], misspelt) {
				break
			}
			if !slices.Contains(s.partOf[n], part) {
				s.table.bad.AddError(&invalid.Error{Where: s.table.file, Field: "column " + column, Want: "at least one " + part + " class", Got: "none"})
			}
		}
	}
}

// divisions returns the divisions of the classes, one at least.
func (s *splits) divisions() []dataset.Split {
	divisions := make([]dataset.Split, len(s.columns))
	for n := range divisions {
		split := &divisions[n]
		into := map[string]*[]int{train: &split.Train, val: &split.Val, test: &split.Test}
		for z, part := range s.partOf[n] {
			if classes := into[part]; classes != nil {
				*classes = append(*classes, z)
			}
		}
	}
	return divisions
}

// ReadSplits reads a file in the form of splits.csv for classes of the given names,
// and returns its divisions, one for each of the columns part, part2 and part3 that
// it has. The error joins all that is wrong with it.
func ReadSplits(ctx context.Context, path string, classes []string) ([]dataset.Split, error) {
	r := &reader{ctx: ctx, dir: filepath.Dir(path)}
	s := r.readSplits(filepath.Base(path), namedClasses(classes, "the data set"))
	if err := r.bad.Err(); err != nil {
		return nil, err
	}
	return s.divisions(), nil
}

// Splits returns all divisions of the data set in dir, of which Load gives one.
func Splits(ctx context.Context, dir string) ([]dataset.Split, error) {
	r := &reader{ctx: ctx, dir: dir}
	t := r.table(classesFile, []string{classColumn}, nil, true)
	if err := r.bad.Err(); err != nil {
		return nil, err
	}
	names, _ := t.names(classColumn)
	s := r.readSplits(SplitsFile, namedClasses(names, classesFile))
	if err := r.bad.Err(); err != nil {
		return nil, err
	}
	return s.divisions(), nil
}
