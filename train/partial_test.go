package train

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
)

// withMissing returns the data set with a share of its descriptions missing.
func withMissing(d *dataset.Dataset, share float64) *dataset.Dataset {
	partly := *d
	partly.Descriptions = dataset.NewMatrix[float64](d.Descriptions.Rows, d.Descriptions.Cols)
	rng := rand.New(rand.NewPCG(1, 2))
	for i, p := range d.Descriptions.Data {
		if rng.Float64() < share {
			p = math.NaN()
		}
		partly.Descriptions.Data[i] = p
	}
	return &partly
}

// eachMethod returns a trial of LAGO and one of a baseline.
func eachMethod(t *testing.T, d *dataset.Dataset, stage Stage) map[string]Trial {
	t.Helper()
	m, err := methods.Find("eszsl")
	if err != nil {
		t.Fatal(err)
	}
	trials := map[string]Trial{"LAGO": trialOn(d, model.SemanticHard, stage), "baseline": baselineTrial(d, m, stage)}
	for name, trial := range trials {
		trial.Preprocess = preprocess.Standardize
		trials[name] = trial
	}
	return trials
}

// With missing entries in the descriptions of all classes, a loaded model imputes them as
// the run did.
func TestLoadedModelsImputeLikeTheirRuns(t *testing.T) {
	d := withMissing(tiny(t), 0.2)
	for _, stage := range []Stage{Dev, Test} {
		for name, trial := range eachMethod(t, d, stage) {
			dir, result := finished(t, t.TempDir(), d, trial)
			s, err := Load(filepath.Join(dir, ModelFile))
			if err != nil {
				t.Fatal(err)
			}
			classes := prepare(t, d, trial).EvaluationClasses
			confusion := confusionOf(t, score(t, s, d, classes), Select(d, d.Features, classes).Labels)
			if diff := cmp.Diff(result.Evaluation.Confusion, [][]int(confusion)); diff != "" {
				t.Errorf("%s, %s (-run +loaded):\n%s", name, stage, diff)
			}
			if result.Evaluation.PerClass < 0.3 {
				t.Errorf("%s, %s: accuracy %g, chance is 0.1", name, stage, result.Evaluation.PerClass)
			}
		}
	}
}

// A model trained on full descriptions scores partial ones by either kind of imputation.
// The kind does not change the scores of full descriptions.
func TestSetImputation(t *testing.T) {
	d := tiny(t)
	partly := withMissing(d, 0.5)
	for name, trial := range eachMethod(t, d, Test) {
		dir, _ := finished(t, t.TempDir(), d, trial)
		s, err := Load(filepath.Join(dir, ModelFile))
		if err != nil {
			t.Fatal(err)
		}
		full, neutral := score(t, s, d, d.Split.Test), score(t, s, partly, d.Split.Test)
		s.SetImputation(impute.Inferred)
		if cmp.Equal(neutral, score(t, s, partly, d.Split.Test)) {
			t.Errorf("%s: both kinds of imputation give equal scores", name)
		}
		if !cmp.Equal(full, score(t, s, d, d.Split.Test)) {
			t.Errorf("%s: imputation changes the scores of full descriptions", name)
		}
		s.SetImputation(impute.Neutral)
		if !cmp.Equal(neutral, score(t, s, partly, d.Split.Test)) {
			t.Errorf("%s: scores differ after a change of the kind and back", name)
		}
	}
}
