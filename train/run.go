// Package train trains the methods of package methods, LAGO and the baselines, in one loop:
// a run is evaluated after each epoch, stops early and keeps the weights of the best epoch.
//
// Run trains a Trial in its folder: a finished run is reused, and an interrupted one resumes from
// its checkpoint with bit-identical results. Load reads its model. The package handles one run at a
// time; package lab schedules several.
package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Options say how a run is carried out. They do not change its numbers.
type Options struct {
	// CheckpointEvery is the time between checkpoints; 0 means 2 seconds.
	CheckpointEvery time.Duration
	// OnEpoch, if not nil, is called after each epoch.
	OnEpoch func(Trial, Epoch)
	// OnResume, if not nil, is called when the run resumes from a checkpoint.
	OnResume func(t Trial, epochs int)
	// OnWarning, if not nil, is called with a sentence on a problem that does not end the
	// run: a checkpoint that cannot be used, or another environment than before.
	OnWarning func(t Trial, warning string)
}

// defaultCheckpointEvery keeps the cost of checkpoints at a few percent at most.
const defaultCheckpointEvery = 2 * time.Second

// ErrBusy is the error of a trial that another process is training.
var ErrBusy = errors.New("another process is training this run")

// Run trains a trial in its folder below root, on the data that prepare returns. A finished run is reused, an
// unfinished one resumes from its checkpoint, and one that another process is training is ErrBusy. The result
// has the status Cancelled and no evaluation if ctx ended the run, after a checkpoint. A run that fails by
// its data and settings would do so again: it is finished, with Result.Failure. The error then wraps a
// *model.NotFinite if the numbers left the range of float32.
//
// The model of a new run corrects no scores: see Decide.
func Run(ctx context.Context, root string, trial Trial, prepare func() (*Data, error),
	o Options,
) (result *Result, err error) {
	if err := trial.Check(); err != nil {
		return nil, err
	}
	dir := filepath.Join(root, trial.Name())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, invalid.Folder(dir, "a folder of runs", err)
	}
	lock, err := acquire(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	r := &run{dir: dir, trial: trial, options: o}
	if result, err = trial.ReadResult(dir); err == nil {
		return result, result.Failure()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := r.record(); err != nil {
		return nil, err
	}
	if r.data, err = prepare(); err == nil {
		r.trainer, err = newTrainer(trial, r.data)
	}
	if err != nil {
		return r.fail(Failed, nil, err)
	}
	if err := r.restore(); err != nil {
		return nil, err
	}
	r.saved = time.Now()
	r.trainer.OnEpoch = r.onEpoch
	status, err := r.trainer.run(ctx)
	switch {
	case status == Cancelled:
		return &Result{Status: Cancelled, Epochs: len(r.trainer.curve)}, r.save()
	case status == NotFinite, status == Failed:
		return r.fail(status, r.trainer.curve, err)
	case err != nil:
		return nil, err
	}
	return r.finish(status)
}

// acquire locks the folder of a run, or is ErrBusy. The system frees the lock of a process that dies.
func acquire(dir string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(dir, LockFile), flock.SetPermissions(0o666)) // before the umask
	held, err := lock.TryLock()
	if err == nil && !held {
		return nil, ErrBusy
	}
	return lock, invalid.File(lock.Path(), err)
}

type run struct {
	dir     string
	trial   Trial
	data    *Data
	trainer *trainer
	options Options
	saved   time.Time // of the last checkpoint
}

func (r *run) path(file string) string { return filepath.Join(r.dir, file) }

func (r *run) warn(format string, args ...any) {
	if r.options.OnWarning != nil {
		r.options.OnWarning(r.trial, fmt.Sprintf(format, args...))
	}
}

