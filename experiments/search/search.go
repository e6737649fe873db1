package search

import (
	"fmt"
	"io"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/format"
)

// shown is the number of settings that the text shows.
const shown = 10

// WriteText writes the best settings that a search found and what it chose. file is the
// config file that was written.
func WriteText(w io.Writer, s *tuning.Found, file string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s: the best %d of %s by validation accuracy, the mean over %s; %s\n",
		s.Variant, s.Dataset, min(shown, len(s.Tried)), format.Count(len(s.Tried), "setting"), format.Count(s.Folds, "fold"), format.Count(s.Trials, "run"))
	b.WriteString(table(s).String())
	if len(s.Tried)+len(s.Missing) < s.Budget {
		fmt.Fprintf(&b, "the budget of %d settings was not used up: the space has no more\n", s.Budget)
	}
	chosen := s.Chosen
	fmt.Fprintf(&b, "chosen: the first, %s (s.e.m. %s over %d further seeds), %s by their average curve\n",
		chosen.Accuracy.MeanText(), chosen.Accuracy.SEMText(), len(chosen.Accuracy.Values), format.Count(chosen.Epochs, "epoch"))
	if chosen.Epochs == s.Epochs {
		fmt.Fprintln(&b, "  these are all epochs of a trial: more epochs may be better (--epochs)")
	}
	for _, e := range chosen.Edges {
		fmt.Fprintf(&b, "  %s = %v is the %s value of the space: values beyond it may be better\n", e.Setting, e.Value, e.End)
	}
	fmt.Fprintf(&b, "written to %s; evaluate it once on the test classes:\n  lago-train run --config %s\n", file, file)
	b.WriteString(lab.MissingText(s.Missing))
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteRotation writes the accuracy to be expected of searched settings, and what each part
// of a rotation chose.
func WriteRotation(w io.Writer, m *tuning.Methods) error {
	var b strings.Builder
	for _, r := range m.Rows {
		fmt.Fprintf(&b, "%s with searched settings%s:\n%s\n", r.Name, protocol.InParts("unseen", len(r.Parts)), r.Test)
		for _, line := range r.Chosen() {
			fmt.Fprintln(&b, line)
		}
	}
	for _, o := range m.LeftOut {
		fmt.Fprintf(&b, "%s is left out: %s\n", o.Variant, o.Why)
	}
	b.WriteString(lab.MissingText(m.Missing))
	_, err := io.WriteString(w, b.String())
	return err
}

func table(s *tuning.Found) *format.Table {
	var header []any
	for _, name := range s.Space {
		header = append(header, name)
	}
	n := len(header)
	t := format.NewTable(append(header, "best epoch", "accuracy", fmt.Sprintf("%d further seeds", tuning.FurtherSeeds), "s.e.m.")...)
	t.Right(n+2, n+3, n+4)
	for _, tried := range s.Tried[:min(shown, len(s.Tried))] {
		var row []any
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
		t.Row(append(row, tried.BestEpoch, format.Percent(tried.Accuracy), more.MeanText(), more.SEMText())...)
	}
	return t
}
