package train

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

// interrupted runs a trial until the end of epoch n. It returns the epoch from which the
// run resumed, or -1.
func interrupted(t *testing.T, root string, d *dataset.Dataset, trial Trial, n int) int {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if n == 0 {
		cancel()
	}
	found := -1
	r, err := Run(ctx, root, trial, given(prepare(t, d, trial)), Options{
		OnEpoch: func(_ Trial, e Epoch) {
			if e.Epoch == n {
				cancel()
			}
		},
		OnResume: func(_ Trial, epochs int) { found = epochs },
	})
	if err != nil || r.Status != Cancelled || r.Epochs != n || r.Evaluation != nil {
		t.Fatalf("Run = %+v, %v, expected the status %q after epoch %d", r, err, Cancelled, n)
	}
	dir := filepath.Join(root, trial.Name())
	if exists(filepath.Join(dir, ResultFile)) || exists(filepath.Join(dir, ModelFile)) || !exists(filepath.Join(dir, checkpointFile)) {
		t.Fatalf("after a cancelled run the folder holds %v", files(t, dir))
	}
	return found
}

// Runs are interrupted before the first epoch and after each one.
func TestInterruptedRunsAreBitIdentical(t *testing.T) {
	d := tiny(t)
	for _, c := range []struct {
		variant model.Variant
		stage   Stage
		chain   preprocess.Chain
		status  Status
	}{
		{model.SemanticHard, Dev, preprocess.None, Patience},
		{model.SemanticHard, Test, preprocess.Whiten, Epochs},
		{model.KSoft, Dev, preprocess.Standardize, Patience},
		{model.SemanticSoft, Test, preprocess.None, Epochs},
	} {
		t.Run(fmt.Sprintf("%s/%s", c.variant, c.stage), func(t *testing.T) {
			trial := trialOn(d, c.variant, c.stage)
			trial.Preprocess, trial.Ridge = c.chain, 10
			// The rate overshoots, so that patience ends the dev runs.
			trial.Training.LearningRate, trial.Training.Patience, trial.Training.Epochs = 0.1, 3, 12
			want, result := finished(t, t.TempDir(), d, trial)
			if result.Status != c.status {
				t.Fatalf("status %q, expected %q", result.Status, c.status)
			}

			root := t.TempDir()
			for n := range result.Epochs {
				if found := interrupted(t, root, d, trial, n); found != n-1 {
					t.Errorf("after epoch %d the run resumed from %d, expected %d", n, found, n-1)
				}
			}
			got, _ := finished(t, root, d, trial)
			compareRuns(t, want, got)
			if exists(filepath.Join(got, checkpointFile)) {
				t.Error("the finished run left its checkpoint")
			}
		})
	}
}

// A run that ends by itself in the epoch in which it is cancelled is finished.
func TestCancelledInTheLastEpoch(t *testing.T) {
	d := tiny(t)
	trial := trialOn(d, model.SemanticHard, Dev)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := Run(ctx, t.TempDir(), trial, given(prepare(t, d, trial)), Options{OnEpoch: func(_ Trial, e Epoch) {
		if e.Epoch == trial.Training.Epochs {
			cancel()
		}
	}})
	if err != nil || r.Status != Epochs || r.Evaluation == nil {
		t.Errorf("Run = %+v, %v, expected the status %q", r, err, Epochs)
	}
}

// A kill between the two writes leaves a curve that is ahead of the checkpoint.
func TestCurveAheadOfItsCheckpoint(t *testing.T) {
	d, root := tiny(t), t.TempDir()
	trial := trialOn(d, model.KSoft, Dev)
	want, _ := finished(t, t.TempDir(), d, trial)

	checkpoint := filepath.Join(root, trial.Name(), checkpointFile)
	interrupted(t, root, d, trial, 2)
	old := contents(t, checkpoint)
	interrupted(t, root, d, trial, 5)
	writeFile(t, checkpoint, old)
	if found := interrupted(t, root, d, trial, 3); found != 2 {
		t.Errorf("the run resumed from epoch %d, expected 2 as in its checkpoint", found)
	}
	got, _ := finished(t, root, d, trial)
	compareRuns(t, want, got)
}

// change rewrites a file of tensors.
func change(t *testing.T, path string, f func(*safetensors.File)) {
	t.Helper()
	file, err := safetensors.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f(file)
	var b strings.Builder
	if err := safetensors.Write(&b, file.Tensors, file.Metadata); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, []byte(b.String()))
}

