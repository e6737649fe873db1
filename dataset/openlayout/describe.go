package openlayout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Descriptions are the class descriptions of a folder while people write them: the cells of
// attributes.csv and classes.csv as text, which may be incomplete. Both files may be missing.
type Descriptions struct {
	Attributes []DescribedAttribute
	Classes    []string
	Cells      [][]string // classes x attributes; empty is not described

	// Added counts what the files lacked: classes of labels.csv, and attributes that are columns of
	// one file alone.
	Added struct{ Classes, Attributes int }

	dir  string
	sums map[string][sha256.Size]byte // of the files when they were read or written
}

// DescribedAttribute is an attribute with the name of its group, "" without groups.
type DescribedAttribute struct {
	Name  string `json:"name"`
	Group string `json:"group"`
}

// ReadDescriptions reads the descriptions in dir. Classes of labels.csv that classes.csv lacks are
// added without values, and so are attributes that only one of the files has. The error joins all
// problems of the files, each an *invalid.Error.
func ReadDescriptions(ctx context.Context, dir string) (*Descriptions, error) {
	d := &Descriptions{dir: dir, sums: map[string][sha256.Size]byte{}}
	var problems invalid.List
	read := func(name string, required []string, optional ...string) *table.Table {
		path := filepath.Join(dir, name)
		sum, err := sumOf(path)
		if err != nil {
			problems.AddError(err)
			return nil
		}
		if d.sums[name] = sum; sum == missing {
			return nil
		}
		return table.Read(ctx, path, &problems, required, optional...)
	}
	if t := read(AttributesFile, []string{"name"}, "group"); t != nil {
		for i, name := range t.Names("name") {
			d.Attributes = append(d.Attributes, DescribedAttribute{name, t.Cell(t.Rows[i], "group")})
		}
	}
	if t := read(ClassesFile, []string{classColumn}, table.Any); t != nil {
		for _, name := range t.Columns {
			if name != classColumn && d.AddAttribute(DescribedAttribute{Name: name}) && d.sums[AttributesFile] != missing {
				problems.AddError(&invalid.Error{Where: t.File, Field: "column " + invalid.Quote(name), Want: "an attribute of " + AttributesFile, Got: "none of that name"})
			}
		}
		for i, name := range t.Names(classColumn) {
			d.AddClass(name)
			for m, a := range d.Attributes {
				if j := t.Column(a.Name); j >= 0 {
					t.Probability(t.Rows[i], j)
					d.Cells[i][m] = t.Rows[i].Cells[j]
				} else if i == 0 {
					d.Added.Attributes++
				}
			}
		}
	}
	if t := read(labelsFile, []string{classColumn}, idColumn, testSeenColumn); t != nil {
		var names []string
		for _, row := range t.Rows {
			names = append(names, t.Cell(row, classColumn))
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if d.AddClass(name) {
				d.Added.Classes++
			}
		}
	}
	return d, cmp.Or(ctx.Err(), problems.Err())
}

// DescriptionsOf returns the descriptions of a data set, which cannot be written.
func DescriptionsOf(s *dataset.Dataset) *Descriptions {
	d := &Descriptions{Classes: s.Classes}
	for _, a := range s.Attributes {
		group := ""
		if a.Group >= 0 {
			group = s.Groups[a.Group]
		}
		d.Attributes = append(d.Attributes, DescribedAttribute{a.Name, group})
	}
	for z := range s.Classes {
		var cells []string
		for _, p := range s.Descriptions.Row(z) {
			cell := ""
			if p == p { // not NaN
				cell = strconv.FormatFloat(p, 'g', -1, 64)
			}
			cells = append(cells, cell)
		}
		d.Cells = append(d.Cells, cells)
	}
	return d
}

var missing [sha256.Size]byte // in place of the sum of a file that is not there

func sumOf(path string) ([sha256.Size]byte, error) {
	text, err := fileio.ReadRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return missing, nil
	}
	return sha256.Sum256(text), err
}

// AddAttribute adds an attribute that no class is described by. It reports false for the name of
// another one.
func (d *Descriptions) AddAttribute(a DescribedAttribute) bool {
	if slices.ContainsFunc(d.Attributes, func(b DescribedAttribute) bool { return a.Name == b.Name }) {
		return false
	}
	d.Attributes = append(d.Attributes, a)
	for z := range d.Cells {
		d.Cells[z] = append(d.Cells[z], "")
	}
	return true
}

