// Package history lists the runs that a folder holds, shows all of one, and deletes some.
package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train"
)

// The status of runs without a result.
const (
	statusUnfinished = train.Status(lab.Unfinished)
	statusBroken     = train.Status(lab.Broken)
)

// Statuses are those of runs, of finished ones first.
var Statuses = []train.Status{
	train.Patience, train.Epochs, train.Converged, train.NotFinite, train.Failed, statusUnfinished,
	statusBroken,
}

// Listing is the runs of a folder.
type Listing struct {
	Dir  string `json:"dir"`
	Runs []Line `json:"runs"`

	studies map[string]string // that asked for runs, by the name of their folder
}

// Line is a run in one line.
type Line struct {
	Dir       string       `json:"dir"`
	Dataset   string       `json:"dataset"`
	Method    string       `json:"method"` // a variant of LAGO or a baseline
	Stage     train.Stage  `json:"stage"`
	Seed      uint64       `json:"seed"`
	Status    train.Status `json:"status"`             // as in result.json, unfinished or broken
	Error     string       `json:"error,omitempty"`    // why there is no model
	Epochs    int          `json:"epochs"`             // of an unfinished run, up to its checkpoint
	BestEpoch int          `json:"best_epoch"`         // 0 if there is no model
	Accuracy  *float64     `json:"per_class_accuracy"` // null if there is no model

	written time.Time // last
}

// Filter selects runs; an empty field selects all.
type Filter struct{ Dataset, Method, Stage, Status string }

// List reads the selected runs in dir, which may have been trained for results of some kinds.
func (f Filter) List(ctx context.Context, dir string, kinds []results.Kind) (*Listing, error) {
	runs, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	stored, _, err := lab.ReadStored(ctx, dir)
	if err != nil {
		return nil, err
	}
	l := &Listing{Dir: dir, Runs: []Line{}, studies: map[string]string{}}
	for _, s := range stored { // the newest first, and the oldest that asked for a run trained it
		for _, k := range kinds {
			for _, run := range s.Runs {
				if k.Name == s.Kind {
					l.studies[run] = fmt.Sprintf("%s: %s, %s", k.Command, k.Title, s.Dataset)
				}
			}
		}
	}
	for _, r := range runs {
		line := lineOf(r)
		if (f.Dataset == "" || strings.EqualFold(f.Dataset, line.Dataset)) &&
			(f.Method == "" || f.Method == line.Method) &&
			(f.Stage == "" || f.Stage == string(line.Stage)) &&
			(f.Status == "" || f.Status == string(line.Status)) {
			l.Runs = append(l.Runs, line)
		}
	}
	return l, nil
}

func lineOf(t lab.Run) Line {
	r := Line{Dir: t.Dir, Dataset: t.Dataset, Method: t.Method.Label(), Stage: t.Stage, Seed: t.Seed}
	if info, err := os.Stat(t.Dir); err == nil { // it may have been deleted since
		r.written = info.ModTime()
	}
	if m := t.Missing; m != nil {
		r.Status, r.Error, r.Epochs = train.Status(m.State), m.Why, m.Epoch
	}
	if t.Result != nil {
		r.Status, r.Epochs, r.BestEpoch = t.Result.Status, t.Result.Epochs, t.Result.BestEpoch
		if t.Evaluation != nil {
			r.Accuracy = &t.Evaluation.PerClass
		}
	}
	return r
}

// fewTrials is the number of runs that differ only in their settings and are still listed one by one.
const fewTrials = 4

