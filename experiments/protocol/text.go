package protocol

import (
	"fmt"
	"io"
	"strings"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
)

// WriteText writes the table of a run and the folders of its runs. p is the preset that
// the run started from.
func (o *Outcome) WriteText(w io.Writer, p Preset) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s, stage %s, %s\n", o.Variant, o.Dataset, o.Stage, o.epochs())
	t := format.NewTable("evaluated on", "classes", "per-class accuracy", "95 % over classes", "s.e.m. over seeds", "chance", "seeds")
	t.Right(3, 4, 5, 6)
	for _, part := range []struct {
		name string
		*Measured
	}{{"validation", o.Val}, {"test (unseen)", o.Test}} {
		if part.Measured != nil {
			t.Row(part.name, part.Classes, part.PerClass.MeanText(), part.Interval, part.PerClass.SEMText(), format.Percent(part.Chance()), len(part.PerClass.Values))
		}
	}
	b.WriteString(t.String())
	if expect := lab.Summarise(p.Expect); o.Test != nil && len(p.Expect) > 0 {
		fmt.Fprintf(&b, "published with the authors' settings of this variant: %s test accuracy over %s\n", expect.MeanText(), format.Count(len(p.Expect), "seed"))
	}
	if o.Adaptation != nil {
		fmt.Fprintf(&b, "adaptation to unlabelled samples (--adapt): %s\n", adaptation.Text(o.Adaptation))
	}
	o.writeSettings(&b, p)
	fmt.Fprintf(&b, "%s:\n", o.trained())
	for _, dir := range o.RunDirs {
		fmt.Fprintf(&b, "  %s\n", dir)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeSettings writes the settings that a search varies, where they come from, and the
// command that searches better ones.
func (o *Outcome) writeSettings(b *strings.Builder, p Preset) {
	var list []string
	source := p.Source
	for _, s := range settings {
		if s.AppliesTo(o.Config) && s.SearchValues(o.Config.Variant, 1) != nil {
			list = append(list, fmt.Sprintf("%s %v", s.Key, s.Value(o.Config)))
			if from := p.Origins[s.Key]; from != fromDefault && from != fromPreset {
				source = "partly given; otherwise " + p.Source
			}
		}
	}
	fmt.Fprintf(b, "settings: %s (%s); to search for better ones: lago-train search --dataset %s --variant %s\n",
		strings.Join(list, ", "), source, o.Dataset, o.Variant)
}

// trained says what was trained, and what was reused.
func (o *Outcome) trained() string {
	const when = "2006-01-02 15:04"
	runs := format.Count(len(o.RunDirs), "run")
	switch o.Reused {
	case 0:
		return fmt.Sprintf("%s, trained in %.1f s", runs, o.Seconds)
	case len(o.RunDirs):
		return fmt.Sprintf("nothing trained: %s reused, trained until %s in %.1f s", runs, o.TrainedTo.Format(when), o.Seconds)
	}
	return fmt.Sprintf("%s (%d reused, the first trained %s), trained in %.1f s", runs, o.Reused, o.TrainedFrom.Format(when), o.Seconds)
}

func (o *Outcome) epochs() string {
	if o.Test == nil {
		return fmt.Sprintf("best average validation accuracy at epoch %d", o.Epochs)
	}
	return format.Count(o.Epochs, "epoch") + " on train and validation classes"
}
