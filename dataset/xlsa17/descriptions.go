package xlsa17

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

const (
	descriptionFile = "meta/class_descriptions_by_attributes.txt"
	classFile       = "meta/classes.txt" // names the classes of its lines

	// excess is the relative amount by which a probability may exceed 1, or a percentage
	// 100, because it was written with few digits.
	excess = 1e-3
	// contradiction is a difference of two probabilities that rounding to one digit does
	// not explain: then rows or columns are in different orders.
	contradiction = 0.0501
)

// readDescriptions reads the text file of LAGO's archive, or else original_att. The text
// has more digits than the float32 of the .mat.
func (f *folder) readDescriptions() error {
	if path := firstFile(f.Source, descriptionFile); path != "" {
		return f.readDescriptionFile(path)
	}
	if f.original == nil {
		e := wrong(f.mat, varOriginal,
			"class descriptions here or in "+filepath.Join(f.Source, descriptionFile), "neither")
		e.Hint = "The variable att is not read, since its columns are L2-normalised in the release: if it " +
			"holds probabilities, save it as " + varOriginal + ", too."
		return e
	}
	f.Descriptions = *f.original
	return nil
}

func (f *folder) readDescriptionFile(path string) error {
	lines, err := readLines(f.ctx, path)
	if err != nil {
		return err
	}
	rows, err := parseMatrix(path, lines)
	if err != nil {
		return err
	}
	if o := f.original; o != nil && o.Cols != rows.Cols {
		return wrong(path, "", fmt.Sprintf("%d attributes, as in %s of %s", o.Cols, varOriginal, f.mat),
			fmt.Sprint(rows.Cols))
	}
	if err := toProbabilities(rows, path, ""); err != nil {
		return err
	}
	rowOf, err := f.rowsOfClasses(path, rows.Rows)
	if err != nil {
		return err
	}
	f.Descriptions = rows.Gather(rowOf)
	if f.original == nil {
		return nil
	}
	// The text may be rounded or describe more entries, but not be in another order.
	for i, p := range f.Descriptions.Data {
		if q := f.original.Data[i]; math.Abs(p-q) > contradiction {
			return wrong(path, fmt.Sprintf("class %q, attribute %d", f.Classes[i/rows.Cols], i%rows.Cols+1),
				fmt.Sprintf("about %.4g, as in %s of %s", q, varOriginal, f.mat), fmt.Sprintf("%.4g", p))
		}
	}
	return nil
}

// isNormalised reports whether all rows have the length 1, of which some are not one 1 among zeros.
func isNormalised(u dataset.Matrix[float64]) bool {
	fractions := false
	for z := range u.Rows {
		sum := 0.
		for _, v := range u.Row(z) {
			sum += v * v
			fractions = fractions || v != 0 && v != 1
		}
		if math.Abs(sum-1) > 1e-4 {
			return false
		}
	}
	return fractions
}

const (
	leastPercent = 20  // below it, the largest number of a table is that of a scale, such as 0 to 10
	mostMissing  = 0.1 // of the entries of a table of -1, 0 and 1, where more -1 mean no
)

