package features

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// ReadLabels reads the class of each sample: integers as ReadIntegers does, less from, or names in the only
// column of a CSV file or in one called class or label. It returns their places among names.
func ReadLabels(ctx context.Context, path string, from int, names []string) ([]int, error) {
	binary := slices.Contains([]string{".npy", ".npz", ".mat"}, strings.ToLower(filepath.Ext(path)))
	var text []byte
	if !binary {
		var err error
		if text, err = fileio.ReadFile(ctx, path, maxText); err != nil {
			return nil, err
		}
		_, below, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
		binary = !bytes.ContainsFunc(below, unicode.IsLetter) || fileio.FormatOf(text).Name != ""
	}
	if binary {
		labels, err := ReadIntegers(ctx, path)
		for i := range labels {
			labels[i] -= from
		}
		return labels, err
	}
	var problems invalid.List
	t := table.Parse(path, bytes.NewReader(text), &problems)
	if t == nil {
		return nil, problems.Err()
	}
	column := max(0, slices.IndexFunc(t.Columns, func(name string) bool {
		return slices.Contains([]string{"class", "label", "true class"}, strings.ToLower(name))
	}))
	index := make(map[string]int, len(names))
	for z, name := range names {
		index[name] = z
	}
	rows := t.Rows
	if _, known := index[t.Columns[column]]; known && len(t.Columns) == 1 { // without a header
		rows = slices.Insert(rows, 0, table.Row{Line: 1, Cells: t.Columns})
	}
	labels := make([]int, len(rows))
	for i, row := range rows {
		z, known := index[row.Cells[column]]
		if labels[i] = z; !known {
			t.ReportUnknown("class", row.Line, t.Columns[column], "a class in the first line of the scores",
				row.Cells[column], names)
		}
	}
	return labels, problems.Err()
}

// ParseIntegers reads integers separated by commas, semicolons, spaces or lines, such as 3 or 3.0. A
// word without digits in the first line is the name of a column. where is the file or flag that errors name.
func ParseIntegers(where, text string) ([]int, error) {
	var numbers []int
	line := 0
	for part := range strings.SplitSeq(text, "\n") {
		line++
		for word := range strings.FieldsFuncSeq(part, func(r rune) bool {
			return strings.ContainsRune(", \t\r;", r)
		}) {
			n, err := strconv.Atoi(word)
			if v, e := table.Number(word, 64); err != nil && e == nil && math.Abs(v) <= math.MaxInt32 &&
				v == math.Trunc(v) {
				n, err = int(v), nil // as numpy.savetxt writes it
			}
			if err != nil && line == 1 && word == strings.TrimSpace(part) &&
				!strings.ContainsAny(word, "0123456789") {
				continue
			}
			if err != nil {
				return nil, &invalid.Error{
					Where: where, Field: fmt.Sprintf("line %d", line), Want: "integers",
					Got: invalid.Quote(word),
				}
			}
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}