// record writes trial.json. That of a run to be resumed keeps its first environment; the
// present one is added if it differs.
func (r *run) record() error {
	now := currentEnvironment()
	old, err := r.trial.readRecord(r.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// nothing was trained before
	if _, missing := os.Stat(r.path(checkpointFile)); err != nil || missing != nil {
		return fileio.WriteJSON(r.path(TrialFile), Record{
			Trial: r.trial, Environment: now, ResultsVersion: ResultsVersion,
		})
	}
	last := old.Environment
	if n := len(old.Resumed); n > 0 {
		last = old.Resumed[n-1]
	}
	if reflect.DeepEqual(last, now) {
		return nil
	}
	r.warn("The run was trained so far in another environment, see %s: its result may not be bit-identical "+
		"to that of an uninterrupted run.", r.path(TrialFile))
	old.Resumed = append(old.Resumed, now)
	return fileio.WriteJSON(r.path(TrialFile), old)
}

// restore resumes from the checkpoint. With one that is damaged, of another run or of another curve the run
// starts again.
func (r *run) restore() error {
	path := r.path(checkpointFile)
	err := r.trainer.load(path, r.path(CurveFile))
	if err == nil {
		if r.options.OnResume != nil {
			r.options.OnResume(r.trial, r.trainer.Epochs)
		}
		return nil
	}
	if _, missing := os.Stat(path); missing != nil {
		return nil
	}
	if damaged := (*invalid.Error)(nil); !errors.As(err, &damaged) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	r.warn("The run starts again, since its checkpoint cannot be used: %v", err)
	r.trainer, err = newTrainer(r.trial, r.data)
	return err
}

func (r *run) onEpoch(e Epoch) error {
	if r.options.OnEpoch != nil {
		r.options.OnEpoch(r.trial, e)
	}
	if time.Since(r.saved) < cmp.Or(r.options.CheckpointEvery, defaultCheckpointEvery) {
		return nil
	}
	return r.save()
}

// save writes the curve before the checkpoint, which refers to it.
func (r *run) save() error {
	if err := r.trainer.curve.Write(r.path(CurveFile)); err != nil {
		return err
	}
	r.saved = time.Now()
	return r.trainer.save(r.path(checkpointFile))
}

// finish evaluates the best epoch's model and writes the model, the curve and, last, the
// result, which marks the run as finished.
func (r *run) finish(status Status) (*Result, error) {
	// the last without val classes
	curve, best := r.trainer.curve, cmp.Or(r.trainer.Best.Epoch, r.trainer.Epochs)
	result := &Result{
		Status: status, Epochs: len(curve), BestEpoch: best, Seconds: curve.seconds(),
		TrainAccuracy: curve[best-1].TrainAccuracy,
	}
	m, err := r.trainer.pipeline()
	if err != nil {
		return nil, err
	}
	for _, z := range r.data.EvaluationClasses {
		result.Classes = append(result.Classes, r.data.Dataset.Classes[z])
	}
	if err := result.evaluate(m, r.data, r.trial.Method); err != nil {
		return nil, err
	}
	if err := Save(r.path(ModelFile), newSaved(r.trial, m, r.data)); err != nil {
		return nil, err
	}
	return result, r.close(result, curve)
}

func (r *Result) evaluate(p *model.Pipeline, data *Data, m methods.Named) error {
	val, u, other := data.evaluation, data.Dataset.Describe(data.EvaluationClasses), *p
	detections, err := p.Detect(val.X, val.Rows)
	if err != nil {
		return err
	}
	for _, c := range m.Corrections() {
		other.Decision = m.Decide(c)
		scores, err := model.Classify(&other, detections, u)
		if err != nil {
			return err
		}
		confusion, err := metrics.Confuse(scores, val.Labels)
		if err != nil {
			return err
		}
		a := confusion.Accuracy()
		r.Evaluations = append(r.Evaluations, Evaluation{c, a.PerClass, a.PerSample, confusion})
	}
	return nil
}

func evaluate(c model.Classifier, s Samples, classes dataset.Matrix[float64]) (metrics.Confusion, error) {
	scores, err := model.Score(c, s.X, s.Rows, classes)
	if err != nil {
		return nil, err
	}
	return metrics.Confuse(scores, s.Labels)
}

const (
	mostReference = 1024 // classes of a reference, which is scored for all candidates
	decileSamples = 1000 // samples, about, of which deciles are stored
)

// referenceOf returns the mean detections of the samples of each class, without classes that have none, of
// mostReference evenly spaced classes where there are more, and if asked for the deciles of the detections of
// single samples, evenly spaced.
func referenceOf(c model.Classifier, e method.Examples, deciles bool) (r model.Reference, err error) {
	byClass := make([][]int, e.U.Rows)
	for i, z := range e.Labels {
		byClass[z] = append(byClass[z], e.Rows[i])
	}
	byClass = slices.DeleteFunc(byClass, func(rows []int) bool { return len(rows) == 0 })
	means, step, columns := &r.Detections, 1+len(e.Labels)/decileSamples, [][]float64(nil)
	every := 1 + (len(byClass)-1)/mostReference
	for z, rows := range byClass {
		if !deciles && z%every > 0 {
			continue
		}
		a, err := c.Detect(e.X, rows)
		if err != nil {
			return r, err
		}
		if columns == nil {
			columns = make([][]float64, a.Cols)
		}
		for m := range a.Cols {
			var sum float64
			for i := range a.Rows {
				p := float64(a.Row(i)[m])
				if sum += p; i%step == 0 {
					columns[m] = append(columns[m], p)
				}
			}
			if z%every == 0 {
				means.Data = append(means.Data, float32(sum/float64(a.Rows)))
			}
		}
		means.Cols = a.Cols
	}
	means.Rows = len(means.Data) / max(means.Cols, 1)
	if !deciles {
		return r, nil
	}
	r.Deciles = dataset.NewMatrix[float32](9, len(columns))
	for m, column := range columns {
		slices.Sort(column)
		for i := range r.Deciles.Rows {
			r.Deciles.Row(i)[m] = float32(stat.Quantile(float64(i+1)/10, stat.Empirical, column, nil))
		}
	}
	return r, nil
}

// fail finishes a run that would fail again.
func (r *run) fail(status Status, c Curve, cause error) (*Result, error) {
	result := &Result{Status: status, Error: cause.Error(), Epochs: len(c), Seconds: c.seconds()}
	return result, errors.Join(cause, r.close(result, c))
}

func (r *run) close(result *Result, c Curve) error {
	if err := r.trial.WriteResult(r.dir, result, c); err != nil {
		return err
	}
	return invalid.File(r.path(checkpointFile), os.RemoveAll(r.path(checkpointFile)))
}
