package descriptions

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// layout is a table of traits without its layout: the classes that it describes, and what it says of each.
type layout struct {
	file    *table.Table
	text    string   // for Reading.Layout
	without int      // names that are left out
	names   []string // of the classes
	columns []*column
}

// otherFormat refuses what biologists and programs write in place of CSV, with the way to a table.
func otherFormat(path string, text []byte) error {
	var lines []string
	for line := range bytes.Lines(text[:min(len(text), 1<<16)]) {
		if trimmed := strings.TrimSpace(string(line)); trimmed != "" && len(lines) < 2 {
			lines = append(lines, strings.TrimRight(string(line), "\r\n"))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	const rows = `In R: write.csv(data.frame(class = rownames(x), x), "traits.csv", row.names = FALSE).`
	tabs := func(line string) int { return strings.Count(line, "\t") }
	e := &invalid.Error{Where: path, Want: "a table in CSV"}
	switch first := strings.TrimSpace(lines[0]); {
	case strings.HasPrefix(strings.ToUpper(first), "#NEXUS"):
		e.Got, e.Hint = "a NEXUS file", "Export the matrix as a table with a line per species and the "+
			"names of states: in Mesquite, Export, Simplified table or tab-delimited text."
	case deltaDirective.MatchString(first):
		e.Got, e.Hint = "a DELTA file", "Export it as a table with a line per item and the names of "+
			"states: in Free DELTA or DELTA Editor, File, Export."
	case strings.HasPrefix(first, "{") || strings.HasPrefix(first, "[") && !strings.Contains(first, "],"):
		e.Got, e.Hint = "JSON", `In Python: pandas.read_json("traits.json").to_csv("traits.csv", index=False).`
	case len(lines) > 1 && namesApart.MatchString(first) &&
		namesApart.MatchString(strings.TrimSpace(lines[1])):
		e.Got, e.Hint = "cells separated by spaces, as R's write.table writes them", rows
	case len(lines) > 1 && tabs(lines[0]) > 0 && tabs(lines[1]) == tabs(lines[0])+1 &&
		!strings.HasSuffix(lines[1], "\t"):
		e.Got, e.Hint = "one name fewer in the header than cells below it, as R's "+
			"write.table writes names of rows", rows
	default:
		return nil
	}
	return e
}

var (
	deltaDirective = regexp.MustCompile(`^\*[A-Z]+( |$)`)
	namesApart     = regexp.MustCompile(`^"[^"]*"( ("[^"]*"|[^ ",;]+))+$`)
)

// Headers of tables with a line for each trait, in the form of foldName: of TRY, BIEN, AusTraits, Darwin
// Core.
var (
	classHeader = regexp.MustCompile(`^(class|species|taxon|name|scientificname|(acc)?speciesname|taxonname|scrubbedspeciesbinomial)?$`)
	traitHeader = regexp.MustCompile(`^(trait|attribute|character|property|variable|descriptor|measurementtype)(name)?s?$`)
	valueHeader = regexp.MustCompile(`^(trait|measurement|std|orig)?(value|state)(str|name)?s?$`)
	unitHeader  = regexp.MustCompile(`^(trait|measurement|orig)?units?(str|name)?$`)
)

// layout finds the classes and the traits. It returns nil after a problem.
func (r *traitReader) layout(file *table.Table) *layout {
	// parts with a header each
	file.Rows = slices.DeleteFunc(file.Rows, func(row table.Row) bool {
		return slices.Equal(row.Cells, file.Columns)
	})
	find := r.finder()
	inHeader, at, found := 0, -1, 0
	for j, name := range file.Columns {
		classes := map[int]bool{}
		for _, row := range file.Rows {
			if z := find(row.Cells[j]); z >= 0 {
				classes[z] = true
			}
		}
		if find(name) >= 0 {
			inHeader++
		}
		if better := len(classes) - found; better > 0 || better == 0 && found > 0 &&
			classHeader.MatchString(foldName(name)) && !classHeader.MatchString(foldName(file.Columns[at])) {
			at, found = j, len(classes)
		}
	}
	if at < 0 {
		at = r.byHeader(file)
	}
	l := &layout{file: file}
	switch known := len(r.table.Classes); {
	case inHeader > max(1, found):
		r.turned(l, find)
	case find(file.Columns[at]) >= 0:
		file.Report("header", 1, "", `a header: "class" and the names of traits or groups`,
			"the class "+invalid.Quote(r.table.Classes[find(file.Columns[at])]))
		return nil
	case found == 0 && known > 0 && !r.all:
		first := file.Rows[0].Cells[at]
		r.problems.AddError(&invalid.Error{
			Where: file.File, Want: "a column with names of classes of the data set",
			Got: fmt.Sprintf("none, and %s in column %s", invalid.Quote(first), file.Columns[at]),
			Hint: strings.TrimSpace(invalid.DidYouMean(first, r.table.Classes) +
				" --all adds classes that the data set does not have."),
		})
		return nil
	default:
		r.down(l, at, find)
	}
	if r.problems.Len() > 0 {
		return nil
	}
	if known := len(r.table.Classes); known > 0 {
		l.text += fmt.Sprintf(", %d of %s of the data set", max(found, inHeader),
			format.Count(known, "class"))
	}
	if l.without > 0 {
		l.text += fmt.Sprintf("; %s left out (--all adds them)", format.Count(l.without, "other name"))
	}
	joinNumbered(l)
	findShares(l)
	return l
}

// finder is Table.Finder, which also knows names of species with their authors.
func (r *traitReader) finder() func(name string) int {
	find := r.table.Finder()
	return func(name string) int {
		z := find(name)
		for len(name) < 200 && z < 0 {
			shorter := withAuthor.ReplaceAllString(name, "$1")
			if shorter == name {
				return -1
			}
			name = shorter
			z = find(name)
		}
		return z
	}
}

var withAuthor = regexp.MustCompile(`^(\p{Lu}\pL+ \p{Ll}.*?),? (\S*[\p{Lu}(&.\d]\S*|ex|et|and)$`)

// byHeader returns the column whose name is that of classes and that has most names, or the first one.
func (r *traitReader) byHeader(file *table.Table) (at int) {
	most := 0
	for j, name := range file.Columns {
		if !classHeader.MatchString(foldName(name)) {
			continue
		}
		names := map[string]bool{}
		for _, row := range file.Rows {
			names[row.Cells[j]] = true
		}
		if len(names) > most && !countsUp(file, j) {
			at, most = j, len(names)
		}
	}
	return at
}

// countsUp reports whether a column has the numbers of the lines.
func countsUp(file *table.Table, j int) bool {
	first, err := table.Number(file.Rows[0].Cells[j], 64)
	for i, row := range file.Rows {
		if v, wrong := table.Number(row.Cells[j], 64); err != nil || wrong != nil || v != first+float64(i) {
			return false
		}
	}
	return len(file.Rows) > 2 && (first == 0 || first == 1)
}

// namer returns what gives a class the index of its name in l, -1 for a name that is left out.
func (r *traitReader) namer(l *layout, column string, find func(string) int) func(name string, line int) int {
	index := map[string]int{} // by spelling
	folded := map[string]int{}
	return func(name string, line int) int {
		if i, known := index[name]; known {
			return i
		}
		key, z := foldName(name), find(name)
		i, known := folded[key]
		switch {
		case z >= 0:
			own := r.table.Classes[z]
			if i, known = index[own]; !known {
				i = len(l.names)
				l.names = append(l.names, own)
				index[own] = i
			}
		case key == "" || invalid.HasControl(name):
			l.file.Report("class", line, column, "the name of a class", invalid.Quote(name))
			return -1
		case !known:
			i = len(l.names)
			if r.all {
				l.names = append(l.names, name)
			} else {
				i = -1
				l.without++
			}
			if len(r.table.Classes) > 0 {
				r.noteUnknown(l.file, name, line)
			}
		}
		index[name], folded[key] = i, i
		return i
	}
}

func (r *traitReader) noteUnknown(file *table.Table, name string, line int) {
	e := &invalid.Error{
		Where: file.File, Field: fmt.Sprintf("line %d", line), Want: "a class of the data set",
		Got: invalid.Quote(name) + ", which is left out",
	}
	if r.all {
		e.Got = invalid.Quote(name) + ", which is added"
	}
	if !r.notes.Full("class", file.File) {
		e.Hint = invalid.DidYouMean(name, r.table.Classes)
	}
	r.notes.Add("class", e)
}

// down reads a table whose classes are in a column.
func (r *traitReader) down(l *layout, at int, find func(string) int) {
	file := l.file
	var trait, values, units []int
	for j, name := range file.Columns {
		switch folded := foldName(name); {
		case j == at:
		case traitHeader.MatchString(folded):
			trait = append(trait, j)
		case valueHeader.MatchString(folded):
			values = append(values, j)
		case unitHeader.MatchString(folded):
			units = append(units, j)
		}
	}
	rest := slices.DeleteFunc(indices(len(file.Columns)), func(j int) bool { return j == at })
	if len(trait) == 0 && len(values) == 1 && len(rest) == 2 {
		trait = slices.DeleteFunc(rest, func(j int) bool { return j == values[0] })
	}
	names := map[string]bool{}
	for _, row := range file.Rows {
		names[row.Cells[at]] = true
	}
	standard := strings.HasPrefix(strings.ToLower(strings.Join(file.Columns, ",")), "class,attribute,value")
	many := len(names) < len(file.Rows) || standard
	if len(trait) == 1 && len(values) == 0 && len(rest) == 2 && many {
		values = slices.DeleteFunc(rest, func(j int) bool { return j == trait[0] })
	}
	if len(trait) == 1 && many && (len(values) > 0 || len(rest) == 1) {
		r.long(l, at, trait[0], values, units, find)
		return
	}
	l.text = "a line per class"
	if len(names) < len(file.Rows) {
		l.text = "several lines per class, of which the means count"
	}
	l.text += ", classes in column " + cmp.Or(file.Columns[at], fmt.Sprint(at+1))
	class := r.namer(l, file.Columns[at], find)
	for _, j := range rest {
		l.columns = append(l.columns, &column{name: file.Columns[j]})
		if file.Columns[j] == "" && !countsUp(file, j) || invalid.HasControl(file.Columns[j]) {
			file.Report("trait", 1, fmt.Sprint(j+1), "the name of a trait", invalid.Quote(file.Columns[j]))
		}
	}
	for _, row := range file.Rows {
		z := class(row.Cells[at], row.Line)
		for i, j := range rest {
			if z >= 0 {
				l.columns[i].add(cell{z, row.Line, row.Raw(j)})
			}
		}
	}
}

// long reads a table with a line for each trait of a class. Of several columns of values the last that is
// filled in counts, such as the standardised one of TRY.
func (r *traitReader) long(l *layout, at, trait int, values, units []int, find func(string) int) {
	file := l.file
	used := append(append([]int{at, trait}, values...), units...)
	l.text = fmt.Sprintf("a line per trait, classes in column %s, traits in column %s", file.Columns[at],
		file.Columns[trait])
	if len(values) == 0 {
		l.text += ", each of which is yes"
	}
	var others []string
	for j, name := range file.Columns {
		if !slices.Contains(used, j) {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		r.Notes = append(r.Notes, "columns without traits, which are ignored: "+strings.Join(others, ", "))
	}
	class, columns := r.namer(l, file.Columns[at], find), map[string]*column{}
	for _, row := range file.Rows {
		name := row.Cells[trait]
		if name == "" { // of TRY's lines with circumstances
			continue
		}
		if invalid.HasControl(name) {
			file.Report("trait", row.Line, file.Columns[trait], "the name of a trait", invalid.Quote(name))
			continue
		}
		z, text := class(row.Cells[at], row.Line), ""
		if z < 0 {
			continue
		}
		if len(values) == 0 {
			text = "yes"
		}
		for i, j := range values {
			if isMissing(row.Cells[j]) {
				continue
			}
			text = row.Raw(j)
			if i < len(units) && !isMissing(row.Cells[units[i]]) &&
				strings.ContainsAny(text[:1], "<>~-0123456789") {
				text += " " + row.Cells[units[i]]
			}
		}
		c := columns[foldName(name)]
		if c == nil {
			c = &column{name: name, list: true}
			columns[foldName(name)] = c
			l.columns = append(l.columns, c)
		}
		c.add(cell{z, row.Line, text})
	}
}

// turned reads a table whose classes are the header, with a line for each trait.
func (r *traitReader) turned(l *layout, find func(string) int) {
	file, class := l.file, r.namer(l, "", find)
	first := max(0, slices.IndexFunc(file.Columns, func(name string) bool { return find(name) < 0 }))
	l.text = "a column per class, traits in column " + cmp.Or(file.Columns[first], fmt.Sprint(first+1))
	of := make([]int, len(file.Columns))
	for j, name := range file.Columns {
		if of[j] = -1; j != first {
			of[j] = class(name, 1)
		}
	}
	for _, row := range file.Rows {
		c := &column{name: row.Cells[first]}
		if c.name == "" || invalid.HasControl(c.name) {
			file.Report("trait", row.Line, "", "the name of a trait", invalid.Quote(c.name))
		}
		for j, z := range of {
			if z >= 0 {
				c.add(cell{z, row.Line, row.Raw(j)})
			}
		}
		l.columns = append(l.columns, c)
	}
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
