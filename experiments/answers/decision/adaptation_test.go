package decision

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// simulated returns a batch whose features lie in clusters, one for each cluster of
// clusterOf(class, sample), and whose scores are right more often than not.
func simulated(classes, perClass int, clusterOf func(class, sample int) int) *batch {
	const dims = 40
	r := rand.New(rand.NewPCG(7, 0))
	centres := dataset.NewMatrix[float32](classes, dims)
	for i := range centres.Data {
		centres.Data[i] = float32(r.NormFloat64())
	}
	n := classes * perClass
	b := &batch{Block: adapt.Block{X: dataset.NewMatrix[float32](n, dims), Scores: dataset.NewMatrix[float32](n, classes)}, classes: centres.AllRows()}
	for i := range n {
		z := i % classes
		b.labels = append(b.labels, z)
		for d, c := range centres.Row(clusterOf(z, i/classes)) {
			b.X.Row(i)[d] = c + float32(r.NormFloat64())
		}
		for k := range classes {
			b.Scores.Row(i)[k] = float32(r.NormFloat64())
		}
		b.Scores.Row(i)[z] += 2
	}
	return b
}

// chosen is what choose returns for folds.
func chosen(t *testing.T, folds ...*batch) *train.Adaptation {
	t.Helper()
	return testkit.Must(choose(t.Context(), folds))(t)
}

// evaluated is what Evaluate returns for a batch.
func evaluated(t *testing.T, b *batch, a *train.Adaptation) *Report {
	t.Helper()
	m := &train.Saved{Pipeline: new(model.Pipeline), Adaptation: a}
	return testkit.Must(Evaluate(m, train.Samples{X: b.X, Rows: b.X.AllRows(), Labels: b.labels}, b.Scores))(t)
}

func ofClass(class, _ int) int { return class }

func TestChoose(t *testing.T) {
	b := simulated(12, 30, ofClass)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := choose(ctx, []*batch{b})
	testkit.WantError(t, err, "context canceled")
	others := *b
	others.classes = make([]int, 12)
	for i := range others.classes {
		others.classes[i] = 6 + i
	}
	a := chosen(t, b, &others)
	if a.Tau == 0 || a.After < a.Before+0.1 || a.Interval.Low <= 0 || a.Samples != 720 || a.Classes != 18 {
		t.Errorf("%+v", a)
	}
	if once, twice := chosen(t, b), chosen(t, b, b); *once.Interval != *twice.Interval || twice.Classes != 12 {
		t.Errorf("a second fold with the same classes is no further evidence: %+v and %+v", once, twice)
	}
	r := evaluated(t, b, a)
	before := metrics.TopK(b.Scores, b.labels, 1).Accuracy().PerClass
	if r.PerClass <= before || r.Changed == 0 || r.Difference.Mean-(r.PerClass-before) > 1e-9 {
		t.Errorf("%+v, before %g", r, before)
	}
}

// Where clusters and classes disagree, adaptation is off, and predictions stay as they are; a
// model without a mistake has nothing to choose by.
func TestOff(t *testing.T) {
	right := simulated(5, 20, ofClass)
	for i, z := range right.labels {
		right.Scores.Row(i)[z] += 100
	}
	for name, b := range map[string]*batch{
		"clusters without relation to classes": simulated(12, 30, func(_, sample int) int { return sample % 12 }),
		"no mistake":                           right,
	} {
		a := chosen(t, b)
		r := evaluated(t, b, a)
		if a.Tau != 0 || a.Interval != nil || r.Changed != 0 || r.Warning == "" || a.Before != a.After {
			t.Errorf("%s: %+v, %+v", name, a, r)
		}
	}
}

// The temperature is the one of the validation classes alone; with it the expected calibration
// error is smaller. Scores without a mistake have none.
func TestCalibrate(t *testing.T) {
	b := simulated(12, 30, ofClass)
	for i := range b.Scores.Data {
		b.Scores.Data[i] *= 5
	}
	want := testkit.Must(metrics.FitTemperature(b.Scores, b.labels))(t)
	c := calibrate([]*batch{b, b}, true)
	if c.Temperature != want || c.Samples != 720 || c.Classes != 12 || c.ErrorAfter > *c.ErrorBefore/2 {
		t.Errorf("%+v, expected temperature %g", c, want)
	}
	if c := calibrate([]*batch{b}, false); c.ErrorBefore != nil {
		t.Errorf("scores that are not probabilities have the calibration error %g", *c.ErrorBefore)
	}
	for i, z := range b.labels {
		b.Scores.Row(i)[z] += 1000
	}
	if c := calibrate([]*batch{b}, true); c != nil {
		t.Errorf("found %+v for scores without a mistake", c)
	}
}

// saved trains ESZSL in a stage and returns its file.
func saved(t *testing.T, d *dataset.Dataset, stage train.Stage) string {
	t.Helper()
	trial := train.Trial{Method: testkit.Must(methods.Find("eszsl"))(t).Default(), Stage: stage, Preprocess: preprocess.None, Epochs: 1, Patience: 1}
	dir := t.TempDir()
	testkit.Must(train.Run(t.Context(), dir, trial, nil, func() (*train.Data, error) { return train.Prepare(d, trial) }, train.Options{}))(t)
	return filepath.Join(dir, trial.Name(), train.ModelFile)
}

