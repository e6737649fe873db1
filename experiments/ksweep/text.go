package ksweep

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
)

// WriteText writes a row a number of groups, in percent, then the variants that
// k-soft is compared with, and the trials that are missing.
func (s *Result) WriteText(w io.Writer) error {
	t := lab.NewTable("variant", "K", "val accuracy (%)", "s.e.m.", "seeds")
	row := func(g Point) {
		t.AppendRow(table.Row{g.Variant, g.K, lab.Points(g.Accuracy, g.Accuracy.Mean), lab.Points(g.Accuracy, g.Accuracy.SEM), len(g.Accuracy.Values)})
	}
	for _, g := range s.Points {
		row(g)
	}
	t.AppendSeparator()
	for _, g := range s.Lines {
		row(g)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: val accuracy against the number of groups, %s\n", s.Dataset, format.Count(s.Seeds, "seed"))
	fmt.Fprintln(&b, t.Render())
	if best, ok := s.best(); ok {
		fmt.Fprintf(&b, "k-soft is best with K = %d\n", best.K)
	}
	lab.WriteMissing(&b, s.Missing)
	_, err := io.WriteString(w, b.String())
	return err
}

// best is the point with the highest mean, the one with fewer groups of equals.
func (s *Result) best() (Point, bool) {
	var best Point
	for _, g := range s.Points {
		if lab.ByMean(g.Accuracy, best.Accuracy) < 0 {
			best = g
		}
	}
	return best, len(best.Accuracy.Values) > 0
}
