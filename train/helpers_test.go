package train

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

// tiny makes a data set on which a variant trains for an epoch in milliseconds. Its
// classes have 10 or 11 samples, and no batch divides them.
func tiny(t testing.TB) *dataset.Dataset {
	t.Helper()
	d, err := simulate.Make(simulate.Spec{
		Name: "tiny", Samples: 605, Dims: 64, Attributes: 20, Groups: 5,
		TrainClasses: 40, ValClasses: 10, TestClasses: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// trialOn returns a trial that reaches 60 to 70 % on the val classes of tiny, where
// chance is 10 %.
func trialOn(d *dataset.Dataset, v model.Variant, stage Stage) Trial {
	c := model.Config{
		Variant: v, Prior: model.Uniform, Complement: model.Const, Zeta: 3, Beta: 1e-6, Lambda: 1e-4,
	}
	switch v {
	case model.KSoft:
		c.K = 6
	case model.SemanticSoft:
		c.Psi = 1e-4
	}
	return Trial{
		Dataset: d.Name, Fingerprint: d.Fingerprint(), Stage: stage, Model: c, Preprocess: preprocess.None,
		Training: Training{Epochs: 6, LearningRate: 1e-2, BiasFactor: 1, LearningRateV: 0.1, Batch: 32, Patience: 50, Seed: 1},
	}
}

func prepare(t testing.TB, d *dataset.Dataset, trial Trial) *Data {
	t.Helper()
	data, err := Prepare(d, trial.Preparation())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// given is data for Run.
func given(data *Data) func() (*Data, error) {
	return func() (*Data, error) { return data, nil }
}

// lagoTrainerOf returns the trainer that Run would make.
func lagoTrainerOf(t testing.TB, d *dataset.Dataset, trial Trial) *lagoTrainer {
	t.Helper()
	tr, err := newLAGOTrainer(trial.Model, trial.Training, prepare(t, d, trial).task(trial.Stage))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// trained returns a trainer after its run, which must end with the given status.
func trained(t testing.TB, d *dataset.Dataset, trial Trial, want Status) *lagoTrainer {
	t.Helper()
	tr := lagoTrainerOf(t, d, trial)
	if status, err := tr.Run(context.Background()); status != want || err != nil {
		t.Fatalf("Run = %q, %v, expected %q", status, err, want)
	}
	return tr
}

// finished runs a trial to its end in a folder below root, and returns the folder and the
// result.
func finished(t testing.TB, root string, d *dataset.Dataset, trial Trial) (string, *Result) {
	t.Helper()
	r, err := Run(context.Background(), root, trial, given(prepare(t, d, trial)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, trial.Name()), r
}

// bits returns the parameters as their bit patterns.
func bits(p *model.Parameters[float32]) [3][]uint32 {
	var b [3][]uint32
	for i, values := range [][]float32{p.W.Data, p.B, p.V.Data} {
		for _, v := range values {
			b[i] = append(b[i], math.Float32bits(v))
		}
	}
	return b
}

// butSeconds ignores the time that runs took.
var butSeconds = cmp.Options{
	cmpopts.IgnoreFields(Phase{}, "Seconds"),
	cmpopts.IgnoreFields(Result{}, "Seconds"),
}

func contents(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// compareRuns fails unless two finished runs of one trial are bit-identical.
func compareRuns(t *testing.T, want, got string) {
	t.Helper()
	if !cmp.Equal(contents(t, filepath.Join(want, ModelFile)), contents(t, filepath.Join(got, ModelFile))) {
		t.Errorf("%s differs between %s and %s", ModelFile, want, got)
	}
	var curves [2]Curve
	var results [2]*Result
	for i, dir := range []string{want, got} {
		var err error
		if curves[i], err = ReadCurve(filepath.Join(dir, CurveFile), Test); err != nil {
			t.Fatal(err)
		}
		if results[i], err = ReadResult(dir); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(curves[0], curves[1], butSeconds); diff != "" {
		t.Errorf("curves of %s and %s:\n%s", want, got, diff)
	}
	if diff := cmp.Diff(results[0], results[1], butSeconds); diff != "" {
		t.Errorf("results of %s and %s:\n%s", want, got, diff)
	}
}
