package runs

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/train"
)

// judgedBy names the classes that a stage judges.
var judgedBy = map[train.Stage]string{train.Dev: "val", train.Test: "test"}

// WriteText writes a row a run.
func (l *Listing) WriteText(w io.Writer) error {
	t := lab.NewTable("run", "data set", "variant", "stage", "seed", "status", "epochs", "best epoch", "accuracy")
	var broken strings.Builder
	for _, r := range l.Runs {
		row := table.Row{filepath.Base(r.Dir), r.Dataset, r.Variant, r.Stage, r.Seed, r.Status, r.Epochs, "-", "-"}
		switch {
		case r.Status == statusUnfinished:
			row[5] = fmt.Sprintf("unfinished at epoch %d", r.Epochs)
		case r.Error != "":
			fmt.Fprintf(&broken, "%s: %s\n", r.Dir, r.Error)
		}
		if r.Accuracy != nil {
			row[7], row[8] = r.BestEpoch, format.Percent(*r.Accuracy)
		}
		t.AppendRow(row)
	}
	_, err := fmt.Fprintf(w, "%s in %s\n%s\n%s", format.Count(len(l.Runs), "run"), l.Dir, t.Render(), broken.String())
	return err
}

// WriteText writes all of a run.
func (d *Detail) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nended     %s: %s\n", d.Dir, d.Status, d.Why)
	fmt.Fprintf(&b, "epochs    %d in %.1f s\n", d.Epochs, d.Seconds)
	if d.Accuracy != nil {
		fmt.Fprintf(&b, "accuracy  %s per class and %s per sample on %d %s classes, %s on those learned from; epoch %d\n",
			format.Percent(*d.Accuracy), format.Percent(*d.PerSampleAccuracy), d.EvaluatedClasses, judgedBy[d.Stage], format.Percent(*d.TrainAccuracy), d.BestEpoch)
	}
	fmt.Fprint(&b, "\nsettings\n")
	for _, s := range d.Settings {
		fmt.Fprintf(&b, "  %-12s %v\n", s.Name, s.Value)
	}
	fmt.Fprint(&b, "\ncarried out with\n")
	for _, name := range slices.Sorted(maps.Keys(d.Versions)) {
		fmt.Fprintf(&b, "  %s %s\n", name, d.Versions[name])
	}
	fmt.Fprintf(&b, "  %s\n\nfiles\n", d.BLAS)
	for _, f := range d.Files {
		fmt.Fprintf(&b, "  %-24s %9d bytes  %s\n", f.Name, f.Bytes, f.Holds)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
