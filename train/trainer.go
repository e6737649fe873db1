package train

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/methods"
)

// Stage says which classes are trained on and which are evaluated.
type Stage string

// The two stages of the paper's protocol.
const (
	Dev  Stage = "dev"  // trains on the train classes; early stopping and evaluation by the val classes
	Test Stage = "test" // trains on the train and val classes; one evaluation, on the test classes
)

// Trial is one configuration and seed: all that defines the numbers of a run. Trials of
// the same Name are the same run.
type Trial struct {
	Dataset     string           `json:"dataset"`
	Fingerprint string           `json:"fingerprint"` // of the data set
	Stage       Stage            `json:"stage"`       // dev or test
	Preprocess  preprocess.Chain `json:"preprocess"`  // steps, comma-separated, or none
	Ridge       float64          `json:"ridge"`       // of whiten
	// whether the held-out samples of seen classes were left out of training and validation
	HoldOut  bool   `json:"hold_out"`
	Epochs   int    `json:"epochs"`   // at most this many
	Patience int    `json:"patience"` // epochs without a better validation accuracy
	Seed     uint64 `json:"seed"`     // of the initialisation and the shuffling
	// its name, which is lago or that of a baseline, and its settings, as in config files
	Method methods.Named `json:"method"`
}

// Check returns an *invalid.Error for the first invalid field.
func (t Trial) Check() error {
	return cmp.Or(setting.List{
		setting.Choice("stage", &t.Stage, Dev, Dev, Test),
		setting.Number("ridge", &t.Ridge, 0, setting.NotNegative),
		setting.Whole("epochs", &t.Epochs, 1, setting.Count),
		setting.Whole("patience", &t.Patience, 1, setting.Count),
	}.Check(), t.Method.Check())
}