// without removes a tensor.
func without(name string) func(*safetensors.File) {
	return func(f *safetensors.File) {
		f.Tensors = slices.DeleteFunc(f.Tensors, func(t safetensors.Tensor) bool { return t.Name == name })
	}
}

func TestDamagedCheckpoints(t *testing.T) {
	d, root := tiny(t), t.TempDir()
	trial := trialOn(d, model.KSoft, Dev)
	interrupted(t, root, d, trial, 3)
	whole, _ := finished(t, t.TempDir(), d, trial)
	checkpoint := contents(t, filepath.Join(root, trial.Name(), checkpointFile))
	curve := contents(t, filepath.Join(root, trial.Name(), CurveFile))

	progress := func(text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, checkpointFile), func(f *safetensors.File) { f.Metadata["progress"] = text })
		}
	}
	tensors := func(f func(*safetensors.File)) func(*testing.T, string) {
		return func(t *testing.T, dir string) { change(t, filepath.Join(dir, checkpointFile), f) }
	}
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		file   string // that the warning names
	}{
		{"cut off", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, checkpointFile), checkpoint[:len(checkpoint)-3])
		}, checkpointFile},
		{"empty", func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, checkpointFile), nil) }, checkpointFile},
		{"no progress", tensors(func(f *safetensors.File) { f.Metadata = nil }), checkpointFile},
		{"no number of epochs", progress(`{"epochs":"three"}`), checkpointFile},
		{"a negative number of epochs", progress(`{"epochs":-1}`), checkpointFile},
		{"a best epoch after the last", progress(`{"epochs":3,"best":{"epoch":4}}`), checkpointFile},
		{"more epochs than in the curve", progress(`{"epochs":1000000,"steps_w":3,"steps_v":3}`), CurveFile},
		{"converged before the first epoch", progress(`{"epochs":0,"converged":true}`), checkpointFile},
		{"steps that were not taken", progress(`{"epochs":3,"steps_w":1000000000,"steps_v":3}`), checkpointFile},
		{"a flipped bit", func(t *testing.T, dir string) {
			flipped := slices.Clone(checkpoint)
			flipped[len(flipped)/2] ^= 1
			writeFile(t, filepath.Join(dir, checkpointFile), flipped)
		}, checkpointFile},
		{"moments that are not finite", tensors(func(f *safetensors.File) {
			m, _ := f.Tensor("adam_w.1.mean")
			m.F32[0] = float32(math.NaN())
		}), checkpointFile},
		{"no V", tensors(without("V")), checkpointFile},
		{"no kept W", tensors(without("kept.W")), checkpointFile},
		{"no moments", tensors(without("adam_w.1.mean")), checkpointFile},
		{"W of another size", tensors(func(f *safetensors.File) {
			f.Tensors[0].Shape, f.Tensors[0].F32 = []int{2, 20}, f.Tensors[0].F32[:40]
		}), checkpointFile},
		{"W of another type", tensors(func(f *safetensors.File) {
			f.Tensors[0].F32, f.Tensors[0].F64 = nil, make([]float64, 1280)
		}), checkpointFile},
		{"a curve that is shorter", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, CurveFile), curve[:slices.Index(curve, '\n')+1])
		}, CurveFile},
		{"a curve that is cut off", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, CurveFile), curve[:len(curve)-9])
		}, CurveFile},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, trial.Name())
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, checkpointFile), checkpoint)
			writeFile(t, filepath.Join(dir, CurveFile), curve)
			c.damage(t, dir)
			var warnings []string
			r, err := Run(context.Background(), root, trial, given(prepare(t, d, trial)), Options{
				OnWarning: func(_ Trial, w string) { warnings = append(warnings, w) },
				OnResume:  func(Trial, int) { t.Error("resumed") },
			})
			if err != nil || r.Status != Epochs {
				t.Fatalf("Run = %+v, %v, expected a new run", r, err)
			}
			if len(warnings) != 1 || !strings.Contains(warnings[0], filepath.Join(dir, c.file)) {
				t.Errorf("warnings %q, expected one that names %s", warnings, c.file)
			}
			if !exists(filepath.Join(dir, damagedFile)) {
				t.Error("the damaged checkpoint was not renamed")
			}
			compareRuns(t, whole, dir)
		})
	}
}
