package features

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
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
