package runs

import (
	"encoding/csv"
	"fmt"
	"io"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/train"
)

// WriteCSV writes one line per run, accuracy as a fraction, empty where there is none.
func (l *Listing) WriteCSV(w io.Writer) error {
	rows := [][]string{{"dir", "dataset", "variant", "stage", "seed", "status", "epochs", "best_epoch", "per_class_accuracy", "error"}}
	for _, r := range l.Runs {
		rows = append(rows, row(r.Dir, r.Dataset, r.Variant, r.Stage, r.Seed, r.Status, r.Epochs, r.BestEpoch, r.Accuracy, r.Error))
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// WriteCurve writes the learning curve as CSV with the names of curve.jsonl, one line per
// phase of an epoch. Terms of the loss are not weighted.
func (d *Detail) WriteCurve(w io.Writer) error {
	curve, err := lab.Run{Dir: d.Dir, Trial: train.Trial{Stage: d.Stage}}.Curve()
	if err != nil {
		return err
	}
	rows := [][]string{{
		"epoch", "phase", "steps", "seconds", "loss", "cxe", "bxe", "w2", "wu2", "prior",
		"train_accuracy", "val_accuracy", "val_accuracy_per_sample",
	}}
	for _, e := range curve {
		for _, p := range e.Phases {
			t := p.Terms
			rows = append(rows, row(e.Epoch, p.Name, p.Steps, p.Seconds, p.Loss, t.CXE, t.BXE, t.W2, t.WU2, t.Prior,
				e.TrainAccuracy, e.ValAccuracy, e.ValAccuracyPerSample))
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// row is one line of a CSV file; a nil number is an empty cell.
func row(cells ...any) []string {
	list := make([]string, len(cells))
	for i, cell := range cells {
		switch v := cell.(type) {
		case *float64:
			if v != nil {
				list[i] = fmt.Sprint(*v)
			}
		default:
			list[i] = fmt.Sprint(v)
		}
	}
	return list
}
