package predictor

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// saved trains ESZSL in a stage and returns its file. In a data set with held-out samples it leaves these out.
func saved(t *testing.T, d *dataset.Dataset, stage train.Stage) string {
	t.Helper()
	trial := train.Trial{Method: testkit.Must(methods.Find("eszsl"))(t).Default(), Stage: stage, Preprocess: preprocess.None, Epochs: 1, Patience: 1, HoldOut: d.TestSeen != nil}
	dir := t.TempDir()
	testkit.Must(train.Run(t.Context(), dir, trial, func() (*train.Data, error) { return train.Prepare(d, trial) }, train.Options{}))(t)
	return filepath.Join(dir, trial.Name(), train.ModelFile)
}

// heldOut is a data set with held-out samples of train and validation classes.
func heldOut() *dataset.Dataset {
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
	d.TestSeen = slices.Concat(d.SamplesOf(d.Split.Train)[:40], d.SamplesOf(d.Split.Val)[:20])
	slices.Sort(d.TestSeen)
	return d
}

// chosenBy returns what is chosen by models of the dev stage.
func chosenBy(t *testing.T, d *dataset.Dataset, models ...string) *model.Decision {
	t.Helper()
	var folds []*fold
	for _, path := range models {
		folds = append(folds, testkit.Must(newFold(path, d))(t))
	}
	return testkit.Must(choose(t.Context(), folds))(t)
}

// Choices come from validation samples that are not held out, and what concerns seen classes from held-out
// samples of train classes: other samples of test and validation classes change nothing. All models have them.
func TestChooseAndStore(t *testing.T) {
	d := heldOut()
	models := []string{saved(t, d, train.Dev), saved(t, d, train.Test)}
	changed := *d
	changed.Features.Data = slices.Clone(d.Features.Data)
	held := slices.DeleteFunc(slices.Clone(d.TestSeen), func(row int) bool { return slices.Contains(d.Split.Train, d.Labels[row]) })
	for _, row := range slices.Concat(d.SamplesOf(d.Split.Test), held) {
		clear(changed.Features.Row(row))
	}
	chosen := chosenBy(t, d, models[0])
	want := chosen.Adaptation
	testkit.Equal(t, "before settings were stored", testkit.Must(StoredDecision(models))(t), (*model.Decision)(nil))
	if want.Tau == 0 || want.Preprocess != whitened || want.Samples != len(d.SamplesOf(d.Split.Val))-20 || len(held) != 20 {
		t.Errorf("found %+v", want)
	}
	testkit.Equal(t, "with other test and held-out samples", chosenBy(t, &changed, models[0]), chosen)
	testkit.NoError(t, store(t.Context(), d, models, chosen))
	testkit.Equal(t, "stored", testkit.Must(StoredDecision(models))(t), chosen)
	testkit.Equal(t, "without a dev stage", testkit.Must(ChooseForOutcome(t.Context(), new(lab.Outcome)))(t), (*model.Decision)(nil))
}

// Scores of two samples of a seen and two of an unseen class, which lead by these. Without gamma (0) omega 1 is as good
// as 0, 2/3 by one seen sample and both unseen ones; so is omega 0 with any gamma. Omega 0.5, worst alone, is right with 2.5.
func TestOmegaAndGammaTogether(t *testing.T) {
	var c omegaChoice
	for _, o := range []struct {
		omega  float64
		leads  [4]float32 // of the seen class
		chosen bool
	}{{0, [4]float32{3, 1, 2, -1}, true}, {0.5, [4]float32{4, 3, 2, 1}, false}, {1, [4]float32{2, -2, -1, -3}, true}} {
		scores := dataset.NewMatrix[float32](4, 2)
		for i, lead := range o.leads {
			scores.Row(i)[0] = lead
		}
		s := metrics.NewStacking(scores, []int{0, 0, 1, 1}, metrics.Sides{false, true})
		testkit.Equal(t, "chosen", c.try(o.omega, []*metrics.Stacking{s}), o.chosen)
	}
	testkit.Equal(t, "omega alone", c.omega, 1)
	testkit.Near(t, "harmonic mean alone", c.mean, 2.0/3, 1e-15)
	testkit.Equal(t, "together", c.stacked, model.Stacking{Omega: 0.5, Gamma: 2.5, HarmonicMean: 1})
}

