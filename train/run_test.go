package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// files returns the modification times of the files in a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := make(map[string]string)
	for _, e := range testkit.Must(os.ReadDir(dir))(t) {
		m[e.Name()] = testkit.Must(e.Info())(t).ModTime().String()
	}
	return m
}

func TestFilesOfARun(t *testing.T) {
	d := tiny.Learnable()
	trial := trialOn(d, model.SemanticSoft, Dev)
	var calls Curve
	root := t.TempDir()
	result := testkit.Must(Run(context.Background(), root, trial, data(d, trial), Options{
		OnEpoch:  func(_ Trial, e Epoch) { calls = append(calls, e) },
		OnResume: func(Trial, int) { t.Error("OnResume was called for a new run") },
	}))(t)
	dir := filepath.Join(root, trial.Name())

	want := []string{CurveFile, lockFile, ModelFile, ResultFile, TrialFile}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files(t, dir)))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	// The lock has the same permissions as other files.
	lock, other := testkit.Must(os.Stat(filepath.Join(dir, lockFile)))(t), testkit.Must(os.Stat(filepath.Join(dir, ResultFile)))(t)
	if lock.Mode() != other.Mode() {
		t.Errorf("the lock has mode %v, %s has %v", lock.Mode(), ResultFile, other.Mode())
	}
	r := testkit.Must(ReadRecord(dir))(t)
	if diff := cmp.Diff(trial, r.Trial); diff != "" {
		t.Errorf("%s (-want +got):\n%s", TrialFile, diff)
	}
	if r.BLAS != blas.Current() || r.Versions["go"] != runtime.Version() {
		t.Errorf("%s names the BLAS %v and the versions %v", TrialFile, r.BLAS, r.Versions)
	}
	curve := testkit.Must(ReadCurve(filepath.Join(dir, CurveFile), Dev))(t)
	if diff := cmp.Diff(curve, calls); diff != "" {
		t.Errorf("(-curve +calls of OnEpoch):\n%s", diff)
	}
	stored := testkit.Must(ReadResult(dir))(t)
	if diff := cmp.Diff(result, stored); diff != "" {
		t.Errorf("%s (-returned +stored):\n%s", ResultFile, diff)
	}
	checkResult(t, d, stored, curve)

	before := files(t, dir)
	again := testkit.Must(Run(context.Background(), root, trial, data(d, trial), Options{
		OnEpoch: func(Trial, Epoch) { t.Error("trained again") },
	}))(t)
	if diff := cmp.Diff(result, again) + cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("the finished run was not reused as it is:\n%s", diff)
	}
}

// checkResult compares the result of a dev run with its curve.
func checkResult(t *testing.T, d *dataset.Dataset, r *Result, curve Curve) {
	t.Helper()
	if r.Status != Epochs || r.Epochs != len(curve) || r.Error != "" || r.Seconds <= 0 {
		t.Errorf("result %+v of a run of %d epochs", r, len(curve))
	}
	best := curve[r.BestEpoch-1]
	if r.TrainAccuracy != best.TrainAccuracy || r.Evaluation.PerClass != *best.ValAccuracy || r.Evaluation.PerSample != *best.ValAccuracyPerSample {
		t.Errorf("result %+v, expected the accuracies of epoch %d: %+v", r, r.BestEpoch, best)
	}
	samples, _ := metrics.Confusion(r.Evaluation.Confusion).Recall()
	for i, z := range d.Split.Val {
		if want := d.SamplesPerClass()[z]; r.Evaluation.Classes[i] != d.Classes[z] || samples[i] != want {
			t.Errorf("row %d: %d samples of %s, expected %d of %s", i, samples[i], r.Evaluation.Classes[i], want, d.Classes[z])
		}
	}
	a := metrics.Confusion(r.Evaluation.Confusion).Accuracy()
	if len(r.Evaluation.Confusion) != len(d.Split.Val) || a != (metrics.Accuracy{PerClass: r.Evaluation.PerClass, PerSample: r.Evaluation.PerSample}) {
		t.Errorf("the confusion matrix gives %+v, the result is %+v", a, r.Evaluation)
	}
}

func TestLockedRunIsBusy(t *testing.T) {
	d, root := tiny.Small(), t.TempDir()
	trial := trialOn(d, model.SemanticHard, Dev)
	dir := filepath.Join(root, trial.Name())
	testkit.NoError(t, os.Mkdir(dir, 0o755))
	other := flock.New(filepath.Join(dir, lockFile))
	if held, err := other.TryLock(); !held || err != nil {
		t.Fatalf("TryLock = %v, %v", held, err)
	}
	if r, err := Run(context.Background(), root, trial, data(d, trial), Options{}); !errors.Is(err, ErrBusy) {
		t.Errorf("Run = %v, %v, expected %v", r, err, ErrBusy)
	}
	testkit.NoError(t, other.Unlock())
	if _, r := finished(t, root, d, trial); r.Status != Epochs {
		t.Errorf("once the lock is free: %v, expected the status %q", r, Epochs)
	}
}

