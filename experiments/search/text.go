package search

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/format"
)

// shownSettings is how many of the settings that were tried the text shows.
const shownSettings = 10

// WriteText writes the best settings with their val accuracy in percent, and what
// was chosen. file is the config file that was written.
func WriteText(w io.Writer, s *tuning.Found, file string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s: %d of %d settings by val accuracy (%%), from %s\n",
		s.Variant, s.Dataset, min(shownSettings, len(s.Tried)), len(s.Tried), format.Count(s.Trials, "trial"))
	fmt.Fprintln(&b, searchTable(s).Render())
	if s.Trials < s.Budget {
		fmt.Fprintf(&b, "the budget of %d trials was not used up: the space has no more to try\n", s.Budget)
	}
	chosen := s.Chosen
	fmt.Fprintf(&b, "chosen: the first, %s %% (s.e.m. %s) over %d further seeds, %d epochs by their average curve\n",
		lab.Points(chosen.Accuracy, chosen.Accuracy.Mean), lab.Points(chosen.Accuracy, chosen.Accuracy.SEM), len(chosen.Accuracy.Values), chosen.Epochs)
	if chosen.Epochs == s.Epochs {
		fmt.Fprintln(&b, "  these are all epochs that a trial was given: more may do better")
	}
	for _, e := range chosen.Edges {
		fmt.Fprintf(&b, "  %s = %v lies on the edge of the space: it is the %s value that was searched\n", e.Setting, e.Value, e.End)
	}
	fmt.Fprintf(&b, "written to %s; judge it once on the test classes with\n  lago-train run --config %s\n", file, file)
	lab.WriteMissing(&b, s.Missing)
	_, err := io.WriteString(w, b.String())
	return err
}

func searchTable(s *tuning.Found) table.Writer {
	var header []any
	for _, name := range s.Space {
		header = append(header, name)
	}
	t := lab.NewTable(append(header, "best epoch", "accuracy", fmt.Sprintf("%d further seeds", tuning.FurtherSeeds), "s.e.m.")...)
	for _, tried := range s.Tried[:min(shownSettings, len(s.Tried))] {
		var row table.Row
		for _, name := range s.Space {
			value, ok := tried.Settings[name]
			if !ok {
				value = "-"
			}
			row = append(row, value)
		}
		var more lab.Summary
		if tried.Further != nil {
			more = *tried.Further
		}
		t.AppendRow(append(row, tried.BestEpoch, fmt.Sprintf("%.2f", 100*tried.Accuracy), lab.Points(more, more.Mean), lab.Points(more, more.SEM)))
	}
	return t
}
