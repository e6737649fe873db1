package experiments

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/train"
)

// Unfinished says that a run has no result yet.
type Unfinished struct {
	Epoch int // of its checkpoint, 0 before the first
}

func (u *Unfinished) Error() string {
	if u.Epoch == 0 {
		return "unfinished, without a checkpoint"
	}
	return fmt.Sprintf("unfinished at epoch %d", u.Epoch)
}

// ReadRuns reads the runs that have a folder below root, in the order of their
// names. Err says what became of those without a model: an *Unfinished, why the run
// failed, or which of its files doesn't read. Folders without a trial.json, and
// files, are no runs.
func ReadRuns(root string) ([]lab.Trial, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var runs []lab.Trial
	for _, e := range entries {
		if e.Type().IsRegular() {
			continue
		}
		t, _, err := readRun(filepath.Join(root, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		runs = append(runs, t)
	}
	return runs, nil
}

// readRun reads the run of a folder, and what it was carried out with. The error is
// that of its trial.json, and in t too.
func readRun(dir string) (t lab.Trial, r train.Record, err error) {
	r, err = train.ReadRecord(dir)
	t = lab.Trial{Trial: r.Trial, Dir: dir, Err: err}
	if err == nil {
		t.Result, t.Err = readResult(dir)
	}
	return t, r, err
}

// readResult returns the result of a run, and why it has no model.
func readResult(dir string) (*train.Result, error) {
	r, err := train.ReadResult(dir)
	if err == nil {
		return r, r.Failure()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// The curve is written with the checkpoint.
	curve, err := train.ReadCurve(filepath.Join(dir, train.CurveFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return nil, &Unfinished{Epoch: len(curve)}
}

// Setting is one of those that define a trial.
type Setting struct {
	Name  string `json:"name"` // in config files and trial.json
	Value any    `json:"value"`
}

// Settings lists what defines a trial.
func Settings(t train.Trial) []Setting {
	m, s := t.Model, t.Training
	if t.Baseline.Method != "" {
		return baselineSettings(t)
	}
	return []Setting{
		{"dataset", t.Dataset},
		{"fingerprint", t.Fingerprint},
		{"stage", t.Stage},
		{"variant", m.Variant},
		{"prior", m.Prior},
		{"complement", m.Complement},
		{"zeta", m.Zeta},
		{"k", m.K},
		{"alpha", m.Alpha},
		{"beta", m.Beta},
		{"lambda", m.Lambda},
		{"psi", m.Psi},
		{"preprocess", t.Preprocess},
		{"ridge", t.Ridge},
		{"hold_out", t.HoldOut},
		{"epochs", s.Epochs},
		{"lr", s.LearningRate},
		{"lr_v", s.LearningRateV},
		{"batch", s.Batch},
		{"patience", s.Patience},
		{"seed", s.Seed},
	}
}

// baselineSettings is Settings for a baseline.
func baselineSettings(t train.Trial) []Setting {
	return []Setting{
		{"dataset", t.Dataset},
		{"fingerprint", t.Fingerprint},
		{"stage", t.Stage},
		{"method", t.Baseline.Method},
		{"settings", t.Baseline.Settings},
		{"preprocess", t.Preprocess},
		{"ridge", t.Ridge},
		{"hold_out", t.HoldOut},
		{"epochs", t.Training.Epochs},
		{"patience", t.Training.Patience},
		{"seed", t.Training.Seed},
	}
}

// Missing is a trial that a table has to do without.
type Missing struct {
	Dir string `json:"dir"`
	Why string `json:"why"`
}

// missing lists the trials that have no model.
func missing(trials []lab.Trial) []Missing {
	list := []Missing{}
	for _, t := range trials {
		if t.Err != nil {
			list = append(list, Missing{t.Dir, t.Err.Error()})
		}
	}
	return list
}
