package train

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lago-train/lago-train/model"
)

// Environment variables that make the test binary the process to be killed.
const (
	victimRoot    = "LAGO_TEST_VICTIM_ROOT"
	victimVariant = "LAGO_TEST_VICTIM_VARIANT"
)

// lastOfVictim is the epoch after which a victim waits to be killed.
const lastOfVictim = 11

func killTrial(t *testing.T, v model.Variant) (*Data, Trial) {
	d := tiny(t)
	trial := trialOn(d, v, Dev)
	trial.Training.Epochs = lastOfVictim + 1
	return prepare(t, d, trial), trial
}

// The test runs itself in another process, kills that once it has saved some epochs, and
// repeats this with a process that resumes. The result must be bit-identical to that of an
// uninterrupted run.
func TestKilledRunsAreBitIdentical(t *testing.T) {
	if root := os.Getenv(victimRoot); root != "" {
		workUntilKilled(t, root, model.Variant(os.Getenv(victimVariant)))
		return
	}
	for _, v := range []model.Variant{model.SemanticHard, model.KSoft} {
		t.Run(string(v), func(t *testing.T) {
			data, trial := killTrial(t, v)
			root := t.TempDir()
			for _, epochs := range []int{2, 6} {
				killAfter(t, root, trial, epochs)
			}
			found := 0
			r, err := Run(context.Background(), root, trial, given(data), Options{
				OnResume: func(_ Trial, epochs int) { found = epochs },
			})
			if err != nil || r.Status != Epochs || found < 6 {
				t.Fatalf("Run = %+v, %v from epoch %d, expected the status %q from epoch 6 or later", r, err, found, Epochs)
			}
			want, _ := finished(t, t.TempDir(), data.Dataset, trial)
			compareRuns(t, want, filepath.Join(root, trial.Name()))
		})
	}
}

// workUntilKilled runs in the process to be killed.
func workUntilKilled(t *testing.T, root string, v model.Variant) {
	data, trial := killTrial(t, v)
	r, err := Run(context.Background(), root, trial, given(data), Options{
		CheckpointEvery: 1,
		OnEpoch: func(_ Trial, e Epoch) {
			if e.Epoch == lastOfVictim {
				time.Sleep(time.Minute)
			}
		},
	})
	t.Fatalf("the run was not killed: %+v, %v", r, err)
}

// killAfter starts a victim and kills it once its curve and checkpoint have the given
// number of epochs.
func killAfter(t *testing.T, root string, trial Trial, epochs int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRunsAreBitIdentical$")
	cmd.Env = append(os.Environ(), victimRoot+"="+root, victimVariant+"="+string(trial.Model.Variant))
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	dir := filepath.Join(root, trial.Name())
	if err := waitForEpochs(dir, epochs, ended); err != nil {
		_ = cmd.Process.Kill() // it may have ended
		t.Fatalf("%v\n%s", err, output.Bytes())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
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
