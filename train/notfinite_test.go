package train

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

func TestNotFiniteStopsTheRun(t *testing.T) {
	huge := func(d *dataset.Dataset) {
		for i := range d.Features.Data {
			d.Features.Data[i] *= 1e38 // finite, but products with W are not
		}
	}
	for _, c := range []struct {
		name    string
		variant model.Variant
		data    func(*dataset.Dataset)
		trial   func(*Trial)
		term    string
		message string
	}{
		{
			"a huge rate of W", model.SemanticHard, nil,
			func(t *Trial) { t.Training.LearningRate = 1e30 },
			"w2", "phase W, epoch 1, step 2: w2 is +Inf",
		},
		{
			"a rate past float32", model.Singletons, nil,
			func(t *Trial) { t.Training.LearningRate = 1e300 },
			"", "phase W, epoch 1, step 2: ",
		},
		{
			"a rate past float32, in one step", model.SemanticHard, nil,
			func(t *Trial) { t.Training.LearningRate, t.Training.Batch = 1e300, 1000 },
			"W", "phase W, epoch 1, step 1: W is ",
		},
		{
			"a rate of V past float32, in one step", model.KSoft, nil,
			func(t *Trial) { t.Training.LearningRateV, t.Training.Batch = 1e300, 1000 },
			"V", "phase V, epoch 1, step 1: V is ",
		},
		{
			"a huge rate of V", model.SemanticSoft, nil,
			func(t *Trial) { t.Training.LearningRateV = 1e300 },
			"", "phase V, epoch 1, step 2: ",
		},
		{
			"huge features", model.KSoft, huge, func(*Trial) {},
			"cxe", "phase W, epoch 1, step 1: cxe is NaN",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, root := tiny(t), t.TempDir()
			if c.data != nil {
				c.data(d)
			}
			trial := trialOn(d, c.variant, Dev)
			c.trial(&trial)
			data := prepare(t, d, trial)
			r, err := Run(context.Background(), root, trial, given(data), Options{})
			var nf *model.NotFinite
			if !errors.As(err, &nf) || !strings.HasPrefix(err.Error(), c.message) || c.term != "" && nf.Term != c.term {
				t.Fatalf("Run = %+v, %v, expected the error %s", r, err, c.message)
			}
			checkNotFinite(t, root, trial, data, r, err)
		})
	}
}

// checkNotFinite checks the folder of a run that ended with numbers that are not finite.
func checkNotFinite(t *testing.T, root string, trial Trial, data *Data, r *Result, cause error) {
	t.Helper()
	dir := filepath.Join(root, trial.Name())
	if diff := cmp.Diff(&Result{Status: NotFinite, Error: cause.Error()}, r, butSeconds); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if exists(filepath.Join(dir, ModelFile)) || exists(filepath.Join(dir, checkpointFile)) {
		t.Error("the run left a model or a checkpoint")
	}
	again, err := Run(context.Background(), root, trial, given(data), Options{
		OnEpoch: func(Trial, Epoch) { t.Error("trained again") },
	})
	if err == nil || err.Error() != cause.Error() || !cmp.Equal(r, again) {
		t.Errorf("Run again = %+v, %v, expected %+v, %v", again, err, r, cause)
	}
}

func TestSettingsCheck(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		change func(*Training)
		want   string
	}{
		{func(s *Training) { s.Epochs = 0 }, "epochs: expected at least 1, found 0"},
		{func(s *Training) { s.LearningRate = 0 }, "lr: expected a finite number above 0, found 0"},
		{func(s *Training) { s.LearningRate = nan }, "lr: expected a finite number above 0, found NaN"},
		{func(s *Training) { s.LearningRate = inf }, "lr: expected a finite number above 0, found +Inf"},
		{func(s *Training) { s.LearningRateV = -0.1 }, "lr_v: expected a finite number above 0, found -0.1"},
		{func(s *Training) { s.LearningRateV = inf }, "lr_v: expected a finite number above 0, found +Inf"},
		{func(s *Training) { s.Batch = -1 }, "batch: expected at least 1, found -1"},
		{func(s *Training) { s.Patience = 0 }, "patience: expected at least 1, found 0"},
	} {
		d := tiny(t)
		trial := trialOn(d, model.SemanticHard, Dev)
		data := prepare(t, d, trial)
		c.change(&trial.Training)
		if _, err := newLAGOTrainer(trial.Model, trial.Training, data.task(Dev)); err == nil || err.Error() != c.want {
			t.Errorf("error %v, expected %s", err, c.want)
		}
	}
}

func TestNewLAGOTrainerRefuses(t *testing.T) {
	d := tiny(t)
	trial := trialOn(d, model.SemanticHard, Dev)
	for _, c := range []struct {
		name   string
		change func(*model.Config, *task)
		want   string
	}{
		{"no samples", func(_ *model.Config, p *task) { p.train = Samples{} }, "samples: "},
		{"no groups", func(_ *model.Config, p *task) { p.groups = nil }, "groups: "},
		{"a wrong configuration", func(c *model.Config, _ *task) { c.Zeta = 0 }, "zeta: "},
		{"descriptions that are not probabilities", func(_ *model.Config, p *task) { p.trainClasses.Data[3] = 2 }, "descriptions: "},
		{"val descriptions that are not probabilities", func(_ *model.Config, p *task) { p.valClasses.Data[0] = -1 }, "descriptions: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, k := trial.Model, prepare(t, d, trial).task(Dev)
			c.change(&config, &k)
			if _, err := newLAGOTrainer(config, trial.Training, k); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v, expected %s...", err, c.want)
			}
		})
	}
}