// toProbabilities turns percentages into fractions, and -1, which means "not described", into NaN.
// Other codings and scales are refused. variable is that of a .mat, "" for a text file.
func toProbabilities(u dataset.Matrix[float64], file, variable string) error {
	largest, at, negative, missing, zeros, fractions, above := 0., 0, 0., 0, 0, 0, 0
	for i, v := range u.Data {
		switch {
		case v == -1:
			missing++
		case v < 0:
			negative = min(negative, v)
		case v == 0:
			zeros++
		case v > 0 && v != 1:
			fractions++
		}
		if v > 1+excess {
			above++
		}
		if v > largest {
			largest, at = v, i
		}
	}
	scale := 1.0
	if largest > leastPercent {
		scale = 100
	}
	found, hint := "", "Write the numbers from before the normalisation."
	switch {
	case negative < 0:
		found = fmt.Sprintf("the number %g, as in standardised numbers", negative)
		hint = "Write the numbers from before the standardisation. Of vectors, such as those of a text " +
			"encoder, scale each column to 0 to 1: (x - x.min(0)) / (x.max(0) - x.min(0))."
	case missing > 0 && fractions == 0 && (zeros == 0 || float64(missing) > mostMissing*float64(len(u.Data))):
		found = fmt.Sprintf("a coding by whole numbers, with -1 in %d of %d entries", missing, len(u.Data))
		hint = "Write 0 for no, 1 for yes, a number between for what is uncertain, and nan for what is not " +
			"known."
	case above > 0 && above < fractions-above:
		found = fmt.Sprintf("%v, of class %d and attribute %d, beside more numbers below 1", largest,
			at/u.Cols+1, at%u.Cols+1)
		hint = "Write percentages alone, or divide them by 100."
	case largest > scale*(1+excess):
		found = fmt.Sprintf("a largest value of %v, of class %d and attribute %d", largest, at/u.Cols+1,
			at%u.Cols+1)
		hint = "Divide by the largest value of the scale."
	case isNormalised(u):
		found = "rows of length 1, as in an L2-normalised att"
	default:
		for i, v := range u.Data {
			if u.Data[i] = min(v/scale, 1); v < 0 {
				u.Data[i] = math.NaN()
			}
		}
		return nil
	}
	return &invalid.Error{
		Where: file, Field: variable, Got: found, Hint: hint,
		Want: "probabilities from 0 to 1, or percentages, with -1 for a few that are not known",
	}
}

// rowsOfClasses returns the row of each class among the n rows of a description file: by
// name through classes.txt, which may have other classes, or else in the order of the .mat.
func (f *folder) rowsOfClasses(path string, n int) (rowOf []int, err error) {
	names, list := f.Classes, f.mat
	if file := firstFile(f.Source, classFile); file != "" {
		list = file
		if names, err = readNames(f.ctx, list); err != nil {
			return nil, err
		}
	} else if f.original == nil {
		return nil, wrong(filepath.Join(f.Source, classFile), "",
			"the classes in the order of "+descriptionFile,
			fmt.Sprintf("no such file, and no %s in %s to verify the order", varOriginal, f.mat))
	}
	if len(names) != n {
		return nil, wrong(path, "", fmt.Sprintf("%d lines, one for each class of %s", len(names), list),
			fmt.Sprint(n))
	}
	rows := make(map[string]int)
	for row, name := range names {
		if _, twice := rows[name]; twice {
			return nil, wrong(list, "", "each class once", invalid.Quote(name)+" twice")
		}
		rows[name] = row
	}
	for _, name := range f.Classes {
		row, ok := rows[name]
		if !ok {
			e := wrong(list, "", "every class of "+f.mat, "no line for "+invalid.Quote(name))
			e.Hint = invalid.DidYouMean(name, names)
			return nil, e
		}
		rowOf = append(rowOf, row)
	}
	return rowOf, nil
}

func parseMatrix(file string, lines []line) (dataset.Matrix[float64], error) {
	var m dataset.Matrix[float64]
	if len(lines) == 0 {
		return m, wrong(file, "", "at least one line of numbers", "none")
	}
	m.Rows, m.Cols = len(lines), len(strings.Fields(lines[0].text))
	for _, l := range lines {
		fields := strings.Fields(l.text)
		if len(fields) != m.Cols {
			return m, wrong(file, fmt.Sprintf("line %d", l.number),
				fmt.Sprintf("%d numbers, as in the lines before", m.Cols), fmt.Sprint(len(fields)))
		}
		for j, field := range fields {
			v, err := table.Number(field, 64)
			if err != nil {
				return m, wrong(file, fmt.Sprintf("line %d, number %d", l.number, j+1), "a number",
					strconv.Quote(field))
			}
			m.Data = append(m.Data, v)
		}
	}
	return m, nil
}

