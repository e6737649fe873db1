package protocol

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
)

// WriteText writes the closing table of a run and where its files are. p is what
// the run was started from.
func (o *Outcome) WriteText(w io.Writer, p Preset) error {
	t := lab.NewTable("judged on", "classes", "per-class accuracy", "s.e.m.", "chance", "seeds")
	for _, part := range []struct {
		name string
		*Measured
	}{{"val", o.Val}, {"test (unseen)", o.Test}} {
		if part.Measured != nil {
			t.AppendRow(table.Row{
				part.name, part.Classes, format.Percent(part.PerClass.Mean), format.Percent(part.PerClass.SEM),
				format.Percent(part.Chance()), len(part.PerClass.Values),
			})
		}
	}
	text := fmt.Sprintf("%s on %s, %s stage, %s\n%s\n", o.Variant, o.Dataset, o.Stage, o.epochs(), t.Render())
	if expect := lab.Summarise(p.Expect); o.Test != nil && len(p.Expect) > 0 {
		text += fmt.Sprintf("published with these settings: %s test accuracy over %d seeds\n", format.Percent(expect.Mean), len(p.Expect))
	}
	text += fmt.Sprintf("trained for %.1f s; files of the runs:\n", o.Seconds)
	for _, dir := range o.RunDirs {
		text += "  " + dir + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

func (o *Outcome) epochs() string {
	if o.Test == nil {
		return fmt.Sprintf("best average val accuracy at epoch %d", o.Epochs)
	}
	return fmt.Sprintf("%d epochs on train and val classes", o.Epochs)
}
