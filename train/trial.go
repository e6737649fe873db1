package train

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
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
	Stage       Stage            `json:"stage"`
	Preprocess  preprocess.Chain `json:"preprocess"`
	Ridge       float64          `json:"ridge"` // of whiten
	// HoldOut excludes Dataset.TestSeen, the samples of generalised zero-shot evaluation,
	// from training and validation.
	HoldOut  bool         `json:"hold_out"`
	Epochs   int          `json:"epochs"`   // at most this many
	Patience int          `json:"patience"` // epochs without a better validation accuracy
	Seed     uint64       `json:"seed"`     // of the initialisation and the shuffling
	Method   methods.Spec `json:"method"`
}

// Check returns an *invalid.Error for the first invalid field.
func (t Trial) Check() error {
	return cmp.Or(setting.List{
		setting.Choice("stage", &t.Stage, Dev, Dev, Test),
		setting.Number("ridge", &t.Ridge, 0, setting.NotNegative),
		setting.Whole("epochs", &t.Epochs, 1, setting.AtLeast(1)),
		setting.Whole("patience", &t.Patience, 1, setting.AtLeast(1)),
	}.Check(), t.Method.Check())
}

// Name is the name of the trial's folder. It ends in a digest of all settings. The trial
// must pass Check.
func (t Trial) Name() string {
	data, err := json.Marshal(t)
	if err != nil {
		panic("a trial does not marshal: " + err.Error()) // Check refuses NaN and infinity
	}
	digest := sha256.Sum256(data)
	dataset := strings.NewReplacer("/", "_", `\`, "_", ":", "_", " ", "_").Replace(t.Dataset)
	return fmt.Sprintf("%s-%s-%s-seed%d-%s", dataset, t.Method.Label(), t.Stage, t.Seed, hex.EncodeToString(digest[:6]))
}

// Preparation is the part of t that decides on its Data. Trials with equal preparations can
// share them.
func (t Trial) Preparation() Trial {
	return Trial{Fingerprint: t.Fingerprint, Stage: t.Stage, Preprocess: t.Preprocess, Ridge: t.Ridge, HoldOut: t.HoldOut}
}

// Data is shared by the trials of one stage and one preprocessing, so that the features
// are in memory once.
type Data struct {
	Dataset   *dataset.Dataset
	Transform *preprocess.Transform // fitted on the training samples

	TrainClasses      []int // classes trained on
	EvaluationClasses []int // val or test classes
	train             Samples
	evaluation        Samples
	shared            *method.Cache // between methods that train on them
}

// Prepare selects the samples of a trial and preprocesses their features. With
// preprocess.None the features are not copied.
func Prepare(d *dataset.Dataset, t Trial) (*Data, error) {
	p := &Data{Dataset: d, shared: new(method.Cache), TrainClasses: d.Split.Train, EvaluationClasses: d.Split.Val}
	if t.Stage == Test {
		p.TrainClasses, p.EvaluationClasses = d.Split.Seen(), d.Split.Test
	}
	train, evaluation := Select(d, d.Features, p.TrainClasses), Select(d, d.Features, p.EvaluationClasses)
	if t.HoldOut {
		if d.TestSeen == nil {
			return nil, &invalid.Error{
				Field: "hold_out", Want: "a data set with held-out samples of seen classes (test_seen_loc)", Got: "none in " + d.Name,
			}
		}
		train, evaluation = train.Without(d.TestSeen), evaluation.Without(d.TestSeen)
	}
	var err error
	if p.Transform, err = preprocess.Fit(t.Preprocess, t.Ridge, d.Features, train.Rows); err != nil {
		return nil, err
	}
	if p.train, err = p.preprocess(train); err != nil {
		return nil, err
	}
	p.evaluation, err = p.preprocess(evaluation)
	return p, err
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

// Select returns the samples of the given classes, labelled by their place in
// that list. x holds the features of all samples of d, preprocessed or not.
func Select(d *dataset.Dataset, x dataset.Matrix[float32], classes []int) Samples {
	place := make(map[int]int, len(classes))
	for i, z := range classes {
		place[z] = i
	}
	s := Samples{X: x, Rows: d.SamplesOf(classes)}
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
