package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
func ReadRuns(root string) ([]Run, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, e := range entries {
		if e.Type().IsRegular() {
			continue
		}
		t, _, err := ReadRun(filepath.Join(root, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		runs = append(runs, t)
	}
	return runs, nil
}

// readRun reads the run of a folder, and what it was carried out with. The error is
// that of its trial.json, and in t too.
func ReadRun(dir string) (t Run, r train.Record, err error) {
	r, err = train.ReadRecord(dir)
	t = Run{Trial: r.Trial, Dir: dir, Err: err}
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

// Missing is a trial that a table has to do without.
type Missing struct {
	Dir string `json:"dir"`
	Why string `json:"why"`
}

// missing lists the trials that have no model.
func MissingOf(trials []Run) []Missing {
	list := []Missing{}
	for _, t := range trials {
		if t.Err != nil {
			list = append(list, Missing{t.Dir, t.Err.Error()})
		}
	}
	return list
}
