package robustness

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
)

// distortedTable has a row for each degree of a distortion, and a column for each
// method.
func distortedTable(degree string, degrees []float64, methods []Method, of func(Method) []lab.Summary) table.Writer {
	header := []any{degree}
	for _, m := range methods {
		header = append(header, m.Method)
	}
	t := lab.NewTable(header...)
	for i, d := range degrees {
		row := table.Row{format.Percent(d)}
		for _, m := range methods {
			row = append(row, withError(of(m)[i]))
		}
		t.AppendRow(row)
	}
	return t
}

// startRow is what methods score by descriptions that are not distorted.
func startRow(name string, methods []Method) table.Row {
	row := table.Row{name}
	for _, m := range methods {
		row = append(row, fmt.Sprintf("%s, %s", format.Percent(m.Start.Mean), format.Count(len(m.Start.Values), "seed")))
	}
	return row
}

// withError is the mean of a summary and its s.e.m., in percent.
func withError(s lab.Summary) string {
	return fmt.Sprintf("%.1f ± %.1f %%", 100*s.Mean, 100*s.SEM)
}
