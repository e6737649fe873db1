package train

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/preprocess"
)

// baselineTrial is a trial of a baseline with its own settings.
func baselineTrial(d *dataset.Dataset, m methods.Method, stage Stage) Trial {
	return Trial{
		Dataset: d.Name, Fingerprint: d.Fingerprint(), Stage: stage, Preprocess: preprocess.None,
		Baseline: methods.Spec{Method: m.Name, Settings: m.Default},
		Training: Training{Epochs: 4, Patience: 4, Seed: 1},
	}
}

// A loaded model reproduces the evaluation of its run, in both stages and with
// preprocessing, and records its training.
func TestLoadedBaselinesReproduceTheirEvaluation(t *testing.T) {
	d := tiny(t)
	for _, m := range methods.All {
		for _, c := range []struct {
			stage Stage
			chain preprocess.Chain
		}{{Dev, preprocess.None}, {Test, preprocess.Standardize}} {
			t.Run(m.Name+"/"+string(c.stage), func(t *testing.T) {
				trial := baselineTrial(d, m, c.stage)
				trial.Preprocess = c.chain
				dir, result := finished(t, t.TempDir(), d, trial)
				s, err := Load(filepath.Join(dir, ModelFile))
				if err != nil {
					t.Fatal(err)
				}
				classes := prepare(t, d, trial).EvaluationClasses
				confusion := confusionOf(t, score(t, s, d, classes), Select(d, d.Features, classes).Labels)
				if diff := cmp.Diff(result.Evaluation.Confusion, [][]int(confusion)); diff != "" {
					t.Errorf("(-run +loaded):\n%s", diff)
				}
				if s.Method != m.Name || s.Baseline != trial.Baseline || s.Dims != d.Features.Cols || !slices.Equal(s.Classes, d.Classes) {
					t.Errorf("loaded %s, %+v, of %d dimensions and the classes %v", s.Method, s.Baseline, s.Dims, s.Classes)
				}
				if err := s.Fits(d); err != nil {
					t.Error(err)
				}
				if _, err := s.LAGO("groups"); err == nil || !strings.Contains(err.Error(), m.Name) {
					t.Errorf("error %v, expected one that names %s", err, m.Name)
				}
			})
		}
	}
}

// A closed form converges in one epoch.
func TestConvergedRunsEnd(t *testing.T) {
	d := tiny(t)
	m, err := methods.Find("eszsl")
	if err != nil {
		t.Fatal(err)
	}
	_, result := finished(t, t.TempDir(), d, baselineTrial(d, m, Dev))
	if result.Status != Converged || result.Epochs != 1 || result.BestEpoch != 1 {
		t.Errorf("%+v, expected convergence after one epoch", result)
	}
	if result.Evaluation.PerClass < 0.3 {
		t.Errorf("accuracy %g, chance is 0.1", result.Evaluation.PerClass)
	}
}

// A resumed baseline is bit-identical to an uninterrupted one.
func TestBaselinesResume(t *testing.T) {
	d := tiny(t)
	for _, m := range methods.All {
		t.Run(m.Name, func(t *testing.T) {
			trial := baselineTrial(d, m, Dev)
			want, result := finished(t, t.TempDir(), d, trial)
			root := t.TempDir()
			for epoch := 1; epoch < result.Epochs; epoch += 2 {
				interrupted(t, root, d, trial, epoch)
			}
			got, _ := finished(t, root, d, trial)
			compareRuns(t, want, got)
		})
	}
}

func TestRunRefusesBadBaselines(t *testing.T) {
	d := tiny(t)
	for _, c := range []struct {
		name   string
		change func(*Trial)
		want   string
	}{
		{"a ridge", func(t *Trial) { t.Baseline.Settings = eszsl.Config{Gamma: -1, Lambda: 1} }, "eszsl: gamma: expected a number from 1e-18 to 1e+18, found -1"},
		{"an unknown method", func(t *Trial) { t.Baseline.Method = "svm" }, `method: expected one of`},
		{"no epochs", func(t *Trial) { t.Training.Epochs = 0 }, "epochs: expected at least 1, found 0"},
	} {
		trial := baselineTrial(d, methods.Method{Name: "eszsl", Default: eszsl.Default()}, Dev)
		c.change(&trial)
		_, err := Run(context.Background(), t.TempDir(), trial, given(prepare(t, d, trial)), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %s", c.name, err, c.want)
		}
	}
}

func TestFitsNamesModelAndDataset(t *testing.T) {
	d := tiny(t)
	s, err := Load(savedModel(t, d, model.Singletons, preprocess.None))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(*dataset.Dataset)
		field  string
	}{
		{func(d *dataset.Dataset) { d.Features = dataset.NewMatrix[float32](605, 3) }, "dimensions of the features"},
		{func(d *dataset.Dataset) { d.Attributes = d.Attributes[:4] }, "attributes"},
		{func(d *dataset.Dataset) {
			d.Attributes = slices.Clone(d.Attributes)
			d.Attributes[3].Name = "wet"
		}, "attribute 3"},
	} {
		other := *d
		other.Name = "birds"
		c.change(&other)
		if err := s.Fits(&other); err == nil || !strings.HasPrefix(err.Error(), "data set birds: "+c.field+": expected ") || !strings.Contains(err.Error(), "simulated-tiny") {
			t.Errorf("error %v, expected one on the %s that names both data sets", err, c.field)
		}
	}
}

// Held-out samples are not trained on, in either stage, nor do they choose epochs or settings.
func TestHoldOut(t *testing.T) {
	d := tiny(t)
	for _, stage := range []Stage{Dev, Test} {
		all, err := Prepare(d, Preparation{Stage: stage, Preprocess: preprocess.None})
		if err != nil {
			t.Fatal(err)
		}
		held := *d
		held.TestSeen = []int{all.train.Rows[0], all.train.Rows[7]}
		evaluated := slices.Clone(all.evaluation.Rows)
		if stage == Dev {
			held.TestSeen = slices.Sorted(slices.Values(append(held.TestSeen, evaluated[2])))
			evaluated = slices.Delete(evaluated, 2, 3)
		}
		p, err := Prepare(&held, Preparation{Stage: stage, Preprocess: preprocess.None, HoldOut: true})
		if err != nil {
			t.Fatal(err)
		}
		if want := slices.Delete(slices.Delete(slices.Clone(all.train.Rows), 7, 8), 0, 1); !slices.Equal(p.train.Rows, want) {
			t.Errorf("%s: trains on %v, expected %v", stage, p.train.Rows, want)
		}
		for i, row := range p.train.Rows {
			if z := p.TrainClasses[p.train.Labels[i]]; z != d.Labels[row] {
				t.Errorf("%s: sample %d is labelled %d, expected %d", stage, row, z, d.Labels[row])
			}
		}
		if !slices.Equal(p.evaluation.Rows, evaluated) {
			t.Errorf("%s: evaluates on %v, expected %v", stage, p.evaluation.Rows, evaluated)
		}
	}
	none := *d
	none.TestSeen = nil
	_, err := Prepare(&none, Preparation{Stage: Dev, Preprocess: preprocess.None, HoldOut: true})
	if err == nil || !strings.Contains(err.Error(), "tiny") {
		t.Errorf("error %v, expected one that names the data set without samples to hold out", err)
	}
}
