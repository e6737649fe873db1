package lab

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Over the epochs that every seed ran, the first of equal averages.
func TestBestEpochIsTheFirstWithTheBestAverage(t *testing.T) {
	for _, c := range []struct {
		want   int
		curves [][]float64
	}{{0, nil}, {0, [][]float64{{}}}, {2, [][]float64{{0.1, 0.5, 0.5}}}, {3, [][]float64{{0.1, 0.4, 0.3, 0.9}, {0.3, 0.1, 0.3}}}} {
		var curves []train.Curve
		for _, accuracies := range c.curves {
			var curve train.Curve
			for e, a := range accuracies {
				curve = append(curve, train.Epoch{Epoch: e + 1, ValAccuracy: &a})
			}
			curves = append(curves, curve)
		}
		testkit.Equal(t, fmt.Sprint(c.curves), BestEpoch(curves), c.want)
	}
}

// A run that converged does not limit how long the others are trained.
func TestDevEpochAfterConvergence(t *testing.T) {
	run := func(status train.Status, accuracies ...float64) Run {
		r := Run{Dir: t.TempDir(), Result: &train.Result{Status: status}}
		var c train.Curve
		for e, a := range accuracies {
			c = append(c, train.Epoch{Epoch: e + 1, ValAccuracy: &a, ValAccuracyPerSample: &a})
		}
		testkit.NoError(t, c.Write(filepath.Join(r.Dir, train.CurveFile)))
		return r
	}
	other := run(train.Patience, 0.1, 0.3, 0.5, 0.4)
	for status, want := range map[train.Status]int{train.Converged: 3, train.Epochs: 2} {
		testkit.Equal(t, fmt.Sprint("epoch beside a run that ended by ", status), testkit.Must(DevEpoch([]Run{run(status, 0.5, 0.4), other}))(t), want)
	}
}

// A baseline has its own correction, none beside published settings, and what a flag gives.
func TestCorrectionOfBaselines(t *testing.T) {
	published := config.PresetFor("cub", methods.Variant(model.SemanticHard)).Config
	general := config.GeneralFor("cub", methods.Variant(model.SemanticHard)).Config
	for _, c := range []struct {
		name   string
		common config.Config
		given  []string
		want   model.CorrectionKind
	}{
		{"eszsl", general, nil, model.Standardise},
		{"dap", general, nil, model.Subtract},
		{"eszsl", published, nil, model.NoCorrection},
		{"dap", published, nil, model.NoCorrection},
		{"eszsl", general.With("correction", model.NoCorrection), []string{"correction"}, model.NoCorrection},
		{"ale", published.With("correction", model.Standardise), []string{"correction", "omega"}, model.Standardise},
	} {
		testkit.Equal(t, "correction of "+c.name, testkit.Must(BaselineArm(c.name, c.common, 0, c.given))(t).Starts[0].Correction.Kind, c.want)
	}
	_, err := BaselineArm("eszsl", general, 0, []string{"correction"})
	testkit.WantError(t, err, "correction: expected one that all methods can have, found evidence, which eszsl cannot")
}