// Omega among seen and unseen classes, alone and with gamma, has the highest harmonic mean on a half of the held-out samples
// of train classes and the other ones of validation classes; the temperature fits the same scores. Without held-out samples
// there is none.
func TestMixed(t *testing.T) {
	d := heldOut()
	whole := *d
	whole.TestSeen = nil
	testkit.Equal(t, "without held-out samples", chosenBy(t, &whole, saved(t, &whole, train.Dev)).Mixed, nil)
	path := saved(t, d, train.Dev)
	chosen, m := chosenBy(t, d, path, path), testkit.Must(Open(path))(t)
	classes := slices.Concat(d.Split.Train, d.Split.Val)
	var rows, labels []int
	choosing, _ := d.HeldOut()
	for row, z := range d.Labels {
		column := slices.Index(classes, z)
		if seen := column < len(d.Split.Train); column >= 0 && (seen && slices.Contains(choosing, row) || !seen && !slices.Contains(d.TestSeen, row)) {
			rows, labels = append(rows, row), append(labels, column)
		}
	}
	best, omega, stacked := -1.0, 0.0, model.Stacking{}
	sides := make(metrics.Sides, len(classes))
	for z := range sides {
		sides[z] = z >= len(d.Split.Train)
	}
	temperatures := map[float64]float64{}
	for _, o := range []float64{0, 0.25, 0.5, 1} {
		m.Decision.Omega = o
		scores := testkit.Must(model.Score(m, d.Features, rows, d.Describe(classes)))(t)
		temperatures[o] = testkit.Must(metrics.FitTemperature(scores, labels))(t)
		s := metrics.NewStacking(scores, labels, sides)
		if mean := s.At(0).Mean; mean >= best {
			best, omega = mean, o
		}
		if gamma := s.Best(); s.At(gamma).Mean >= stacked.HarmonicMean {
			stacked = model.Stacking{Omega: o, Gamma: gamma, HarmonicMean: s.At(gamma).Mean}
		}
	}
	testkit.Equal(t, "together", *chosen.Stacking, stacked)
	testkit.Equal(t, "omega", chosen.Mixed.Omega, omega)
	testkit.Equal(t, "temperature", chosen.Mixed.Calibration.Temperature, temperatures[omega])
}

// Of the samples that it was measured on, a share q has a fit below q, for every number of candidates.
func TestFitByNumberOfCandidates(t *testing.T) {
	d := heldOut()
	d.TestSeen = nil
	v := testkit.Must(newFold(saved(t, d, train.Dev), d))(t)
	f := testkit.Must(measureFit(t.Context(), []*fold{v}))(t)
	ends := []int{f.Candidates[0], f.Candidates[len(f.Candidates)-1], f.Samples}
	testkit.Equal(t, "candidates and samples", ends, []int{1, len(d.Split.Seen()), len(d.SamplesOf(d.Split.Val))})
	r := rand.New(rand.NewPCG(23, 0))
	for _, n := range []int{1, 3, len(d.Split.Val), len(d.Split.Seen())} {
		var fits []float64
		for range 20 {
			fits = append(fits, testkit.Must(v.fits(n, d.Descriptions, r))(t)...)
		}
		below := 0.0
		for _, fit := range fits {
			if f.Share(fit, n) < 0.2 {
				below += 1 / float64(len(fits))
			}
		}
		testkit.Near(t, "share below 0.2", below, 0.2, 0.05)
	}
}

// The temperature is the one of the validation classes alone; with it the expected calibration
// error is smaller. Scores without a mistake have none.
func TestCalibrate(t *testing.T) {
	b := simulated(12, 30, ofClass)
	s := b.scored
	for i := range s.scores.Data {
		s.scores.Data[i] *= 5
	}
	want := testkit.Must(metrics.FitTemperature(s.scores, s.labels))(t)
	c := calibrate([]scored{s, s}, true)
	if c.Temperature != want || c.Samples != 720 || c.Classes != 12 || c.ErrorAfter > *c.ErrorBefore/2 || !Calibrated(c) {
		t.Errorf("%+v, expected temperature %g", c, want)
	}
	testkit.Equal(t, "error of scores that are no probabilities", calibrate([]scored{s}, false).ErrorBefore, nil)
	c.ErrorAfter = *c.ErrorBefore
	testkit.WantText(t, CalibrationText(c), ", not lower: treat probabilities as a ranking")
	for i, z := range s.labels {
		s.scores.Row(i)[z] += 1000
	}
	testkit.Equal(t, "scores without a mistake", calibrate([]scored{s}, true), nil)
}

// The error is that of classes with the temperature of the others, which do not fit where every other class has
// scores that are ten times as large.
func TestCalibrationErrorIsOfOtherClasses(t *testing.T) {
	b := simulated(12, 30, ofClass)
	for i, z := range b.labels {
		for k := range b.scores.Row(i) {
			b.scores.Row(i)[k] *= float32(1 + 9*(z%2))
		}
	}
	s := b.scored
	own := 0.0
	for half := range 2 {
		scores, labels := s.half(half)
		temperature := testkit.Must(metrics.FitTemperature(scores, labels))(t)
		own += metrics.NewReliability(metrics.Confidence(scores, temperature), metrics.Right(scores, labels), Bins).ECE() / 2
	}
	if c := calibrate([]scored{s}, true); c.ErrorAfter < 2*own {
		t.Errorf("error %g, with the temperature of the classes themselves %g", c.ErrorAfter, own)
	}
}