// attributeFiles name the attributes: that of LAGO's archive, CUB's own, and AWA's own,
// which has no groups. The first that exists is read.
var attributeFiles = []string{
	"meta/attribute_names_with_semantic_group.txt", "attributes.txt", "predicates.txt",
}

// readAttributes reads the names of the attributes and their groups. Without a file they
// are attribute_1 and so on, without groups.
func (f *folder) readAttributes() error {
	path := firstFile(f.Source, attributeFiles...)
	if path == "" {
		for m := range f.Descriptions.Cols {
			f.Attributes = append(f.Attributes, dataset.Attribute{
				Name: fmt.Sprintf("attribute_%d", m+1), Group: -1,
			})
		}
		return nil
	}
	names, err := readNames(f.ctx, path)
	if err != nil {
		return err
	}
	if len(names) != f.Descriptions.Cols {
		return wrong(path, "", fmt.Sprintf("%d attributes, as in the descriptions", f.Descriptions.Cols),
			fmt.Sprint(len(names)))
	}
	f.Attributes, f.Groups = group(names)
	return nil
}

// group takes what precedes "::" in a name as its group. A name without "::" is the only
// member of its group. If no name has "::", groups are unknown.
func group(names []string) (attributes []dataset.Attribute, groups []string) {
	known := make(map[string]int)
	for _, name := range names {
		g, _, found := strings.Cut(name, "::")
		k, seen := known[g]
		if !found || !seen {
			k = len(groups)
			groups = append(groups, g)
		}
		if found {
			known[g] = k
		}
		attributes = append(attributes, dataset.Attribute{Name: name, Group: k})
	}
	if len(known) > 0 {
		return attributes, groups
	}
	for m := range attributes {
		attributes[m].Group = -1
	}
	return attributes, nil
}

// maxText bounds the bytes of a text file, far above the descriptions of any data set.
const maxText = 64 << 20

type line struct {
	number int // from 1
	text   string
}

func readLines(ctx context.Context, path string) ([]line, error) {
	text, err := fileio.ReadRegularFile(ctx, path, maxText)
	if other := fileio.FormatOf(text); err == nil && other.Name != "" {
		return nil, &invalid.Error{Where: path, Want: "lines of text", Got: other.Name, Hint: other.Hint}
	}
	return splitLines(strings.TrimPrefix(string(text), "\ufeff")), err
}

func splitLines(text string) (lines []line) {
	for i, part := range strings.Split(text, "\n") {
		if part = dataset.Name(part); part != "" {
			lines = append(lines, line{i + 1, part})
		}
	}
	return lines
}

// numberedName is a number and a name, as in "12 has_bill_shape::dagger".
var numberedName = regexp.MustCompile(`^(\d{1,18})[ \t]+(\S.*)$`)

// readNames reads names, one per line, without the numbers that may precede them. These must ascend, because
// names belong to rows or columns by their lines; if some line has none, they are parts of the names.
func readNames(ctx context.Context, path string) (names []string, err error) {
	lines, err := readLines(ctx, path)
	if err != nil {
		return nil, err
	}
	numbered := !slices.ContainsFunc(lines, func(l line) bool { return !numberedName.MatchString(l.text) })
	last := -1
	for _, l := range lines {
		name := l.text
		if numbered {
			parts := numberedName.FindStringSubmatch(l.text)
			n, _ := strconv.Atoi(parts[1]) // of at most 18 digits
			if n <= last {
				return nil, wrong(path, fmt.Sprintf("line %d", l.number),
					fmt.Sprintf("a number above %d, that of the line before", last), parts[1])
			}
			name, last = parts[2], n
		}
		if _, want := dataset.CheckName(name); want != "" {
			return nil, wrong(path, fmt.Sprintf("line %d", l.number), want, invalid.Quote(name))
		}
		names = append(names, name)
	}
	return names, nil
}
