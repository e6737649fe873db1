package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train"
)

// Unfinished is the error of a run without a result.
type Unfinished struct {
	Epoch int // of its checkpoint, 0 before the first
}

func (u *Unfinished) Error() string {
	if u.Epoch == 0 {
		return "unfinished, without a checkpoint"
	}
	return fmt.Sprintf("unfinished at epoch %d", u.Epoch)
}

// ReadRuns reads the runs below root, in the order of their names. Err is set for those
// without a model: an *Unfinished, why the run failed, or which of its files can't be
// read. Files, and folders without a trial.json, are not runs.
func ReadRuns(root string) ([]Run, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &invalid.Error{Where: root, Want: "a folder of runs", Got: "no such folder", Hint: "Train with lago-train run, or name another folder."}
	}
	if err != nil {
		return nil, invalid.File(root, err)
	}
	var runs []Run
	for _, e := range entries {
		if e.Name() == train.TrialFile {
			return nil, &invalid.Error{Where: root, Want: "a folder of runs", Got: "the folder of one run", Hint: "Name the folder that holds it."}
		}
		if e.Type().IsRegular() {
			continue
		}
		r, _, err := ReadRun(filepath.Join(root, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// ReadRun reads the run of a folder. The error is that of its trial.json; it is in Err
// too.
func ReadRun(dir string) (r Run, record train.Record, err error) {
	record, err = train.ReadRecord(dir)
	r = Run{Trial: record.Trial, Dir: dir, Err: err}
	if err == nil {
		r.read(train.ReadResult)
		if r.Result == nil && r.Err == nil {
			r.Err = unfinished(dir, r.Stage)
		}
	}
	return r, record, err
}

// Why is the text of Err, which names files within the folder of the run.
func (r Run) Why() string { return strings.TrimPrefix(r.Err.Error(), r.Dir+string(filepath.Separator)) }

// Curve reads the learning curve of a finished run: at least one epoch.
func (r Run) Curve() (train.Curve, error) {
	path := filepath.Join(r.Dir, train.CurveFile)
	curve, err := train.ReadCurve(path, r.Stage)
	if err == nil && len(curve) == 0 {
		err = &invalid.Error{Where: path, Want: "at least one epoch", Got: "none"}
	}
	return curve, err
}

// read sets the result that read returns for the run's folder. Without one, Result and Err are nil.
func (r *Run) read(read func(dir string) (*train.Result, error)) {
	result, err := read(r.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Result, r.Err = nil, nil
	case err != nil:
		r.Result, r.Err = nil, err
	default:
		r.Result, r.Err = result, result.Failure()
		r.Ended = endedAt(r.Dir)
	}
}

// endedAt returns when the run of a folder ended, the zero time if it has no result.
func endedAt(dir string) (t time.Time) {
	if info, err := os.Stat(filepath.Join(dir, train.ResultFile)); err == nil {
		t = info.ModTime()
	}
	return t
}

// unfinished says how far a run without a result is. The curve is written with the
// checkpoint.
func unfinished(dir string, stage train.Stage) error {
	curve, err := train.ReadCurve(filepath.Join(dir, train.CurveFile), stage)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &Unfinished{Epoch: len(curve)}
}

// Missing is a trial without a model, which is missing from a table.
type Missing struct {
	Dir string `json:"dir"`
	Why string `json:"why"`
}

// MissingOf lists the runs that have no model.
func MissingOf(runs []Run) []Missing {
	list := []Missing{}
	for _, r := range runs {
		if r.Err != nil {
			list = append(list, Missing{r.Dir, r.Why()})
		}
	}
	return list
}

// MissingTable lists the trials below a table, nil if none is missing.
func MissingTable(list []Missing) *table.Table {
	if len(list) == 0 {
		return nil
	}
	t := table.New(format.Count(len(list), "run") + " missing from the table:")
	for _, m := range list {
		t.Note("  %s: %s", m.Dir, m.Why)
	}
	return t
}
