package predictor

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
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
	b := &batch{dataset.NewMatrix[float32](n, dims), scored{scores: dataset.NewMatrix[float32](n, classes), classes: centres.AllRows()}}
	for i := range n {
		z := i % classes
		b.labels = append(b.labels, z)
		for d, c := range centres.Row(clusterOf(z, i/classes)) {
			b.x.Row(i)[d] = c + float32(r.NormFloat64())
		}
		for k := range classes {
			b.scores.Row(i)[k] = float32(r.NormFloat64())
		}
		b.scores.Row(i)[z] += 2
	}
	return b
}

// chosen is what chooseSettings returns for folds.
func chosen(t *testing.T, folds ...*batch) *model.Adaptation {
	t.Helper()
	return testkit.Must(chooseSettings(t.Context(), folds))(t)
}

// adapted returns a copy of the batch adapted with settings.
func adapted(t *testing.T, b *batch, a *model.Adaptation) *Adapted {
	t.Helper()
	return testkit.Must(Adapt(b.part(b.x.AllRows()).blocks(), a.Settings))(t)
}

func ofClass(class, _ int) int { return class }

func TestChoose(t *testing.T) {
	b := simulated(12, 30, ofClass)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := chooseSettings(ctx, []*batch{b})
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
	testkit.Equal(t, "a second fold with the same classes is no further evidence", chosen(t, b, b).Interval, chosen(t, b).Interval)
	r := adapted(t, b, a)
	before, after := metrics.Count(b.scores, b.labels).Accuracy(), metrics.Count(r.P, b.labels).Accuracy()
	if after.PerClass <= before.PerClass || r.Changed == 0 {
		t.Errorf("%d predictions changed: %+v, before %+v", r.Changed, after, before)
	}
}

// Where clusters and classes disagree, adaptation is off, and predictions stay as they are; a
// model without a mistake has nothing to choose by.
func TestOff(t *testing.T) {
	right := simulated(5, 20, ofClass)
	for i, z := range right.labels {
		right.scores.Row(i)[z] += 100
	}
	for name, b := range map[string]*batch{
		"clusters without relation to classes": simulated(12, 30, func(_, sample int) int { return sample % 12 }),
		"no mistake":                           right,
	} {
		a := chosen(t, b)
		testkit.Equal(t, name+": changed", adapted(t, b, a).Changed, 0)
		if a.Tau != 0 || a.Interval != nil || AdaptationWarning(a) == "" || a.Before != a.After {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// The preprocessing is fitted on the samples that a model was trained on, without those held out. A model
// without settings is refused.
func TestStoredSettings(t *testing.T) {
	d := tiny.Small()
	seen := d.SamplesOf(d.Split.Seen())
	d.TestSeen = seen[:7]
	path := saved(t, d, train.Test)
	_, err := testkit.Must(Open(path))(t).AdaptationSettings()
	testkit.WantError(t, err, path+": adaptation: expected a temperature and tau", "found none", "--stage full")
	a := &model.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: 30}, Preprocess: "standardize,whiten", Interval: new(metrics.Interval)}
	testkit.NoError(t, store(t.Context(), d, []string{path}, &model.Decision{Kind: model.Standardise, Adaptation: a}))
	m := testkit.Must(train.Load(path))(t)
	want := testkit.Must(preprocess.Fit(a.Preprocess, 0, d.Features, seen[7:]))(t)
	testkit.Equal(t, "transformation, fitted on what is not held out", m.Decision.Adaptation.Transform, want)
	s := train.Select(d, d.Split.Test)
	x := testkit.Must(m.AdaptedFeatures().Apply(s.X, s.Rows))(t)
	testkit.Equal(t, "features of the batch", x, testkit.Must(want.Apply(d.Features, s.Rows))(t))
}
