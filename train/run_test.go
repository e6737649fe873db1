package train

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// files returns the modification times of the files in a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := make(map[string]string)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		m[e.Name()] = info.ModTime().String()
	}
	return m
}

func TestFilesOfARun(t *testing.T) {
	d := tiny(t)
	trial := trialOn(d, model.SemanticSoft, Dev)
	dir, result := finished(t, t.TempDir(), d, trial)

	want := []string{CurveFile, lockFile, ModelFile, ResultFile, TrialFile}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files(t, dir)))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	// The lock has the same permissions as other files.
	lock, err := os.Stat(filepath.Join(dir, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	if other, err := os.Stat(filepath.Join(dir, ResultFile)); err != nil || lock.Mode() != other.Mode() {
		t.Errorf("the lock has mode %v, %s has %v (%v)", lock.Mode(), ResultFile, other.Mode(), err)
	}

	var r Record
	if err := json.Unmarshal(contents(t, filepath.Join(dir, TrialFile)), &r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(trial, r.Trial); diff != "" {
		t.Errorf("%s (-want +got):\n%s", TrialFile, diff)
	}
	if r.BLAS != blas.Current() || r.Versions["go"] != runtime.Version() {
		t.Errorf("%s names the BLAS %v and the versions %v", TrialFile, r.BLAS, r.Versions)
	}

	curve, err := ReadCurve(filepath.Join(dir, CurveFile), Test)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := ReadResult(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result, stored); diff != "" {
		t.Errorf("%s (-returned +stored):\n%s", ResultFile, diff)
	}
	checkResult(t, d, stored, curve)
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
	samples := d.SamplesPerClass()
	for i, z := range d.Split.Val {
		var n int
		for _, count := range r.Evaluation.Confusion[i] {
			n += count
		}
		if r.Evaluation.Classes[i] != d.Classes[z] || n != samples[z] {
			t.Errorf("row %d: %d samples of %s, expected %d of %s", i, n, r.Evaluation.Classes[i], samples[z], d.Classes[z])
		}
	}
	a := metrics.Confusion(r.Evaluation.Confusion).Accuracy()
	if len(r.Evaluation.Confusion) != len(d.Split.Val) || a != (metrics.Accuracy{PerClass: r.Evaluation.PerClass, PerSample: r.Evaluation.PerSample}) {
		t.Errorf("the confusion matrix gives %+v, the result is %+v", a, r.Evaluation)
	}
}

func TestFinishedRunIsReused(t *testing.T) {
	d, root := tiny(t), t.TempDir()
	trial := trialOn(d, model.SemanticHard, Test)
	dir, first := finished(t, root, d, trial)
	before := files(t, dir)
	second, err := Run(context.Background(), root, trial, given(prepare(t, d, trial)), Options{
		OnEpoch: func(Trial, Epoch) { t.Error("trained again") },
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("result (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

func TestOnEpochIsCalledForEachEpoch(t *testing.T) {
	d, root := tiny(t), t.TempDir()
	trial := trialOn(d, model.KSoft, Dev)
	var calls Curve
	_, err := Run(context.Background(), root, trial, given(prepare(t, d, trial)), Options{
		OnEpoch: func(of Trial, e Epoch) {
			if of != trial {
				t.Errorf("an epoch of %v, expected one of %v", of, trial)
			}
			calls = append(calls, e)
		},
		OnResume: func(Trial, int) { t.Error("OnResume was called for a new run") },
	})
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ReadCurve(filepath.Join(root, trial.Name(), CurveFile), Test)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(curve, calls); diff != "" {
		t.Errorf("(-curve +calls):\n%s", diff)
	}
}

func TestLockedRunIsBusy(t *testing.T) {
	d, root := tiny(t), t.TempDir()
	trial := trialOn(d, model.SemanticHard, Dev)
	dir := filepath.Join(root, trial.Name())
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	other := flock.New(filepath.Join(dir, lockFile))
	if held, err := other.TryLock(); !held || err != nil {
		t.Fatalf("TryLock = %v, %v", held, err)
	}
	data := prepare(t, d, trial)
	if r, err := Run(context.Background(), root, trial, given(data), Options{}); !errors.Is(err, ErrBusy) {
		t.Errorf("Run = %v, %v, expected %v", r, err, ErrBusy)
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	if r, err := Run(context.Background(), root, trial, given(data), Options{}); err != nil || r.Status != Epochs {
		t.Errorf("once the lock is free: Run = %v, %v, expected the status %q", r, err, Epochs)
	}
}

func TestRunRefuses(t *testing.T) {
	d, root := tiny(t), t.TempDir()
	trial := trialOn(d, model.SemanticHard, Dev)
	data := prepare(t, d, trial)

	wrong := trial
	wrong.Training.Batch = 0
	if _, err := Run(context.Background(), root, wrong, given(data), Options{}); err == nil || err.Error() != "batch: expected at least 1, found 0" {
		t.Errorf("error %v, expected one on the batch", err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("an invalid trial left %v (%v)", entries, err)
	}

	dir := filepath.Join(root, trial.Name())
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ResultFile)
	writeFile(t, path, []byte(`{"status": "epochs", "epochs": "six"}`))
	if _, err := Run(context.Background(), root, trial, given(data), Options{}); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("error %v, expected one that names %s", err, path)
	}
}

func TestReadResultOfAnUnfinishedRun(t *testing.T) {
	if r, err := ReadResult(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadResult = %v, %v, expected fs.ErrNotExist", r, err)
	}
}
