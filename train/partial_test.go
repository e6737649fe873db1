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
	"github.com/lago-train/lago-train/train/metrics"
)

// withGaps is the data set with this share of its descriptions left out.
func withGaps(d *dataset.Dataset, share float64) *dataset.Dataset {
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

// eachMethod is a trial of LAGO and one of a baseline.
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

// A data set with gaps in the descriptions of all classes is learned from and judged,
// and the file of the model fills gaps as the run did.
func TestModelsOfPartialDescriptionsScoreAsTheirRunsWereJudged(t *testing.T) {
	d := withGaps(tiny(t), 0.2)
	for _, stage := range []Stage{Dev, Test} {
		for name, trial := range eachMethod(t, d, stage) {
			dir, result := finished(t, t.TempDir(), d, trial)
			s, err := Load(filepath.Join(dir, ModelFile))
			if err != nil {
				t.Fatal(err)
			}
			judged := prepare(t, d, trial).EvaluationClasses
			named := metrics.NewConfusion(len(judged))
			named.Add(score(t, s, d, judged).Data, Select(d, d.Features, judged).Labels)
			if diff := cmp.Diff(result.Evaluation.Confusion, [][]int(named)); diff != "" {
				t.Errorf("%s, %s (-judged +scored):\n%s", name, stage, diff)
			}
			if result.Evaluation.PerClass < 0.3 {
				t.Errorf("%s, %s: accuracy %g, chance is 0.1", name, stage, result.Evaluation.PerClass)
			}
		}
	}
}

// A model that learned from full descriptions takes partial ones, by either kind of
// filling gaps; and full ones whatever the kind is.
func TestFillGaps(t *testing.T) {
	d := tiny(t)
	partly := withGaps(d, 0.5)
	for name, trial := range eachMethod(t, d, Test) {
		dir, _ := finished(t, t.TempDir(), d, trial)
		s, err := Load(filepath.Join(dir, ModelFile))
		if err != nil {
			t.Fatal(err)
		}
		full, neutral := score(t, s, d, d.Split.Test), score(t, s, partly, d.Split.Test)
		s.SetImputation(impute.Inferred)
		if cmp.Equal(neutral, score(t, s, partly, d.Split.Test)) {
			t.Errorf("%s: gaps are scored alike by either kind", name)
		}
		if !cmp.Equal(full, score(t, s, d, d.Split.Test)) {
			t.Errorf("%s: full descriptions score differently", name)
		}
		s.SetImputation(impute.Neutral)
		if !cmp.Equal(neutral, score(t, s, partly, d.Split.Test)) {
			t.Errorf("%s: gaps score differently after a change of kind and back", name)
		}
	}
}
