package train

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/methods"
)

// interrupted runs a trial until the end of epoch n. It returns the epoch from which the run resumed, or -1.
func interrupted(t *testing.T, root string, d *dataset.Dataset, trial Trial, n int) int {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if n == 0 {
		cancel()
	}
	found := -1
	r, err := Run(ctx, root, trial, data(d, trial), Options{
		OnEpoch: func(_ Trial, e Epoch) {
			if e.Epoch == n {
				cancel()
			}
		},
		OnResume: func(_ Trial, epochs int) { found = epochs },
	})
	if err != nil || r.Status != Cancelled || r.Epochs != n || r.Evaluations != nil {
		t.Fatalf("Run = %+v, %v, expected the status %q after epoch %d", r, err, Cancelled, n)
	}
	dir := filepath.Join(root, trial.Name())
	if exists(filepath.Join(dir, ResultFile)) || exists(filepath.Join(dir, ModelFile)) || !exists(filepath.Join(dir, checkpointFile)) {
		t.Fatalf("after a cancelled run the folder holds %v", files(t, dir))
	}
	return found
}

// Runs of LAGO are interrupted before the first epoch and after each one, those of baselines
// after every other.
func TestInterruptedRunsAreBitIdentical(t *testing.T) {
	d, small := tiny.Learnable(), tiny.Small()
	lagoTrial := func(v model.Variant, stage Stage, chain preprocess.Chain) Trial {
		trial := trialOn(d, v, stage)
		trial.Preprocess, trial.Ridge = chain, 10
		// The rate overshoots, so that patience ends the dev runs.
		lagoOf(trial).LR, trial.Patience, trial.Epochs = 0.1, 3, 12
		return trial
	}
	type interruption struct {
		d           *dataset.Dataset
		trial       Trial
		first, step int
		status      Status // "" for any
	}
	list := []interruption{
		{d, lagoTrial(model.SemanticHard, Dev, preprocess.None), 0, 1, Patience},
		{d, lagoTrial(model.SemanticHard, Test, preprocess.Whiten), 0, 1, Epochs},
		{d, lagoTrial(model.KSoft, Dev, preprocess.Standardise), 0, 1, Patience},
		{d, lagoTrial(model.SemanticSoft, Test, preprocess.None), 0, 1, Epochs},
	}
	for _, m := range methods.All[1:] {
		trial := methodTrial(small, m.Default(), Dev)
		trial.Epochs, trial.Patience = 4, 4
		c := interruption{small, trial, 1, 2, ""}
		if m.Name == "eszsl" { // a closed form
			c.status = Converged
		}
		list = append(list, c)
	}
	for _, c := range list {
		t.Run(c.trial.Name(), func(t *testing.T) {
			want, result := finished(t, t.TempDir(), c.d, c.trial)
			if c.status != "" && result.Status != c.status || result.Status == Converged && result.Epochs != 1 && c.status != "" {
				t.Fatalf("status %q after %d epochs, expected %q", result.Status, result.Epochs, c.status)
			}
			root, last := t.TempDir(), -1
			for n := c.first; n < result.Epochs; n += c.step {
				testkit.Equal(t, fmt.Sprintf("after epoch %d, resumed from", n), interrupted(t, root, c.d, c.trial, n), last)
				last = n
			}
			got, _ := finished(t, root, c.d, c.trial)
			compareRuns(t, want, got)
			if exists(filepath.Join(got, checkpointFile)) {
				t.Error("the finished run left its checkpoint")
			}
		})
	}
}

// A kill between the two writes leaves a curve that is ahead of the checkpoint.
func TestCurveAheadOfItsCheckpoint(t *testing.T) {
	d, root := tiny.Small(), t.TempDir()
	trial := trialOn(d, model.KSoft, Dev)
	want, _ := finished(t, t.TempDir(), d, trial)

	checkpoint := filepath.Join(root, trial.Name(), checkpointFile)
	interrupted(t, root, d, trial, 2)
	old := testkit.Read(t, checkpoint)
	interrupted(t, root, d, trial, 5)
	testkit.Write(t, "", checkpoint, old)
	testkit.Equal(t, "resumed from the epoch of the checkpoint", interrupted(t, root, d, trial, 3), 2)
	got, _ := finished(t, root, d, trial)
	compareRuns(t, want, got)
}

// changeTensors rewrites a file of tensors.
func changeTensors(t *testing.T, path string, f func(*safetensors.File)) {
	t.Helper()
	file := testkit.Must(safetensors.ReadFile(path))(t)
	f(file)
	var b strings.Builder
	testkit.NoError(t, safetensors.Write(&b, file.Tensors, file.Metadata))
	testkit.Write(t, "", path, b.String())
}

// without removes a tensor.
func without(name string) func(*safetensors.File) {
	return func(f *safetensors.File) {
		f.Tensors = slices.DeleteFunc(f.Tensors, func(t safetensors.Tensor) bool { return t.Name == name })
	}
}

// reshape gives a tensor another shape and numbers to fill it.
func reshape(name string, shape ...int) func(*safetensors.File) {
	return func(f *safetensors.File) {
		t := &f.Tensors[slices.IndexFunc(f.Tensors, func(t safetensors.Tensor) bool { return t.Name == name })]
		size := 1
		for _, n := range shape {
			size *= n
		}
		t.Shape, t.F32, t.F64 = shape, make([]float32, size), nil
	}
}

