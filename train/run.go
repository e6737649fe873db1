package train

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
	"github.com/lago-train/lago-train/train/safetensors"
)

// Options are how a run is carried out; they don't change its numbers.
type Options struct {
	// CheckpointEvery is how much work a kill may cost; 0 means 2 seconds.
	CheckpointEvery time.Duration
	// OnEpoch, where it is not nil, hears of every epoch.
	OnEpoch func(Trial, Epoch)
	// OnResume, where it is not nil, hears of the checkpoint that the run goes on
	// from.
	OnResume func(t Trial, epochs int)
}

// defaultCheckpointEvery is often enough to watch a curve grow, and seldom enough
// for checkpoints to cost a few percent at most.
const defaultCheckpointEvery = 2 * time.Second

// ErrBusy says that another process has the trial in work.
var ErrBusy = errors.New("another process has this trial in work")

// Run carries out a trial in its folder below root. A finished run is read, not
// done again; an unfinished one goes on from its checkpoint; one that another
// process has in work is ErrBusy. The result has the status Cancelled where ctx
// ended the run after a checkpoint, with nothing judged. The error is a
// *model.NotFinite, wrapped, where the numbers went out of range.
func Run(ctx context.Context, root string, trial Trial, data *Data, o Options) (r *Result, err error) {
	if err := trial.Check(); err != nil {
		return nil, err
	}
	dir := filepath.Join(root, trial.Name())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	// The system frees the lock of a process that dies.
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o666)) // less the umask
	held, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !held {
		return nil, ErrBusy
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	r, err = ReadResult(dir)
	if err == nil {
		return r, r.Failure()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := atomicfile.WriteJSON(filepath.Join(dir, TrialFile), Record{trial, currentEnvironment()}); err != nil {
		return nil, err
	}
	t, err := newTrainer(trial, data)
	if err != nil {
		return nil, err
	}
	run := &run{dir: dir, trial: trial, data: data, trainer: t, options: o}
	return run.carryOut(ctx)
}

// trainer trains LAGO or a baseline.
type trainer interface {
	// Run trains until the run ends. A cancelled context ends it after the current epoch.
	Run(ctx context.Context) (Status, error)
	// Evaluate classifies samples by the best epoch's model. classes are descriptions as in
	// the data set.
	Evaluate(s Samples, classes dataset.Matrix[float64]) (metrics.Confusion, error)
	// classifier returns the best epoch's model, for features as in the data set.
	classifier() (model.TwoStage, error)

	history() *loop
	// tensors lists the training state to checkpoint; call resume first.
	tensors() []safetensors.Tensor
	steps() steps
	resume(steps)
}

func newTrainer(t Trial, d *Data) (trainer, error) {
	if t.Baseline.Method != "" {
		return newBaselineTrainer(t.Baseline, t.Training, d.task(t.Stage), d.shared)
	}
	return newLAGOTrainer(t.Model, t.Training, d.task(t.Stage))
}

// run is a trial on its way.
type run struct {
	dir     string
	trial   Trial
	data    *Data
	trainer trainer
	options Options
	saved   time.Time // of the last checkpoint
}

func (r *run) carryOut(ctx context.Context) (*Result, error) {
	resumed, err := loadCheckpoint(r.path(checkpointFile), r.path(CurveFile), r.trainer)
	if err != nil {
		return nil, err
	}
	l := r.trainer.history()
	if resumed && r.options.OnResume != nil {
		r.options.OnResume(r.trial, len(l.curve))
	}
	r.saved = time.Now()
	l.OnEpoch = r.onEpoch
	status, err := r.trainer.Run(ctx)
	switch {
	case status == Cancelled:
		return &Result{Status: Cancelled, Epochs: len(l.curve)}, r.save()
	case status == NotFinite:
		return r.fail(err)
	case err != nil:
		return nil, err
	}
	return r.finish(status)
}

func (r *run) path(file string) string { return filepath.Join(r.dir, file) }

func (r *run) onEpoch(e Epoch) error {
	if r.options.OnEpoch != nil {
		r.options.OnEpoch(r.trial, e)
	}
	every := r.options.CheckpointEvery
	if every == 0 {
		every = defaultCheckpointEvery
	}
	if time.Since(r.saved) < every {
		return nil
	}
	return r.save()
}

// save writes the curve before the checkpoint, which counts on it.
func (r *run) save() error {
	if err := r.trainer.history().curve.Write(r.path(CurveFile)); err != nil {
		return err
	}
	r.saved = time.Now()
	return saveCheckpoint(r.path(checkpointFile), r.trainer)
}

// finish judges the kept weights and writes the model, the curve and, last, the
// result, which marks the run as finished.
func (r *run) finish(status Status) (*Result, error) {
	l := r.trainer.history()
	best := l.keptEpoch()
	result := &Result{
		Status: status, Epochs: len(l.curve), BestEpoch: best, Seconds: l.curve.seconds(),
		TrainAccuracy: l.curve[best-1].TrainAccuracy,
	}
	named, err := r.trainer.Evaluate(r.data.evaluation, r.data.Dataset.Describe(r.data.EvaluationClasses))
	if err != nil {
		return nil, err
	}
	a := named.Accuracy()
	result.Evaluation = &Evaluation{PerClass: a.PerClass, PerSample: a.PerSample, Confusion: named}
	for _, z := range r.data.EvaluationClasses {
		result.Evaluation.Classes = append(result.Evaluation.Classes, r.data.Dataset.Classes[z])
	}
	saved, err := r.model()
	if err != nil {
		return nil, err
	}
	if err := Save(r.path(ModelFile), saved); err != nil {
		return nil, err
	}
	return result, r.close(result)
}

// model is the classifier that the kept weights make, with what it needs to know of
// the data set.
func (r *run) model() (*Saved, error) {
	c, err := r.trainer.classifier()
	d := r.data.Dataset
	s := &Saved{
		Method: r.trial.Method(), Classifier: c, Baseline: r.trial.Baseline, Transform: r.data.Transform,
		Dataset: d.Name, Dims: d.Features.Cols, Groups: d.Groups, Semantic: d.GroupOf(),
		Classes: d.Classes, Descriptions: d.Descriptions, Split: d.Split, Learned: r.data.TrainClasses,
	}
	for _, a := range d.Attributes {
		s.Attributes = append(s.Attributes, a.Name)
	}
	return s, err
}

// fail records a run whose numbers went out of range: it would go the same way
// again.
func (r *run) fail(cause error) (*Result, error) {
	c := r.trainer.history().curve
	result := &Result{Status: NotFinite, Error: cause.Error(), Epochs: len(c), Seconds: c.seconds()}
	return result, errors.Join(cause, r.close(result))
}

func (r *run) close(result *Result) error {
	if err := r.trainer.history().curve.Write(r.path(CurveFile)); err != nil {
		return err
	}
	if err := atomicfile.WriteJSON(r.path(ResultFile), result); err != nil {
		return err
	}
	if err := os.Remove(r.path(checkpointFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// seconds is how long the phases took.
func (c Curve) seconds() float64 {
	var s float64
	for _, e := range c {
		for _, p := range e.Phases {
			s += p.Seconds
		}
	}
	return s
}

// Failure is the error of a run that ended without a model.
func (r *Result) Failure() error {
	if r.Status == NotFinite {
		return errors.New(r.Error)
	}
	return nil
}
