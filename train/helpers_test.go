package train

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	_ "github.com/lago-train/lago-train/internal/testkit/fastblas" // for products
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/lago"
	"github.com/lago-train/lago-train/train/methods"
)

// trialOn returns a trial that reaches 60 to 70 % on the val classes of tiny.Learnable, where chance is 10 %.
func trialOn(d *dataset.Dataset, v model.Variant, stage Stage) Trial {
	s := lago.New(v)
	s.Zeta, s.Alpha, s.LR, s.BiasFactor, s.LRV, s.Batch, s.K = 3, 0, 1e-2, 1, 0.1, 32, 6
	return methodTrial(d, methods.Named{Name: methods.LAGO, Method: s}.Canonical(), stage)
}

func methodTrial(d *dataset.Dataset, m methods.Named, stage Stage) Trial {
	return Trial{
		Dataset: d.Name, Fingerprint: d.Fingerprint(), Stage: stage, Preprocess: preprocess.None,
		Epochs: 6, Patience: 50, Seed: 1, Method: m,
	}
}

// lagoOf returns the settings of LAGO, to be changed.
func lagoOf(t Trial) *lago.Settings { return t.Method.Method.(*lago.Settings) }

// data is what Run and the other helpers take.
func data(d *dataset.Dataset, t Trial) func() (*Data, error) {
	return func() (*Data, error) { return Prepare(d, t) }
}

// trained returns a trainer after its run, which must end with the given status.
func trained(t testing.TB, d *dataset.Dataset, trial Trial, want Status) *trainer {
	t.Helper()
	tr := testkit.Must(newTrainer(trial, testkit.Must(Prepare(d, trial))(t)))(t)
	if status, err := tr.run(context.Background()); status != want || err != nil {
		t.Fatalf("run = %q, %v, expected %q", status, err, want)
	}
	return tr
}

// fitted returns the model of a trial, trained without files.
func fitted(t testing.TB, d *dataset.Dataset, trial Trial) *Saved {
	t.Helper()
	p := testkit.Must(Prepare(d, trial))(t)
	tr := testkit.Must(newTrainer(trial, p))(t)
	testkit.Must(tr.run(context.Background()))(t)
	return newSaved(trial, testkit.Must(tr.pipeline())(t), p)
}

// finished runs a trial to its end in a folder below root, and returns the folder and the result.
func finished(t testing.TB, root string, d *dataset.Dataset, trial Trial) (string, *Result) {
	t.Helper()
	r := testkit.Must(Run(context.Background(), root, trial, data(d, trial), Options{}))(t)
	return filepath.Join(root, trial.Name()), r
}

// loaded returns the model of a finished run, and the run's folder and result.
func loaded(t testing.TB, d *dataset.Dataset, trial Trial) (*Saved, string, *Result) {
	t.Helper()
	dir, result := finished(t, t.TempDir(), d, trial)
	return testkit.Must(Load(filepath.Join(dir, ModelFile)))(t), dir, result
}

// butSeconds ignores the time that runs took.
var butSeconds = cmp.Options{
	cmpopts.IgnoreFields(method.Phase{}, "Seconds"),
	cmpopts.IgnoreFields(Result{}, "Seconds"),
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// compareRuns fails unless two finished runs of one trial are bit-identical.
func compareRuns(t *testing.T, want, got string) {
	t.Helper()
	if testkit.Read(t, filepath.Join(want, ModelFile)) != testkit.Read(t, filepath.Join(got, ModelFile)) {
		t.Errorf("%s differs between %s and %s", ModelFile, want, got)
	}
	var curves [2]Curve
	var results [2]*Result
	for i, dir := range []string{want, got} {
		curves[i] = testkit.Must(ReadCurve(filepath.Join(dir, CurveFile), Test))(t)
		results[i] = testkit.Must(testkit.Must(ReadRecord(dir))(t).ReadResult(dir))(t)
	}
	testkit.Equal(t, fmt.Sprintf("curves of %s and %s", want, got), curves[1], curves[0], butSeconds)
	testkit.Equal(t, fmt.Sprintf("results of %s and %s", want, got), results[1], results[0], butSeconds)
}
