package xlsa17

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

const (
	maxText = 64 << 20 // bytes of a text file, far above the descriptions of any data set
	maxName = 1000     // bytes of the name of a class or attribute
)

// line is a line of text that is not blank, without the space around it.
type line struct {
	number int // from 1
	text   string
}

func readLines(ctx context.Context, path string) ([]line, error) {
	text, err := input.ReadFile(ctx, path, maxText)
	if err != nil {
		return nil, err
	}
	return splitLines(string(text)), nil
}

// splitLines returns the lines of a text that are not blank. Line ends may be those of
// Unix or Windows, and a byte order mark may come first.
func splitLines(text string) []line {
	var lines []line
	number := 0
	for part := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		number++
		if part = strings.TrimSpace(part); part != "" {
			lines = append(lines, line{number, part})
		}
	}
	return lines
}

// numbered returns names without the number that may precede each of them, as in
// "12 has_bill_shape::dagger". If some line has no number, numbers are part of the
// names. Numbers must ascend, because names belong to rows or columns by their lines.
func numbered(file string, lines []line) ([]line, error) {
	names := make([]line, len(lines))
	last := uint64(0)
	var disorder error
	for i, l := range lines {
		number, name, found := cutSpace(l.text)
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil || !found {
			return lines, nil
		}
		if i > 0 && n <= last && disorder == nil {
			disorder = wrong(file, fmt.Sprintf("line %d", l.number), fmt.Sprintf("a number above %d, that of the line before", last), number)
		}
		names[i], last = line{l.number, name}, n
	}
	return names, disorder
}

// cutSpace cuts at the first run of space.
func cutSpace(s string) (before, after string, found bool) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, "", false
	}
	return s[:i], strings.TrimSpace(s[i:]), true
}

// checkNames checks that names are short and unique. unit is what their numbers count, as in
// "line".
func checkNames(file, unit string, names []line) error {
	numberOf := make(map[string]int, len(names))
	for _, l := range names {
		field := fmt.Sprintf("%s %d", unit, l.number)
		if len(l.text) > maxName {
			return wrong(file, field, fmt.Sprintf("a name of at most %d bytes", maxName), fmt.Sprint(len(l.text)))
		}
		if other, taken := numberOf[l.text]; taken {
			return wrong(file, field, "a unique name", fmt.Sprintf("%q, as in %s %d", l.text, unit, other))
		}
		numberOf[l.text] = l.number
	}
	return nil
}

// parseMatrix reads numbers, one row per line.
func parseMatrix(file string, lines []line) (dataset.Matrix[float64], error) {
	var m dataset.Matrix[float64]
	if len(lines) == 0 {
		return m, wrong(file, "", "at least one line of numbers", "none")
	}
	m.Rows, m.Cols = len(lines), len(strings.Fields(lines[0].text))
	for _, l := range lines {
		fields := strings.Fields(l.text)
		if len(fields) != m.Cols {
			return m, wrong(file, fmt.Sprintf("line %d", l.number), fmt.Sprintf("%d numbers, as in the lines before", m.Cols), fmt.Sprint(len(fields)))
		}
		for j, field := range fields {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return m, wrong(file, fmt.Sprintf("line %d, number %d", l.number, j+1), "a number", strconv.Quote(field))
			}
			m.Data = append(m.Data, v)
		}
	}
	return m, nil
}

// firstFile returns the first of several files that exists, or "" for none.
func firstFile(dir string, names ...string) (string, error) {
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		switch _, err := os.Stat(path); {
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", invalid.File(path, err)
		}
	}
	return "", nil
}

// classIndex finds classes by names that other files spell differently.
type classIndex struct {
	names   []string
	classes [len(spellings)]map[string][]int // by each of the spellings
}

// spellings normalise names, the strictest first. A looser one is used only where the
// stricter ones find no class.
var spellings = [...]func(string) string{
	func(name string) string { return name },
	foldName,
	func(name string) string { return foldName(classNumber.ReplaceAllString(name, "")) },
}

// classNumber precedes the names of CUB's classes: "001.Black_footed_Albatross".
var classNumber = regexp.MustCompile(`^\d+\.\s*`)

// foldName ignores case, and whether words are separated by '+', '_' or space.
func foldName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '+' || r == '_' || r == ' ' })
	return strings.ToLower(strings.Join(words, " "))
}

func newClassIndex(names []string) *classIndex {
	x := &classIndex{names: names}
	for i, spell := range spellings {
		x.classes[i] = make(map[string][]int, len(names))
		for z, name := range names {
			key := spell(name)
			x.classes[i][key] = append(x.classes[i][key], z)
		}
	}
	return x
}

// find returns the class of a name, or -1 and what is wrong with the name.
func (x *classIndex) find(name string) (z int, got string) {
	for i, spell := range spellings {
		switch hits := x.classes[i][spell(name)]; len(hits) {
		case 0:
		case 1:
			return hits[0], ""
		default:
			return -1, fmt.Sprintf("%q, which may mean %q or %q", name, x.names[hits[0]], x.names[hits[1]])
		}
	}
	return -1, fmt.Sprintf("%q, which is none of them", name)
}