// Name is the name of the trial's folder. It ends in a digest of all settings. The trial must pass Check.
func (t Trial) Name() string {
	data, err := json.Marshal(t)
	if err != nil {
		panic("a trial does not marshal: " + err.Error()) // Check refuses NaN and infinity
	}
	digest := sha256.Sum256(data)
	dataset := strings.NewReplacer("/", "_", `\`, "_", ":", "_", " ", "_").Replace(t.Dataset)
	return fmt.Sprintf("%s-%s-%s-seed%d-%s", dataset, t.Method.Label(), t.Stage, t.Seed,
		hex.EncodeToString(digest[:6]))
}

// Preparation is the part of t that decides on its Data. Trials with equal preparations can share them.
func (t Trial) Preparation() Trial {
	return Trial{
		Fingerprint: t.Fingerprint, Stage: t.Stage, Preprocess: t.Preprocess, Ridge: t.Ridge,
		HoldOut: t.HoldOut,
	}
}

// Data is shared by the trials of one stage and one preprocessing, so that the features are in memory once.
type Data struct {
	Dataset   *dataset.Dataset
	Transform *preprocess.Transform // fitted on the training samples

	TrainClasses      []int // classes trained on
	EvaluationClasses []int // val or test classes
	train             Samples
	evaluation        Samples
	shared            *method.Cache // between methods that train on them
	// Fits may be those of earlier Data of the same preparation, which need not be fitted again.
	Fits *method.Cache
}

// Prepare selects the samples of a trial and preprocesses their features. With
// preprocess.None the features are not copied. The preprocessing is that of one of some models of trials with
// the same preparation, if it can be read, since whitening takes seconds to fit.
func Prepare(d *dataset.Dataset, t Trial, models ...string) (*Data, error) {
	p := &Data{
		Dataset: d, shared: new(method.Cache), Fits: new(method.Cache), TrainClasses: d.Split.Train,
		EvaluationClasses: d.Split.Val,
	}
	if t.Stage == Test {
		p.TrainClasses, p.EvaluationClasses = d.Split.Seen(), d.Split.Test
	}
	train, evaluation := Select(d, p.TrainClasses), Select(d, p.EvaluationClasses)
	if t.HoldOut {
		if err := CheckHeldOut(d, "hold_out"); err != nil {
			return nil, err
		}
		train, evaluation = train.Without(d.TestSeen), evaluation.Without(d.TestSeen)
	}
	for _, path := range models {
		if m, err := Load(path); err == nil && m.Transform.Chain == t.Preprocess {
			p.Transform = m.Transform
		}
	}
	var err error
	if p.Transform == nil {
		if p.Transform, err = preprocess.Fit(t.Preprocess, t.Ridge, d.Features, train.Rows); err != nil {
			return nil, err
		}
	}
	if p.train, err = p.preprocess(train); err != nil {
		return nil, err
	}
	p.evaluation, err = p.preprocess(evaluation)
	return p, err
}

// CheckHeldOut returns an *invalid.Error if a data set has no samples for generalised zero-shot
// evaluation, which a field asks for.
func CheckHeldOut(d *dataset.Dataset, field string) error {
	if d.TestSeen != nil {
		return nil
	}
	return &invalid.Error{
		Field: field, Want: "a data set with held-out samples of seen classes", Got: "none in " + d.Name,
		Hint: "The column test_seen of labels.csv marks them (open layout), or the variable " +
			"test_seen_loc lists them (xlsa17 layout).",
	}
}

func (p *Data) preprocess(s Samples) (Samples, error) {
	if p.Transform.Identity() {
		return s, nil
	}
	x, err := p.Transform.Apply(s.X, s.Rows)
	if err != nil {
		return s, err
	}
	s.X, s.Rows = x, x.AllRows()
	return s, nil
}

// Samples are rows of a feature matrix with the class of each.
type Samples struct {
	X      dataset.Matrix[float32] // features; shared, never written
	Rows   []int                   // of X
	Labels []int                   // one per row, an index into the train, val or test classes
}

// Select returns the samples of the given classes, labelled by their place in that list.
func Select(d *dataset.Dataset, classes []int) Samples {
	place := make(map[int]int, len(classes))
	for i, z := range classes {
		place[z] = i
	}
	s := Samples{X: d.Features, Rows: d.SamplesOf(classes)}
	s.Labels = make([]int, len(s.Rows))
	for i, row := range s.Rows {
		s.Labels[i] = place[d.Labels[row]]
	}
	return s
}

// Without returns the samples except some rows of X, in ascending order.
func (s Samples) Without(rows []int) Samples {
	return s.where(func(i int) bool {
		_, out := slices.BinarySearch(rows, s.Rows[i])
		return !out
	})
}

// atMost returns up to n of the samples, evenly spaced.
func (s Samples) atMost(n int) Samples {
	step := max((len(s.Rows)+n-1)/n, 1)
	return s.where(func(i int) bool { return i%step == 0 })
}

func (s Samples) where(keep func(i int) bool) Samples {
	some := Samples{X: s.X}
	for i, row := range s.Rows {
		if keep(i) {
			some.Rows, some.Labels = append(some.Rows, row), append(some.Labels, s.Labels[i])
		}
	}
	return some
}

type progress struct {
	Run       string    `json:"run"`          // the name of the trial
	Curve     string    `json:"curve_sha256"` // of the epochs so far
	Epochs    int       `json:"epochs"`
	Best      bestEpoch `json:"best"` // none without val classes
	Converged bool      `json:"converged,omitempty"`
}

type bestEpoch struct {
	Epoch    int     `json:"epoch"` // 0 before the first
	Accuracy float64 `json:"accuracy"`
}

// accuracyError bounds the rounding error of an accuracy, a mean over classes. It is far
// less than one sample can change.
const accuracyError = 1e-12

func (b *bestEpoch) improve(epoch int, accuracy float64) bool {
	if b.Epoch > 0 && accuracy <= b.Accuracy+accuracyError {
		return false
	}
	*b = bestEpoch{epoch, accuracy}
	return true
}

// trainer trains a method: epoch after epoch until it ends for one of the reasons of Status.
type trainer struct {
	trial   Trial
	learner method.Learner
	kept    method.Tensors // of the model of the best epoch; those in training without val classes

	imputer    *impute.Imputer // from the train classes
	examples   method.Examples
	fit        Samples                 // of the train samples, whose accuracy is recorded
	val        Samples                 // of the val classes; empty: all epochs are run, and the last is kept
	valClasses dataset.Matrix[float64] // descriptions, imputed

	progress
	curve Curve // one for each of Epochs

	// OnEpoch is called after each epoch; an error ends the run.
	OnEpoch func(Epoch) error
}

// recorded is the number of train samples on which the accuracy of each epoch is recorded.
// On all of them it takes a fifth of the time of a run.
const recorded = 1000

func newTrainer(t Trial, d *Data) (*trainer, error) {
	described := d.Dataset.Describe(d.TrainClasses)
	complete := model.Pipeline{Impute: &impute.Imputer{Reference: described}}
	u, err := complete.Imputed(described)
	if err != nil {
		return nil, err
	}
	r := &trainer{trial: t, imputer: complete.Impute, fit: d.train.atMost(recorded)}
	r.examples = method.Examples{
		X: d.train.X, Rows: d.train.Rows, Labels: d.train.Labels, U: u, Groups: d.Dataset.GroupOf(),
		Cache: d.shared, Fits: d.Fits,
	}
	if r.learner, err = method.Learn(t.Method, r.examples, t.Seed); err != nil {
		return nil, invalid.At(t.Method.Label(), err)
	}
	r.kept = r.learner.Model().Tensors()
	if t.Stage == Test || len(d.evaluation.Rows) == 0 {
		return r, nil
	}
	r.kept, r.val = r.kept.Clone(), d.evaluation
	r.valClasses, err = complete.Imputed(d.Dataset.Describe(d.EvaluationClasses))
	return r, err
}

// run trains until the run ends. A cancelled context ends it after the current epoch.
func (r *trainer) run(ctx context.Context) (Status, error) {
	for {
		switch {
		case r.Converged:
			return Converged, nil
		case r.Best.Epoch > 0 && r.Epochs-r.Best.Epoch >= r.trial.Patience && !r.unlearned():
			return Patience, nil
		case r.Epochs >= r.trial.Epochs:
			return Epochs, nil
		case ctx.Err() != nil:
			return Cancelled, nil
		}
		if err := r.step(); err != nil {
			if nf := (*model.NotFinite)(nil); errors.As(err, &nf) {
				return NotFinite, err
			}
			return Failed, err
		}
		if r.OnEpoch != nil {
			if err := r.OnEpoch(r.curve[len(r.curve)-1]); err != nil {
				return "", err
			}
		}
	}
}

// unlearned reports whether a run has learned too little to be ended by its patience: no validation accuracy
// was above chance, by two standard errors, and that of training samples still rose within the patience.
func (r *trainer) unlearned() bool {
	chance := 1 / float64(r.valClasses.Rows)
	if r.Best.Accuracy > chance+2*math.Sqrt(chance*(1-chance)/float64(len(r.val.Rows))) {
		return false
	}
	byTraining := func(a, b Epoch) int { return cmp.Compare(a.TrainAccuracy, b.TrainAccuracy) }
	return slices.MaxFunc(r.curve, byTraining).Epoch > r.Epochs-r.trial.Patience
}

func (r *trainer) step() error {
	start := time.Now()
	number := r.Epochs + 1
	p, err := r.learner.Epoch(number)
	if err != nil {
		return fmt.Errorf("%s, epoch %d: %w", r.trial.Method.Label(), number, err)
	}
	if first := &p.Phases[0]; first.Name == "" { // of a baseline
		first.Name, first.Seconds = r.trial.Method.Name, time.Since(start).Seconds()
	}
	e := Epoch{Epoch: number, Phases: p.Phases}
	m := r.learner.Model()
	fit, err := evaluate(m, r.fit, r.examples.U)
	if err != nil {
		return err
	}
	e.TrainAccuracy = fit.Accuracy().PerClass
	if len(r.val.Rows) > 0 {
		val, err := evaluate(m, r.val, r.valClasses)
		if err != nil {
			return err
		}
		a := val.Accuracy()
		e.ValAccuracy, e.ValAccuracyPerSample = &a.PerClass, &a.PerSample
		if r.Best.improve(number, a.PerClass) {
			r.kept.Set(m.Tensors())
		}
	}
	r.Epochs, r.Converged, r.curve = number, p.Converged, append(r.curve, e)
	return nil
}

// pipeline returns the best epoch's model, for preprocessed features, with what corrections of its
// scores need.
func (r *trainer) pipeline() (*model.Pipeline, error) {
	m, err := r.trial.Method.Restore(&method.Reader{Tensors: r.kept}, r.examples.Shape())
	if err != nil {
		return nil, err
	}
	p := &model.Pipeline{
		Classifier: m, Impute: r.imputer, Decision: r.trial.Method.Decide(model.Correction{}),
	}
	_, err = p.LAGO()
	reference, err := referenceOf(m, r.examples, err == nil)
	if err != nil {
		return nil, err
	}
	return p, p.Refer(reference, r.examples.U)
}

func (r *trainer) tensors() []safetensors.Tensor {
	return append(named("state.", r.learner.State()), named("kept.", r.kept)...)
}

// save writes the training state. The curve must be written before it, to its own file.
func (r *trainer) save(path string) error {
	p := r.progress
	p.Run, p.Curve = r.trial.Name(), r.curve.sum()
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return writeTensors(path, &safetensors.File{
		Tensors: r.tensors(), Metadata: map[string]string{progressKey: string(text)},
	})
}

// load restores the training state of a checkpoint. The error is fs.ErrNotExist if there is none, and an
// *invalid.Error if it or the curve is damaged or of another run; the trainer must then not be used.
func (r *trainer) load(path, curvePath string) error {
	var p progress
	f, err := readTensors(path)
	if err != nil {
		return err
	}
	if err = parse(f.Metadata, progressKey, &p); err == nil {
		err = r.trial.checkRun(p.Run)
	}
	if err != nil {
		return invalid.At(path, err)
	}
	curve, err := ReadCurve(curvePath, r.trial.Stage)
	if err != nil {
		return err
	}
	if len(curve) < p.Epochs {
		return &invalid.Error{
			Where: curvePath, Want: fmt.Sprintf("the %d epochs of the checkpoint", p.Epochs),
			Got: fmt.Sprint(len(curve)),
		}
	}
	curve = curve[:p.Epochs] // a kill between the two writes leaves more
	if err := curve.verify(curvePath, p.Curve, "the checkpoint"); err != nil {
		return err
	}
	for _, to := range r.tensors() {
		from, _ := f.Tensor(to.Name)
		if len(from.F32) != len(to.F32) {
			return &invalid.Error{
				Where: path, Field: to.Name, Want: fmt.Sprintf("%d float32 values", len(to.F32)),
				Got: fmt.Sprint(len(from.F32)),
			}
		}
		copy(to.F32, from.F32)
	}
	r.progress, r.curve = p, curve
	return nil
}