// Choices come from validation samples that are not held out: test samples of zeros and
// held-out ones change nothing. They are stored in all models.
func TestChooseAndStore(t *testing.T) {
	d := tiny.Learnable()
	r := rand.New(rand.NewPCG(1, 2))
	for _, z := range d.Split.Val { // clusters that help where features are whitened
		for i := range d.Features.Cols {
			shift := float32(0.3 * r.NormFloat64())
			for _, row := range d.SamplesOf([]int{z}) {
				d.Features.Row(row)[i] += shift
			}
		}
	}
	d.TestSeen = d.SamplesOf(d.Split.Val)[:20]
	models := []string{saved(t, d, train.Dev), saved(t, d, train.Test)}
	changed := *d
	changed.Features.Data = slices.Clone(d.Features.Data)
	for _, row := range slices.Concat(d.SamplesOf(d.Split.Test), d.TestSeen) {
		clear(changed.Features.Row(row))
	}
	chosen := testkit.Must(Choose(t.Context(), []Fold{{models[0], d, true}}))(t)
	want := chosen.Adaptation
	testkit.Equal(t, "before settings were stored", testkit.Must(Stored(models))(t), (*Chosen)(nil))
	if want.Tau == 0 || want.Preprocess != whitened || want.Samples != len(d.SamplesOf(d.Split.Val))-20 {
		t.Errorf("found %+v", want)
	}
	got := testkit.Must(ChooseAndStore(t.Context(), []Fold{{models[0], &changed, true}}, models))(t)
	testkit.Equal(t, "with other test samples", got, chosen)
	got = testkit.Must(Stored(models))(t)
	got.Adaptation.Transform = nil
	testkit.Equal(t, "stored", got, chosen)
	testkit.Equal(t, "without a fold", testkit.Must(ChooseAndStore(t.Context(), nil, models))(t), (*Chosen)(nil))
}

// Of remedies that validate equally the correction is preferred, and one without gamma. Without held-out
// samples it is the correction in full, of the kind that suits the method.
func TestGeneralise(t *testing.T) {
	d := tiny.Learnable()
	path := saved(t, d, train.Dev)
	models := []*predictor.Model{testkit.Must(predictor.Open(path))(t)}
	full := model.Correction{Kind: model.Standardise, Omega: 1}
	r := testkit.Must(generalise(t.Context(), []Fold{{path, d, false}}, models))(t)
	testkit.Equal(t, "without held-out samples", *r, train.Remedy{Correction: full})
	d.TestSeen = d.SamplesOf(d.Split.Train)
	list := testkit.Must(Remedies(t.Context(), []Fold{{path, d, true}, {path, d, true}}, slices.Repeat(models, 2)))(t)
	once := testkit.Must(Remedies(t.Context(), []Fold{{path, d, true}}, models))(t)
	testkit.Equal(t, "two folds", list, once)
	for i, r := range list {
		if (r.Omega > 0) != (i > 1) || i%2 == 0 && r.Gamma != 0 || r.Validation == 0 || i%2 == 1 && r.Validation < list[i-1].Validation {
			t.Errorf("%s is %+v", RemedyNames[i], r)
		}
	}
	for want, validation := range [][]float64{{2, 2, 1, 2}, {1, 2, 1, 2}, {2, 2, 2, 2}, {1, 1, 1, 2}} {
		for i := range list {
			list[i].Validation = validation[i]
		}
		testkit.Equal(t, "preferred", Preferred(list), want)
	}
}

// The preprocessing is fitted on the samples that a model was trained on, without those held out. A model
// without settings is refused; switched off, adaptation leaves its predictions as they are.
func TestStoredSettings(t *testing.T) {
	d := tiny.Small()
	seen := d.SamplesOf(d.Split.Seen())
	d.TestSeen = seen[:7]
	path := saved(t, d, train.Test)
	_, err := ClassAccuracy(path, d, d.Split.Test)
	testkit.WantError(t, err, path+": adaptation: expected a temperature and tau", "found none", "--stage full")
	a := &train.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: 30}, Preprocess: "standardize,whiten"}
	testkit.NoError(t, store(t.Context(), d, []string{path}, &Chosen{Adaptation: a}))
	m := testkit.Must(train.Load(path))(t)
	want := testkit.Must(preprocess.Fit(a.Preprocess, 0, d.Features, seen[7:]))(t)
	testkit.Equal(t, "transformation, fitted on what is not held out", m.Adaptation.Transform, want)
	s := train.Select(d, d.Features, d.Split.Test)
	block, _, err := (&predictor.Model{Saved: m}).Batch(s.X, s.Rows, d.Describe(d.Split.Test))
	testkit.NoError(t, err)
	testkit.Equal(t, "features of the batch", block.X, testkit.Must(want.Apply(d.Features, s.Rows))(t))
	testkit.NoError(t, store(t.Context(), d, []string{path}, &Chosen{Adaptation: &train.Adaptation{Settings: adapt.Settings{Temperature: 0.1}}}))
	adapted := testkit.Must(ClassAccuracy(path, d, d.Split.Test))(t)
	testkit.NearAll(t, "accuracy", adapted, metrics.TopK(block.Scores, s.Labels, 1).Recall(), 0)
}