// Tables has one row per run, the newest first, whose name has the data set, the variant, the stage and the
// seed. The dev runs with which a study tries settings share a row, at the place of the last of them.
func (l *Listing) Tables() []*table.Table {
	t := table.New(fmt.Sprintf("%s in %s", format.Count(len(l.Runs), "run"), l.Dir),
		"run", "status", "epochs", "accuracy").Right(4)
	stem := func(r Line) string { return r.Dir[:max(strings.LastIndex(r.Dir, "-"), 0)] } // without the digest
	// an unfinished one has stored nothing
	study := func(r Line) string {
		return cmp.Or(l.studies[filepath.Base(r.Dir)], filepath.Base(stem(r))+"-*")
	}
	trials, settings := map[string][]Line{}, map[string]bool{}
	newest := slices.SortedStableFunc(slices.Values(l.Runs), func(a, b Line) int {
		return b.written.Compare(a.written)
	})
	for _, r := range newest {
		if r.Stage == train.Dev {
			of := study(r)
			settings[of] = settings[of] ||
				slices.ContainsFunc(trials[of], func(other Line) bool { return stem(other) == stem(r) })
			trials[of] = append(trials[of], r)
		}
	}
	var reasons []string
	failed := map[string][]string{} // folders, by the reason
	for _, r := range newest {
		if r.Error != "" && r.Status != statusUnfinished {
			if failed[r.Error] == nil {
				reasons = append(reasons, r.Error)
			}
			failed[r.Error] = append(failed[r.Error], r.Dir)
		}
		of := study(r)
		alike := trials[of]
		switch {
		case r.Stage != train.Dev || len(alike) <= fewTrials || !settings[of]:
			t.Row(filepath.Base(r.Dir), r.Status, r.Epochs, format.Percent(format.Value(r.Accuracy)))
		case r.Dir == alike[0].Dir:
			// NaN is the least
			best := slices.MaxFunc(alike, func(a, b Line) int {
				return cmp.Compare(format.Value(a.Accuracy), format.Value(b.Accuracy))
			})
			t.Row(of, fmt.Sprintf("best of %d", len(alike)), "", format.Percent(format.Value(best.Accuracy)))
		}
	}
	for _, why := range reasons {
		name := failed[why][0]
		if others := len(failed[why]) - 1; others > 0 {
			name += " and " + format.Count(others, "other run")
		}
		t.Note("%s: %s", name, why)
	}
	return []*table.Table{t}
}

// WriteCSV writes one line per run, accuracy as a fraction, empty where there is none.
func (l *Listing) WriteCSV(w io.Writer) error {
	t := table.New("", "dir", "dataset", "method", "stage", "seed", "status", "epochs", "best_epoch",
		"per_class_accuracy", "error")
	for _, r := range l.Runs {
		t.Row(r.Dir, r.Dataset, r.Method, r.Stage, r.Seed, r.Status, r.Epochs, r.BestEpoch, cell(r.Accuracy),
			r.Error)
	}
	return t.WriteCSV(w)
}

// cell is empty for a number that does not exist.
func cell(v *float64) any {
	if v == nil {
		return ""
	}
	return *v
}

// Detail is all of a run.
type Detail struct {
	Line
	Why      string            `json:"why"` // why the run ended
	Settings []Setting         `json:"settings"`
	Versions map[string]string `json:"versions"`
	BLAS     blas.Info         `json:"blas"`

	TrainAccuracy     *float64 `json:"train_accuracy"`      // per class, at the best epoch
	PerSampleAccuracy *float64 `json:"per_sample_accuracy"` // of the evaluated classes
	EvaluatedClasses  int      `json:"evaluated_classes"`
	Seconds           float64  `json:"seconds"`
}

// Setting is one of the settings that define a run.
type Setting struct {
	Name  string `json:"name"` // as in config files
	Value any    `json:"value"`
}

// Show reads the run of a folder.
func Show(dir string) (*Detail, error) {
	t, r, err := lab.ReadRun(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noRun(dir)
	}
	if err != nil {
		return nil, err
	}
	d := &Detail{
		Line: lineOf(t), Why: whyEnded(t), Settings: settingsOf(t), Versions: r.Versions, BLAS: r.BLAS,
	}
	if t.Result != nil {
		d.Seconds = t.Result.Seconds
		if e := t.Evaluation; e != nil {
			d.TrainAccuracy, d.PerSampleAccuracy, d.EvaluatedClasses = &t.Result.TrainAccuracy, &e.PerSample, len(t.Result.Classes)
		}
	}
	return d, nil
}

