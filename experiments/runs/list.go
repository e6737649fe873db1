package runs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/train"
)

// What stands in place of the status of a run that has no result.
const (
	statusUnfinished train.Status = "unfinished"
	statusBroken     train.Status = "broken" // a file of it doesn't read
)

// Listing is the runs of a folder.
type Listing struct {
	Dir  string `json:"dir"`
	Runs []Line `json:"runs"`
}

// RunLine is a run in short.
type Line struct {
	Dir       string       `json:"dir"`
	Dataset   string       `json:"dataset"`
	Variant   string       `json:"variant"` // or the name of a baseline
	Stage     train.Stage  `json:"stage"`
	Seed      uint64       `json:"seed"`
	Status    train.Status `json:"status"`
	Error     string       `json:"error,omitempty"` // why there is no model
	Epochs    int          `json:"epochs"`          // that were run; of an unfinished run, up to its checkpoint
	BestEpoch int          `json:"best_epoch"`      // 0 where there is no model
	Accuracy  *float64     `json:"per_class_accuracy"`
}

// RunFilter selects runs; an empty field selects all.
type Filter struct {
	Dataset string
	Variant string
	Stage   string
	Status  string
}

// List reads the runs that have a folder in dir and that f selects.
func (f Filter) List(dir string) (*Listing, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
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

func (f Filter) check() error {
	if f.Variant != "" {
		known := []string{}
		for _, v := range model.Variants {
			known = append(known, string(v))
		}
		known = append(known, methods.Names()...)
		if !slices.Contains(known, f.Variant) {
			return fmt.Errorf("variant: expected one of %s, found %q", strings.Join(known, ", "), f.Variant)
		}
	}
	if f.Stage != "" && f.Stage != string(train.Dev) && f.Stage != string(train.Test) {
		return fmt.Errorf("stage: expected dev or test, found %q", f.Stage)
	}
	known := []train.Status{train.Patience, train.Epochs, train.Converged, train.NotFinite, statusUnfinished, statusBroken}
	if f.Status != "" && !slices.Contains(known, train.Status(f.Status)) {
		return fmt.Errorf("status: expected one of %q, found %q", known, f.Status)
	}
	return nil
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
		r.Error = t.Err.Error()
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
