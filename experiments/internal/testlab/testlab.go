// Package testlab makes labs, runs and files for the tests and examples of experiments.
package testlab

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// Simulated returns a lab for a data set on which a run takes milliseconds.
func Simulated(t testing.TB) *lab.Lab {
	t.Helper()
	return lab.New(small(), t.TempDir())
}

// ForExample is Simulated for an example, which calls remove at its end.
func ForExample() (l *lab.Lab, remove func()) {
	root, err := os.MkdirTemp("", "lago-train-example")
	if err != nil {
		panic(err)
	}
	return lab.New(small(), root), func() { _ = os.RemoveAll(root) }
}

func small() *dataset.Dataset {
	d, err := simulate.Make(simulate.Spec{
		Name: "small", Samples: 160, Dims: 16, Attributes: 9, Groups: 3,
		TrainClasses: 8, ValClasses: 4, TestClasses: 4,
	})
	if err != nil {
		panic(err)
	}
	return d
}

// Config is a run of two seeds on the data set of Simulated.
func Config(l *lab.Lab, stage protocol.Stages) protocol.Config {
	c := protocol.PresetFor(l.Data.Name, model.SemanticHard).Config
	c.Stage, c.Seeds, c.Seed, c.Epochs, c.Batch, c.LR = stage, 2, 5, 4, 16, 0.01
	return c
}

// CompareKeys reports an error unless an object has exactly the given keys.
func CompareKeys(t *testing.T, name string, object map[string]json.RawMessage, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(object))); diff != "" {
		t.Errorf("keys of %s (-want +got):\n%s", name, diff)
	}
}

// DevTrial is a trial that was never run.
func DevTrial(dataset string, seed uint64) train.Trial {
	return protocol.PresetFor(dataset, model.SemanticHard).Trial(train.Dev, "data", seed, 50)
}

// LogRun writes the folder of a run with these validation accuracies, and returns it.
// Every status except "unfinished" has a result.
func LogRun(t testing.TB, root string, trial train.Trial, status train.Status, accuracies ...float64) string {
	t.Helper()
	dir := filepath.Join(root, trial.Name())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	WriteFile(t, filepath.Join(dir, train.TrialFile), train.Record{Trial: trial, ResultsVersion: train.ResultsVersion, Environment: train.Environment{Versions: map[string]string{"go": "go1.26"}}})
	r := train.Result{Status: status, Epochs: len(accuracies), Seconds: 1.5}
	var curve train.Curve
	for i, a := range accuracies {
		if r.Evaluation == nil || a > r.Evaluation.PerClass {
			const samples = 10_000
			right := int(math.Round(a * samples))
			r.BestEpoch, r.Evaluation = i+1, &train.Evaluation{
				PerClass: a, PerSample: a, Classes: []string{"crow", "wren"},
				Confusion: [][]int{{right, samples - right}, {samples - right, right}},
			}
		}
		curve = append(curve, train.Epoch{Epoch: i + 1, Phases: []train.Phase{{Name: "W"}}, ValAccuracy: &a, ValAccuracyPerSample: &a})
	}
	if err := curve.Write(filepath.Join(dir, train.CurveFile)); err != nil {
		t.Fatal(err)
	}
	switch status {
	case "unfinished":
		return dir
	case train.NotFinite:
		r.BestEpoch, r.Evaluation, r.Error = 0, nil, "CXE is NaN"
	}
	WriteFile(t, filepath.Join(dir, train.ResultFile), r)
	return dir
}

// WriteFile writes a value as JSON.
func WriteFile(t testing.TB, path string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Full is the full protocol of variants on the data set of Simulated.
func Full(l *lab.Lab, variants ...model.Variant) []protocol.Config {
	configs := make([]protocol.Config, len(variants))
	for i, v := range variants {
		c := Config(l, protocol.DevThenTest)
		c.Variant = v
		configs[i] = c
	}
	return configs
}

// Same is equality where NaN is NaN.
func Same(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
