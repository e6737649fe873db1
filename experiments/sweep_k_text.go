package experiments

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// WriteText writes a row a number of groups, in percent, then the variants that
// k-soft is compared with, and the trials that are missing.
func (s *KSweep) WriteText(w io.Writer) error {
	t := newTable("variant", "K", "val accuracy (%)", "s.e.m.", "seeds")
	row := func(g Grouping) {
		t.AppendRow(table.Row{g.Variant, g.K, points(g.Accuracy, g.Accuracy.Mean), points(g.Accuracy, g.Accuracy.SEM), len(g.Accuracy.Values)})
	}
	for _, g := range s.Points {
		row(g)
	}
	t.AppendSeparator()
	for _, g := range s.Lines {
		row(g)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: val accuracy against the number of groups, %s\n", s.Dataset, plural(s.Seeds, "seed"))
	fmt.Fprintln(&b, t.Render())
	if best, ok := s.best(); ok {
		fmt.Fprintf(&b, "k-soft is best with K = %d\n", best.K)
	}
	writeMissing(&b, s.Missing)
	_, err := io.WriteString(w, b.String())
	return err
}

// best is the point with the highest mean, the one with fewer groups of equals.
func (s *KSweep) best() (Grouping, bool) {
	var best Grouping
	for _, g := range s.Points {
		if byMean(g.Accuracy, best.Accuracy) < 0 {
			best = g
		}
	}
	return best, len(best.Accuracy.Values) > 0
}