func TestInvalidTrialLeavesNoFolder(t *testing.T) {
	d, root := tiny.Small(), t.TempDir()
	trial := trialOn(d, model.SemanticHard, Dev)
	lagoOf(trial).Batch = 0
	_, err := Run(context.Background(), root, trial, data(d, trial), Options{})
	testkit.WantError(t, err, "lago: batch: expected a whole number, at least 1, found 0")
	if entries := testkit.Must(os.ReadDir(root))(t); len(entries) > 0 {
		t.Errorf("an invalid trial left %v", entries)
	}
}

// What is no regular file is refused: reading a named pipe would block.
func TestIrregularFilesAreRefused(t *testing.T) {
	d := tiny.Small()
	trial := trialOn(d, model.SemanticHard, Dev)
	for _, file := range []string{lockFile, TrialFile, CurveFile, ResultFile, checkpointFile, ModelFile} {
		root := t.TempDir()
		path := filepath.Join(root, trial.Name(), file)
		testkit.NoError(t, os.MkdirAll(path, 0o755))
		_, err := Run(context.Background(), root, trial, data(d, trial), Options{})
		testkit.WantError(t, err, path+": expected a regular file")
	}
}

// A run that cannot end otherwise is finished by its error, which a second run repeats.
func TestFailedRunsAreFinished(t *testing.T) {
	huge := tiny.Learnable()
	for i := range huge.Features.Data {
		huge.Features.Data[i] *= 1e38 // finite, but products with W are not
	}
	noGroups := tiny.Small()
	noGroups.Groups = nil
	for _, c := range []struct {
		d      *dataset.Dataset
		status Status
		want   string
	}{
		{huge, NotFinite, "semantic-hard, epoch 1: phase W, step 1: cxe is NaN"},
		{noGroups, Failed, "semantic-hard: groups: expected "},
	} {
		root := t.TempDir()
		trial := trialOn(c.d, model.SemanticHard, Dev)
		r, err := Run(context.Background(), root, trial, data(c.d, trial), Options{})
		testkit.WantError(t, err, c.want)
		if nf := (*model.NotFinite)(nil); errors.As(err, &nf) != (c.status == NotFinite) {
			t.Errorf("error %v of a run with the status %q", err, c.status)
		}
		if diff := cmp.Diff(&Result{Status: c.status, Error: err.Error()}, r, butSeconds); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		dir := filepath.Join(root, trial.Name())
		if exists(filepath.Join(dir, ModelFile)) || exists(filepath.Join(dir, checkpointFile)) {
			t.Error("the run left a model or a checkpoint")
		}
		again, repeated := Run(context.Background(), root, trial, data(c.d, trial), Options{
			OnEpoch: func(Trial, Epoch) { t.Error("trained again") },
		})
		if repeated == nil || repeated.Error() != err.Error() || !cmp.Equal(r, again) {
			t.Errorf("Run again = %+v, %v, expected %+v, %v", again, repeated, r, err)
		}
	}
}

// A run that is resumed in another environment keeps the record of the first and adds the
// other, with a warning.
func TestResumedRunsRecordTheirEnvironments(t *testing.T) {
	d, root := tiny.Small(), t.TempDir()
	trial := trialOn(d, model.SemanticHard, Dev)
	interrupted(t, root, d, trial, 2)
	dir := filepath.Join(root, trial.Name())
	changeJSON(t, filepath.Join(dir, TrialFile), func(r map[string]any) {
		r["blas"] = map[string]any{"name": "another"}
		r["versions"].(map[string]any)["go"] = "go1.0"
	})
	first := testkit.Must(ReadRecord(dir))(t).Environment
	if first.BLAS == currentEnvironment().BLAS {
		t.Fatal("the BLAS was not changed")
	}
	var warnings []string
	for range 2 { // the second reuses the finished run
		testkit.Must(Run(context.Background(), root, trial, data(d, trial), Options{
			OnWarning: func(_ Trial, w string) { warnings = append(warnings, w) },
		}))(t)
	}
	r := testkit.Must(ReadRecord(dir))(t)
	if r.BLAS != first.BLAS || len(r.Resumed) != 1 || r.Resumed[0].BLAS != currentEnvironment().BLAS {
		t.Errorf("record %+v, expected the first environment and the current one", r)
	}
	if len(warnings) != 1 {
		t.Fatalf("warnings %q, expected one", warnings)
	}
	testkit.WantText(t, warnings[0], fmt.Sprintf("(BLAS another, now %s; go go1.0, now %s)", blas.Current(), runtime.Version()))
}

// If one class is predicted for all samples, accuracy is exactly chance, with a warning.
func TestChanceIsReported(t *testing.T) {
	d := tiny.Learnable()
	clear(d.Features.Data)
	trial := trialOn(d, model.SemanticHard, Dev)
	var warning string
	r := testkit.Must(Run(context.Background(), t.TempDir(), trial, data(d, trial), Options{OnWarning: func(_ Trial, w string) { warning += w }}))(t)
	testkit.WantText(t, warning, "chance")
	if math.Abs(r.Evaluation.PerClass-0.1) > 1e-12 {
		t.Errorf("accuracy %g, chance is 0.1", r.Evaluation.PerClass)
	}
}
