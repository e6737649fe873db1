package adaptation

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/adapt"
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
	all := make([]int, classes)
	for z := range all {
		all[z] = z
	}
	b := &batch{x: []dataset.Matrix[float32]{dataset.NewMatrix[float32](n, dims)}, scores: dataset.NewMatrix[float32](n, classes), classes: all}
	for i := range n {
		z := i % classes
		b.labels = append(b.labels, z)
		for d, c := range centres.Row(clusterOf(z, i/classes)) {
			b.x[0].Row(i)[d] = c + float32(r.NormFloat64())
		}
		for k := range classes {
			b.scores.Row(i)[k] = float32(r.NormFloat64())
		}
		b.scores.Row(i)[z] += 2
	}
	return b
}

func TestInterrupted(t *testing.T) {
	b := simulated(12, 30, func(class, _ int) int { return class })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := choose(ctx, []*batch{b}); !errors.Is(err, context.Canceled) {
		t.Errorf("Choose: error %v, expected that of the context", err)
	}
	if _, err := evaluate(ctx, b, &train.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: 30}}, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("Evaluate: error %v, expected that of the context", err)
	}
}

func TestChoose(t *testing.T) {
	b := simulated(12, 30, func(class, _ int) int { return class })
	others := *b
	others.classes = make([]int, 12)
	for i := range others.classes {
		others.classes[i] = 6 + i
	}
	a, _, err := choose(t.Context(), []*batch{b, &others})
	testkit.NoError(t, err)
	if a.Tau == 0 || a.After < a.Before+0.1 || a.Interval.Low <= 0 || a.Samples != 720 || a.Classes != 18 || a.Smallest < 50 || a.Smallest > 360 {
		t.Errorf("%+v", a)
	}
	r := testkit.Must(evaluate(t.Context(), b, a, 2))(t)
	before := metrics.TopK(b.scores, b.labels, 1).PerClass
	if r.PerClass <= before || r.Changed == 0 || r.Difference.Mean-(r.PerClass-before) > 1e-9 || len(r.Stress) != 5 {
		t.Errorf("%+v, before %g", r, before)
	}
	for _, c := range r.Stress {
		if c.Worst > c.Mean || c.Draws != 2 || c.Warned != (c.Samples > 0 && c.Samples < a.Smallest) {
			t.Errorf("%+v", c)
		}
	}
}

// A second fold with the same classes is no further evidence.
func TestChooseCountsClassesOnce(t *testing.T) {
	b := simulated(12, 30, func(class, _ int) int { return class })
	var chosen [2]*train.Adaptation
	for i, folds := range [][]*batch{{b}, {b, b}} {
		var err error
		chosen[i], _, err = choose(t.Context(), folds)
		testkit.NoError(t, err)
	}
	if chosen[0].Interval != chosen[1].Interval || chosen[1].Classes != 12 {
		t.Errorf("%+v and %+v", chosen[0], chosen[1])
	}
}

// Of two kinds of features, that in which classes form clusters is chosen.
func TestChooseFeatures(t *testing.T) {
	good := simulated(12, 30, func(class, _ int) int { return class })
	bad := simulated(12, 30, func(_, sample int) int { return sample % 12 })
	for want := range 2 {
		b := *good
		b.x = append(b.x, b.x[0])
		b.x[1-want] = bad.x[0]
		a, got, err := choose(t.Context(), []*batch{&b})
		testkit.NoError(t, err)
		if got != want || a.Tau == 0 {
			t.Errorf("features %d, tau %g", got, a.Tau)
		}
	}
}

// Where clusters and classes disagree, adaptation is off, and predictions stay as they are.
func TestOffWhereClustersAreNotClasses(t *testing.T) {
	for name, clusterOf := range map[string]func(class, sample int) int{
		"clusters without relation to classes": func(_, sample int) int { return sample % 12 },
		"a single cluster":                     func(_, _ int) int { return 0 },
	} {
		b := simulated(12, 30, clusterOf)
		a, _, err := choose(t.Context(), []*batch{b})
		testkit.NoError(t, err)
		r := testkit.Must(evaluate(t.Context(), b, a, 0))(t)
		if a.Tau != 0 || r.Changed != 0 || r.Warning == "" || a.Before != a.After {
			t.Errorf("%s: %+v, %+v", name, a, r)
		}
	}
}

// Scores without a mistake, or at chance, leave nothing to choose by.
func TestOffWithoutAnErrorToCorrect(t *testing.T) {
	b := simulated(5, 20, func(class, _ int) int { return class })
	for i, z := range b.labels {
		b.scores.Row(i)[z] += 100
	}
	if a, _, err := choose(t.Context(), []*batch{b}); err != nil || a.Tau != 0 || a.Before != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestConditions(t *testing.T) {
	b := simulated(30, 40, func(class, _ int) int { return class })
	for i, want := range []struct{ classes, least, most int }{{20, 800, 800}, {3, 120, 120}, {-1, 250, 600}, {30, 500, 500}, {30, 200, 200}, {-1, 50, 50}} {
		rows := conditions[i].draw(b, rand.New(rand.NewPCG(1, 2)))
		var found []int
		for _, row := range rows {
			found = append(found, b.labels[row])
		}
		slices.Sort(found)
		classes := len(slices.Compact(found))
		if len(rows) < want.least || len(rows) > want.most || want.classes >= 0 && classes != want.classes {
			t.Errorf("%s: %d samples of %d classes", conditions[i].name, len(rows), classes)
		}
	}
}

func TestWarning(t *testing.T) {
	a := &train.Adaptation{Smallest: 200}
	a.Temperature, a.Tau = 1, 30
	if got := Warning(a, 200); got != "" {
		t.Error(got)
	}
	testkit.WantText(t, Warning(a, 50), "the batch of 50 samples is small: on the validation classes adaptation helped from 200 samples")
}

func TestMostCandidatesAbsentIsWarnedOf(t *testing.T) {
	for _, c := range []struct {
		shares []float64
		warned bool
	}{
		{[]float64{0.98, 0.01, 0.01}, true},
		{[]float64{0.49, 0.5, 0.01}, false},
	} {
		p := Predictions{Result: &adapt.Result{P: dataset.NewMatrix[float32](97, 3), Shares: c.shares}, Changed: 1}
		text := p.Table([]string{"a", "b", "c"}).Text()
		testkit.WantText(t, text, "adapted to 97 samples: 1 prediction changed", "seem to be absent: ", "c\n")
		if strings.Contains(text, "warning: more than half of the candidate classes") != c.warned {
			t.Errorf("%v:\n%s", c.shares, text)
		}
	}
}
