package lab

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train"
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
		r := Run{Trial: train.Trial{Stage: train.Dev}, Dir: t.TempDir(), Result: &train.Result{Status: status}}
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
