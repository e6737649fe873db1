package openlayout

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/invalid"
)

// readAttributes reads the attributes and their groups, which are nil if no attribute has
// one.
func (r *reader) readAttributes() {
	t := table.Read(r.ctx, r.path(AttributesFile), &r.problems, []string{"name"}, "group")
	if t == nil {
		return
	}
	names, groups := t.Names("name"), make(map[string]int)
	for i, row := range t.Rows {
		a := dataset.Attribute{Name: names[i], Group: -1}
		group := t.Cell(row, "group")
		if (group == "") != (t.Cell(t.Rows[0], "group") == "") {
			t.Report("group", row.Line, "group", "a group for every attribute, or for none", invalid.Quote(group))
		}
		if group != "" {
			k, known := groups[group]
			if !known {
				k = len(groups)
				groups[group] = k
				r.d.Groups = append(r.d.Groups, group)
			}
			a.Group = k
		}
		r.d.Attributes = append(r.d.Attributes, a)
	}
}

// readClasses reads the classes and their descriptions.
func (r *reader) readClasses() {
	t := table.Read(r.ctx, r.path(ClassesFile), &r.problems, []string{classColumn}, table.Any)
	if t == nil {
		return
	}
	r.setClasses(t.Names(classColumn))
	if r.d.Attributes == nil { // reported
		return
	}
	names := make([]string, len(r.d.Attributes))
	index := make(map[string]int)
	for m, a := range r.d.Attributes {
		names[m], index[a.Name] = a.Name, m
		if a.Name != "" && (a.Name == classColumn || t.Column(a.Name) < 0) {
			t.Report("missing", 1, "", "a column for every attribute of "+AttributesFile, "none for "+invalid.Quote(a.Name))
		}
	}
	r.d.Descriptions = dataset.NewMatrix[float64](len(r.d.Classes), len(names))
	for j, name := range t.Columns {
		m, known := index[name]
		switch {
		case name == classColumn:
		case !known || name == "":
			t.ReportUnknown("column", 1, fmt.Sprint(j+1), "the name of an attribute of "+AttributesFile, name, names)
		default:
			for z, row := range t.Rows {
				r.d.Descriptions.Row(z)[m] = t.Probability(row, j)
			}
		}
	}
}

// setClasses sets the names of the classes, which are empty where a problem was reported.
func (r *reader) setClasses(names []string) {
	r.d.Classes, r.classes = names, make(map[string]int, len(names))
	for z, name := range names {
		if name != "" {
			r.classes[name] = z
		}
	}
}

// find returns the class that a row of another table names, or -1.
func (r *reader) find(t *table.Table, row table.Row) int {
	name := t.Cell(row, classColumn)
	if z, known := r.classes[name]; known {
		return z
	}
	if r.classes != nil {
		t.ReportUnknown("class", row.Line, classColumn, fmt.Sprintf("one of the %d classes of %s", len(r.d.Classes), r.source), name, r.d.Classes)
	}
	return -1
}

// readLabels reads the class of each sample, -1 if it is unknown, its name, and whether it
// is held out.
func (r *reader) readLabels() {
	t := table.Read(r.ctx, r.path(labelsFile), &r.problems, []string{classColumn}, idColumn, testSeenColumn)
	if t == nil {
		return
	}
	if t.Column(idColumn) >= 0 {
		r.d.IDs = t.Names(idColumn)
	}
	for i, row := range t.Rows {
		r.d.Labels = append(r.d.Labels, r.find(t, row))
		switch cell := t.Cell(row, testSeenColumn); strings.ToLower(cell) {
		case "yes", "true", "1":
			r.d.TestSeen = append(r.d.TestSeen, i)
		case "no", "false", "0", "":
		default:
			t.Report("test_seen", row.Line, testSeenColumn, "yes or no (true or false, 1 or 0; empty means no)", invalid.Quote(cell))
		}
	}
}

// partColumns are the columns of the three splits, and parts the subsets that they name.
var (
	partColumns = []string{"part", "part2", "part3"}
	parts       = []string{"train", "val", "test"}
)

// readSplits returns the splits of the classes, one for each of the first partColumns that
// the file has; none if it is no table.
func (r *reader) readSplits(path string) []dataset.Split {
	t := table.Read(r.ctx, path, &r.problems, []string{classColumn, partColumns[0]}, partColumns[1:]...)
	if t == nil || r.classes == nil {
		return nil
	}
	columns := slices.DeleteFunc(slices.Clone(partColumns), func(c string) bool { return t.Column(c) < 0 })
	if !slices.Equal(columns, partColumns[:len(columns)]) {
		t.Report("column", 1, "", "a column part2 before part3", t.Header())
		return nil
	}
	before := r.problems.Len()
	names := t.Names(classColumn)
	rowOf := make([]*table.Row, len(r.d.Classes))
	for i, row := range t.Rows {
		for _, column := range columns {
			if part := t.Cell(row, column); part != "" && !slices.Contains(parts, part) {
				t.ReportUnknown(column, row.Line, column, "train, val or test, or nothing for a class that is left out", part, parts)
			}
		}
		if names[i] == "" { // reported
			continue
		}
		if z := r.find(t, row); z >= 0 {
			rowOf[z] = &t.Rows[i]
		}
	}
	labelled := r.d.SamplesPerClass()
	for z, name := range r.d.Classes {
		if rowOf[z] == nil && name != "" && (labelled[z] > 0 || r.source != ClassesFile) {
			r.problems.Add("unlisted", &invalid.Error{
				Where: t.File, Field: "class " + invalid.Quote(name),
				Want: "a line for every class of " + r.source + ", with an empty part for a class that is left out", Got: "none",
			})
		}
	}
	if r.problems.Len() > before { // what follows from these is not worth reporting
		return nil
	}
	splits := make([]dataset.Split, len(columns))
	for n, column := range columns {
		into := map[string]*[]int{"train": &splits[n].Train, "val": &splits[n].Val, "test": &splits[n].Test, "": new([]int)}
		for z, row := range rowOf {
			if row == nil {
				continue
			}
			part, first := t.Cell(*row, column), t.Cell(*row, partColumns[0])
			*into[part] = append(*into[part], z)
			if seen := parts[:2]; part != first && !(slices.Contains(seen, part) && slices.Contains(seen, first)) {
				t.Report("unseen", row.Line, column, "what part has, or train and val exchanged", fmt.Sprintf("%q, where part has %q", part, first))
			}
		}
		for _, subset := range splits[n].Subsets() {
			if len(subset.Classes) == 0 {
				r.report(t.File, fmt.Sprintf("at least one %s class in column %s", subset.Name, column), "none")
			}
		}
	}
	return splits
}

// ReadSplits reads a file in the form of splits.csv for the given classes. It returns one
// split for each of the columns part, part2 and part3 that the file has. The error joins
// all problems, each an *invalid.Error.
func ReadSplits(ctx context.Context, path string, classes []string) ([]dataset.Split, error) {
	r := &reader{ctx: ctx, d: new(dataset.Dataset), source: "the data set"}
	r.setClasses(classes)
	splits := r.readSplits(path)
	return splits, r.problems.Err()
}