func TestDamagedCheckpoints(t *testing.T) {
	d, root := tiny.Small(), t.TempDir()
	trial := trialOn(d, model.KSoft, Dev)
	interrupted(t, root, d, trial, 3)
	sound := filepath.Join(root, trial.Name())
	whole, _ := finished(t, t.TempDir(), d, trial)

	cut := func(file string, change func(string) string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, file)
			testkit.Write(t, "", path, change(testkit.Read(t, path)))
		}
	}
	tensors := func(f func(*safetensors.File)) func(*testing.T, string) {
		return func(t *testing.T, dir string) { changeTensors(t, filepath.Join(dir, checkpointFile), f) }
	}
	other := trial
	other.Seed++
	interrupted(t, root, d, other, 3)
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		file   string // that the warning names
	}{
		{"cut off", cut(checkpointFile, func(s string) string { return s[:len(s)-3] }), checkpointFile},
		{"no progress", tensors(func(f *safetensors.File) { f.Metadata = nil }), checkpointFile},
		{"no moments", tensors(without("state.adam_w.1.mean")), checkpointFile},
		{"a curve that is shorter", cut(CurveFile, func(s string) string { return s[:strings.Index(s, "\n")+1] }), CurveFile},
		{"of another seed", cut(checkpointFile, func(string) string {
			return testkit.Read(t, filepath.Join(root, other.Name(), checkpointFile))
		}), checkpointFile + ": run: expected " + trial.Name() + `, found "` + other.Name()},
		{"an edited validation accuracy", cut(CurveFile, func(s string) string {
			return regexp.MustCompile(`"val_accuracy":[0-9.]+`).ReplaceAllString(s, `"val_accuracy":0.99`)
		}), CurveFile + ": expected the curve whose checksum is in the checkpoint, found another"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, trial.Name())
			testkit.NoError(t, os.CopyFS(dir, os.DirFS(sound)))
			c.damage(t, dir)
			var warnings []string
			testkit.Must(Run(context.Background(), root, trial, data(d, trial), Options{
				OnWarning: func(_ Trial, w string) { warnings = append(warnings, w) },
				OnResume:  func(Trial, int) { t.Error("resumed") },
			}))(t)
			if len(warnings) != 1 || !strings.Contains(warnings[0], filepath.Join(dir, c.file)) {
				t.Errorf("warnings %q, expected one that names %s", warnings, c.file)
			}
			compareRuns(t, whole, dir)
		})
	}
}

// Environment variables that make the test binary the process to be killed.
const (
	victimRoot    = "LAGO_TEST_VICTIM_ROOT"
	victimVariant = "LAGO_TEST_VICTIM_VARIANT"
)

// lastOfVictim is the epoch after which a victim waits to be killed.
const lastOfVictim = 11

func killTrial(v model.Variant) (*dataset.Dataset, Trial) {
	d := tiny.Learnable()
	trial := trialOn(d, v, Dev)
	trial.Epochs = lastOfVictim + 1
	return d, trial
}

// The test runs itself in another process, kills that once it has saved some epochs, and repeats this with a
// process that resumes. The result must be bit-identical to that of an uninterrupted run.
func TestKilledRunsAreBitIdentical(t *testing.T) {
	if root := os.Getenv(victimRoot); root != "" {
		workUntilKilled(t, root, model.Variant(os.Getenv(victimVariant)))
		return
	}
	for _, v := range []model.Variant{model.SemanticHard, model.KSoft} {
		t.Run(string(v), func(t *testing.T) {
			d, trial := killTrial(v)
			root := t.TempDir()
			for _, epochs := range []int{2, 6} {
				killAfter(t, root, trial, epochs)
			}
			found := 0
			r, err := Run(context.Background(), root, trial, data(d, trial), Options{
				OnResume: func(_ Trial, epochs int) { found = epochs },
			})
			if err != nil || r.Status != Epochs || found < 6 {
				t.Fatalf("Run = %+v, %v from epoch %d, expected the status %q from epoch 6 or later", r, err, found, Epochs)
			}
			want, _ := finished(t, t.TempDir(), d, trial)
			compareRuns(t, want, filepath.Join(root, trial.Name()))
		})
	}
}

// workUntilKilled runs in the process to be killed.
func workUntilKilled(t *testing.T, root string, v model.Variant) {
	d, trial := killTrial(v)
	r, err := Run(context.Background(), root, trial, data(d, trial), Options{
		CheckpointEvery: 1,
		OnEpoch: func(_ Trial, e Epoch) {
			if e.Epoch == lastOfVictim {
				time.Sleep(time.Minute)
			}
		},
	})
	t.Fatalf("the run was not killed: %+v, %v", r, err)
}

// killAfter starts a victim and kills it once its curve and checkpoint have the given number of epochs.
func killAfter(t *testing.T, root string, trial Trial, epochs int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRunsAreBitIdentical$")
	cmd.Env = append(os.Environ(), victimRoot+"="+root, victimVariant+"="+trial.Method.Label())
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	testkit.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	dir := filepath.Join(root, trial.Name())
	if err := waitForEpochs(dir, epochs, ended); err != nil {
		_ = cmd.Process.Kill() // it may have ended
		t.Fatalf("%v\n%s", err, output.Bytes())
	}
	testkit.NoError(t, cmd.Process.Kill())
	if err := <-ended; err == nil {
		t.Fatal("the run ended without an error before it was killed")
	}
	if exists(filepath.Join(dir, ResultFile)) {
		t.Fatal("the run had finished before it was killed")
	}
}

func waitForEpochs(dir string, epochs int, ended <-chan error) error {
	limit := time.After(time.Minute)
	for {
		// The curve is written first: with a further epoch in it, the checkpoint has this one.
		if curve, err := ReadCurve(filepath.Join(dir, CurveFile), Test); err == nil && len(curve) > epochs {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the process ended by itself: %w", err)
		case <-limit:
			return fmt.Errorf("no checkpoint of epoch %d within a minute", epochs)
		case <-time.After(time.Millisecond):
		}
	}
}