func noRun(dir string) error {
	return &invalid.Error{Where: dir, Want: "the folder of a run, with a " + train.TrialFile, Got: "none"}
}

// settingsOf lists what defines a run, without settings that make no difference to it.
func settingsOf(t lab.Run) []Setting {
	list := []Setting{
		{"dataset", t.Dataset},
		{"fingerprint", t.Fingerprint},
		{"method", t.Method.Name},
		{"stage", t.Stage},
		{"seed", t.Seed},
		{"hold_out", t.HoldOut},
		{"epochs", t.Epochs},
		{"patience", t.Patience},
		{"preprocess", t.Preprocess},
		{"ridge", t.Ridge},
	}
	for _, s := range t.Method.CorrectedSettings(&t.Correction).Used() {
		list = append(list, Setting{s.Key, s.Value()})
	}
	return list
}

// whyEnded explains the status of a run.
func whyEnded(t lab.Run) string {
	if t.Result == nil {
		if t.Missing.State == lab.Unfinished {
			return t.Missing.Why + "; repeat the command that started it to resume"
		}
		return t.Missing.Why
	}
	switch t.Result.Status {
	case train.Patience:
		return fmt.Sprintf("%s passed without a better validation accuracy than in epoch %d",
			format.Count(t.Patience, "epoch"), t.Result.BestEpoch)
	case train.Epochs:
		return fmt.Sprintf("all %d epochs were run", t.Result.Epochs)
	case train.Converged:
		return fmt.Sprintf("converged in epoch %d", t.Result.Epochs)
	case train.NotFinite:
		return "its numbers went out of range: " + t.Result.Error
	case train.Failed:
		return "failed: " + t.Result.Error
	}
	return string(t.Result.Status)
}

// WriteCurve writes the learning curve as CSV with the names of curve.jsonl, one line per
// phase of an epoch. Terms of the loss are not weighted.
func (d *Detail) WriteCurve(w io.Writer) error {
	curve, err := lab.Run{Dir: d.Dir, Trial: train.Trial{Stage: d.Stage}}.Curve()
	if err != nil {
		return err
	}
	rows := table.New("", "epoch", "phase", "steps", "seconds", "loss", "cxe", "bxe", "w2", "wu2", "prior",
		"train_accuracy", "val_accuracy", "val_accuracy_per_sample")
	for _, e := range curve {
		for _, p := range e.Phases {
			t := p.Terms
			rows.Row(e.Epoch, p.Name, p.Steps, p.Seconds, p.Loss, t.CXE, t.BXE, t.W2, t.WU2, t.GroupPenalty,
				e.TrainAccuracy, cell(e.ValAccuracy), cell(e.ValAccuracyPerSample))
		}
	}
	return rows.WriteCSV(w)
}

// evaluatedOn names the classes that a stage evaluates.
var evaluatedOn = map[train.Stage]string{train.Dev: "validation", train.Test: "test"}

// Tables has all of a run, without boxes.
func (d *Detail) Tables() []*table.Table {
	ended := d.Why
	if d.Status != statusUnfinished { // which Why repeats
		ended = fmt.Sprintf("%s: %s", d.Status, d.Why)
	}
	about := table.New("").Note("ended     %s", ended).
		Note("epochs    %s in %.1f s", format.Count(d.Epochs, "epoch"), d.Seconds)
	if d.Accuracy != nil {
		about.Note("accuracy  %s per class and %s per sample on %d %s classes in epoch "+
			"%d\ntraining  %s per class",
			format.Percent(*d.Accuracy), format.Percent(*d.PerSampleAccuracy), d.EvaluatedClasses, evaluatedOn[d.Stage], d.BestEpoch, format.Percent(*d.TrainAccuracy))
	}
	settings, versions := table.New("settings"), table.New("versions")
	for _, s := range d.Settings {
		settings.Note("  %-12s %v", s.Name, s.Value)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Versions)) {
		versions.Note("  %s %s", name, d.Versions[name])
	}
	versions.Note("  %s", d.BLAS)
	return []*table.Table{table.New(d.Dir), about, settings, versions}
}

