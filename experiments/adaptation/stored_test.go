package adaptation

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// saved trains ESZSL in a stage and returns its file.
func saved(t *testing.T, d *dataset.Dataset, stage train.Stage) string {
	t.Helper()
	m := testkit.Must(train.Fit(t.Context(), d, train.Trial{
		Method: testkit.Must(methods.Parse("eszsl"))(t), Stage: stage, Preprocess: preprocess.None, Epochs: 1, Patience: 1,
	}))(t)
	path := filepath.Join(t.TempDir(), train.ModelFile)
	testkit.NoError(t, train.Save(path, m))
	return path
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
	want := testkit.Must(Choose(t.Context(), []Fold{{models[0], d, true}}))(t)
	if a, err := Stored(models); a != nil || err != nil {
		t.Errorf("found %+v, %v before settings were stored", a, err)
	}
	if want.Tau == 0 || want.Preprocess != whitened || want.Samples != len(d.SamplesOf(d.Split.Val))-20 {
		t.Errorf("found %+v", want)
	}
	got := testkit.Must(ChooseAndStore(t.Context(), []Fold{{models[0], &changed, true}}, models))(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-unchanged +changed):\n%s", diff)
	}
	got = testkit.Must(Stored(models))(t)
	got.Transform = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-chosen +stored):\n%s", diff)
	}
	if a, err := ChooseAndStore(t.Context(), nil, models); a != nil || err != nil {
		t.Errorf("found %+v, %v without a fold", a, err)
	}
}

// The preprocessing is fitted on the samples that a model was trained on, without those
// held out.
func TestStoredPreprocessing(t *testing.T) {
	d := tiny.Small()
	seen := d.SamplesOf(d.Split.Seen())
	d.TestSeen = seen[:7]
	path := saved(t, d, train.Test)
	a := &train.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: 30}, Preprocess: "standardize,whiten"}
	testkit.NoError(t, store(d, []string{path}, a))
	m := testkit.Must(train.Load(path))(t)
	want := testkit.Must(preprocess.Fit(a.Preprocess, 0, d.Features, seen[7:]))(t)
	if !cmp.Equal(want, m.Adaptation.Transform) {
		t.Error("fitted on other samples")
	}
	rows := d.SamplesOf(d.Split.Test)
	b := testkit.Must(score(m, train.Samples{X: d.Features, Rows: rows}, d.Describe(d.Split.Test)))(t)
	if !cmp.Equal(testkit.Must(want.Apply(d.Features, rows))(t), b.x[0]) {
		t.Error("the batch has other features")
	}
}

// Switched off, adaptation leaves the predictions as they are; a model without settings is refused.
func TestClassAccuracy(t *testing.T) {
	d := tiny.Small()
	path := saved(t, d, train.Test)
	_, err := ClassAccuracy(path, d, d.Split.Test)
	testkit.WantError(t, err, path+": adaptation: expected a temperature and tau", "found none", "--stage full")
	testkit.NoError(t, store(d, []string{path}, &train.Adaptation{Settings: adapt.Settings{Temperature: 0.1}}))
	adapted := testkit.Must(ClassAccuracy(path, d, d.Split.Test))(t)
	s := train.Select(d, d.Features, d.Split.Test)
	b := testkit.Must(score(testkit.Must(train.Load(path))(t), s, d.Describe(d.Split.Test)))(t)
	testkit.NearAll(t, "accuracy", adapted, b.before(), 0)
}
