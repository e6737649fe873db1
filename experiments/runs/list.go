package runs

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/train"
)

// The status of a run that has no result.
const (
	statusUnfinished train.Status = "unfinished"
	statusBroken     train.Status = "broken" // a file can't be read
)

// Statuses are those of runs, of finished ones first.
var Statuses = []train.Status{train.Patience, train.Epochs, train.Converged, train.NotFinite, train.Failed, statusUnfinished, statusBroken}

// Listing is the runs of a folder.
type Listing struct {
	Dir  string `json:"dir"`
	Runs []Line `json:"runs"`
}

// Line is a run in one line.
type Line struct {
	Dir       string       `json:"dir"`
	Dataset   string       `json:"dataset"`
	Variant   string       `json:"variant"` // or the name of a baseline
	Stage     train.Stage  `json:"stage"`
	Seed      uint64       `json:"seed"`
	Status    train.Status `json:"status"`
	Error     string       `json:"error,omitempty"` // why there is no model
	Epochs    int          `json:"epochs"`          // of an unfinished run, up to its checkpoint
	BestEpoch int          `json:"best_epoch"`      // 0 if there is no model
	Accuracy  *float64     `json:"per_class_accuracy"`
}

// Filter selects runs; an empty field selects all.
type Filter struct {
	Dataset string
	Variant string
	Stage   string
	Status  string
}

// List reads the selected runs in dir.
func (f Filter) List(dir string) (*Listing, error) {
	runs, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	l := &Listing{Dir: dir, Runs: []Line{}}
	for _, r := range runs {
		if line := lineOf(r); f.selects(line) {
			l.Runs = append(l.Runs, line)
		}
	}
	return l, nil
}

func (f Filter) selects(r Line) bool {
	return (f.Dataset == "" || strings.EqualFold(f.Dataset, r.Dataset)) &&
		(f.Variant == "" || f.Variant == r.Variant) &&
		(f.Stage == "" || f.Stage == string(r.Stage)) &&
		(f.Status == "" || f.Status == string(r.Status))
}

func lineOf(t lab.Run) Line {
	r := Line{Dir: t.Dir, Dataset: t.Dataset, Variant: t.Method(), Stage: t.Stage, Seed: t.Training.Seed}
	if t.Err != nil {
		r.Error = t.Why()
	}
	unfinished := (*lab.Unfinished)(nil)
	switch {
	case t.Result != nil:
		r.Status, r.Epochs, r.BestEpoch = t.Result.Status, t.Result.Epochs, t.Result.BestEpoch
		if t.Result.Evaluation != nil {
			r.Accuracy = &t.Result.Evaluation.PerClass
		}
	case errors.As(t.Err, &unfinished):
		r.Status, r.Epochs = statusUnfinished, unfinished.Epoch
	default:
		r.Status = statusBroken
	}
	return r
}

// WriteText writes one row per run.
func (l *Listing) WriteText(w io.Writer) error {
	t := format.NewTable("run", "data set", "variant", "stage", "seed", "status", "epochs", "best epoch", "accuracy")
	t.Right(9)
	var broken strings.Builder
	for _, r := range l.Runs {
		row := []any{filepath.Base(r.Dir), r.Dataset, r.Variant, r.Stage, r.Seed, r.Status, r.Epochs, "-", "-"}
		switch {
		case r.Status == statusUnfinished:
			row[5] = fmt.Sprintf("unfinished at epoch %d", r.Epochs)
		case r.Error != "":
			fmt.Fprintf(&broken, "%s: %s\n", r.Dir, r.Error)
		}
		if r.Accuracy != nil {
			row[7], row[8] = r.BestEpoch, format.Percent(*r.Accuracy)
		}
		t.Row(row...)
	}
	_, err := fmt.Fprintf(w, "%s in %s\n%s%s", format.Count(len(l.Runs), "run"), l.Dir, t, broken.String())
	return err
}