// Removal is runs to delete, which no other process can train until Close.
type Removal []removed

type removed struct {
	name, dir string   // as given, and absolute
	files     []string // beside trial.json and the lock
	bytes     int64
	lock      *flock.Flock
}

// Hold locks the runs of folders to delete them. The error is that of the first folder that is
// no run, has other files, or is one that another process trains; then none is locked.
func Hold(dirs ...string) (all Removal, err error) {
	for _, name := range dirs {
		r := removed{name: name}
		if r.dir, err = filepath.Abs(name); err == nil {
			above, failed := filepath.EvalSymlinks(filepath.Dir(r.dir)) // links to runs are refused
			if failed == nil {
				r.dir = filepath.Join(above, filepath.Base(r.dir))
			}
		}
		if slices.ContainsFunc(all, func(other removed) bool { return other.dir == r.dir }) {
			continue
		}
		if err == nil {
			err = r.hold()
		}
		if err != nil {
			all.Close()
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// nameOfRun is the form of the names of runs, which end in a digest of their settings.
var nameOfRun = regexp.MustCompile(`-(dev|test)-seed[0-9]+-[0-9a-f]{12}$`)

func (r *removed) hold() error {
	// The folder of a link may be in use elsewhere. The settings of a damaged run, or of another version,
	// give no name.
	record, err := train.ReadRecord(r.dir)
	if info, failed := os.Lstat(r.dir); failed != nil || !info.IsDir() || errors.Is(err, fs.ErrNotExist) {
		if failed == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &invalid.Error{Where: r.name, Want: "the folder of a run itself", Got: "a link"}
		}
		return cmp.Or(invalid.File(r.name, failed), noRun(r.name))
	}
	if base := filepath.Base(r.dir); !nameOfRun.MatchString(base) || err == nil && record.Name() != base {
		return &invalid.Error{
			Where: r.name, Want: "a folder whose name ends in the digest of its settings",
			Got: "another name", Hint: "Delete it by hand if it is not needed.",
		}
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return invalid.File(r.name, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return invalid.File(r.name, err)
		}
		if !info.Mode().IsRegular() ||
			!slices.Contains(train.Files, cmp.Or(fileio.TemporaryOf(e.Name()), e.Name())) {
			return &invalid.Error{
				Where: r.name, Want: "only the files of a run", Got: e.Name(), Hint: "Move it elsewhere.",
			}
		}
		if e.Name() != train.LockFile && e.Name() != train.TrialFile {
			r.files = append(r.files, e.Name())
		}
		r.bytes += info.Size()
	}
	r.lock, err = train.Lock(r.dir)
	return invalid.At(r.name, err)
}

// Close lets other processes train the runs.
func (all Removal) Close() {
	for _, r := range all {
		_ = r.lock.Close() // of an empty file
	}
}

// Table lists the runs with their sizes.
func (all Removal) Table() *table.Table {
	total := int64(0)
	t := table.New("")
	for _, r := range all {
		// a damaged one may be deleted
		run, _, _ := lab.ReadRun(r.dir)
		t.Note("  %s: %s, %s", r.name, lineOf(run).Status, format.Bytes(r.bytes)) // the name stays whole
		total += r.bytes
	}
	t.Title = fmt.Sprintf("%s, %s", format.Count(len(all), "run"), format.Bytes(total))
	return t
}

// Delete deletes the runs. What an interruption leaves of one is still a run.
func (all Removal) Delete() error {
	for _, r := range all {
		for _, name := range append(r.files, train.TrialFile) {
			if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
				return invalid.File(r.name, err)
			}
		}
		// Windows deletes no open file
		err := errors.Join(r.lock.Close(), os.Remove(r.lock.Path()), os.Remove(r.dir))
		if err != nil {
			return invalid.File(r.name, err)
		}
	}
	return nil
}