// AddClass adds a class without values. It reports false for the name of another one.
func (d *Descriptions) AddClass(name string) bool {
	if slices.Contains(d.Classes, name) {
		return false
	}
	d.Classes, d.Cells = append(d.Classes, name), append(d.Cells, make([]string, len(d.Attributes)))
	return true
}

// Clone returns a copy.
func (d *Descriptions) Clone() *Descriptions {
	c := *d
	c.Attributes, c.Classes, c.Cells = slices.Clone(d.Attributes), slices.Clone(d.Classes), nil
	for _, row := range d.Cells {
		c.Cells = append(c.Cells, slices.Clone(row))
	}
	return &c
}

// U returns the descriptions as numbers, NaN where nothing is described.
func (d *Descriptions) U() dataset.Matrix[float64] {
	u := dataset.NewMatrix[float64](len(d.Classes), len(d.Attributes))
	for z, row := range d.Cells {
		for m, cell := range row {
			u.Row(z)[m] = value(cell)
		}
	}
	return u
}

// Cell returns how a probability is written in the scale of the other cells: as a number or
// percentage or, if there are no numbers, as the nearest word. NaN is an empty cell.
func (d *Descriptions) Cell(p float64) string {
	if math.IsNaN(p) {
		return ""
	}
	numbers := false
	for _, row := range d.Cells {
		for _, cell := range row {
			if strings.HasSuffix(cell, "%") {
				return strconv.FormatFloat(100*p, 'g', 6, 64) + "%"
			}
			_, err := table.Number(cell, 64)
			numbers = numbers || err == nil
		}
	}
	if numbers {
		return strconv.FormatFloat(p, 'g', -1, 64)
	}
	nearest := "no"
	for _, word := range Words {
		if math.Abs(value(word)-p) < math.Abs(value(nearest)-p) {
			nearest = word
		}
	}
	return nearest
}

// Words are the words for probabilities, each a different one, from 0 to 1.
var Words = []string{"no", "rarely", "sometimes", "often", "yes"}

// value returns the probability that a cell means, NaN for an empty one.
func value(cell string) float64 {
	p, _ := table.Probability(cell) // cells were read without a problem
	return p
}

// ErrChanged is the cause of the error of Write if another program has changed a file.
var ErrChanged = errors.New("it was changed by another program")

// Write writes both files. If one was changed since it was read or written, that is an error, and
// nothing is written. Attributes are written first: ReadDescriptions completes a classes.csv that
// was not written any more.
func (d *Descriptions) Write() error {
	for _, name := range []string{AttributesFile, ClassesFile} {
		path := filepath.Join(d.dir, name)
		sum, err := sumOf(path)
		if err == nil && sum != d.sums[name] {
			err = &invalid.Error{Where: path, Err: ErrChanged, Hint: "Nothing was overwritten. Read it again."}
		}
		if err != nil {
			return err
		}
	}
	attributes := [][]string{{"name", "group"}}
	classes := [][]string{{classColumn}}
	for _, a := range d.Attributes {
		attributes = append(attributes, []string{a.Name, a.Group})
		classes[0] = append(classes[0], a.Name)
	}
	for z, name := range d.Classes {
		classes = append(classes, append([]string{name}, d.Cells[z]...))
	}
	for _, f := range []struct {
		name string
		rows [][]string
	}{{AttributesFile, attributes}, {ClassesFile, classes}} {
		if len(f.rows) == 1 { // a file without lines could not be read
			continue
		}
		path := filepath.Join(d.dir, f.name)
		if err := fileio.WriteCSV(path, f.rows); err != nil {
			return err
		}
		var err error
		if d.sums[f.name], err = sumOf(path); err != nil {
			return err
		}
	}
	return nil
}

// ReadSamples returns the class of each sample of labels.csv, none without the file, and a data set
// that has only their ids and photographs.
func ReadSamples(ctx context.Context, dir string) (classes []string, d *dataset.Dataset, err error) {
	r := &reader{ctx: ctx, dir: dir, d: new(dataset.Dataset)}
	if _, err := os.Stat(r.path(labelsFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, r.d, nil
	}
	if t := table.Read(ctx, r.path(labelsFile), &r.problems, []string{classColumn}, idColumn, testSeenColumn); t != nil {
		for _, row := range t.Rows {
			classes = append(classes, t.Cell(row, classColumn))
		}
		r.d.Labels = make([]int, len(classes))
	}
	r.readImages()
	return classes, r.d, r.problems.Err()
}
