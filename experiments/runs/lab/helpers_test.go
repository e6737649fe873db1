package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/lago"
	"github.com/lago-train/lago-train/train/methods"
)

// trialOf returns a trial of 4 epochs.
func trialOf(d *dataset.Dataset, v model.Variant, stage train.Stage, seed uint64) train.Trial {
	t := train.Trial{
		Dataset: d.Name, Fingerprint: d.Fingerprint(), Stage: stage, Preprocess: preprocess.None,
		Epochs: 4, Patience: 50, Seed: seed, Method: methods.Variant(v),
	}
	for key, text := range map[string]string{"lr": "0.01", "bias_factor": "1", "batch": "16", "zeta": "3", "alpha": "0"} {
		if err := t.Method.Set(key, text); err != nil {
			panic(err)
		}
	}
	if v == model.KSoft {
		t.Method.Method.(*lago.Settings).K = 4
	}
	return t
}

// someTrials is four trials that differ in variant, stage, preprocessing and seed.
func someTrials(d *dataset.Dataset) []train.Trial {
	whitened := trialOf(d, model.KSoft, train.Dev, 3)
	whitened.Preprocess = preprocess.Whiten
	standardised := trialOf(d, model.Singletons, train.Dev, 4)
	standardised.Preprocess = preprocess.Standardise
	return []train.Trial{
		trialOf(d, model.SemanticHard, train.Dev, 1),
		trialOf(d, model.SemanticSoft, train.Test, 2),
		whitened,
		standardised,
	}
}

// failing is a trial whose numbers go out of range.
func failing(d *dataset.Dataset) train.Trial {
	t := trialOf(d, model.SemanticHard, train.Dev, 1)
	t.Method.Method.(*lago.Settings).LR = 1e38
	return t
}

// stamp names an epoch of a trial.
func stamp(t train.Trial, e train.Epoch) string { return fmt.Sprintf("%s epoch %d", t.Name(), e.Epoch) }

// witness records the epochs that labs run.
type witness struct {
	mu     sync.Mutex
	epochs []string
}

func (w *witness) see(t train.Trial, e train.Epoch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.epochs = append(w.epochs, stamp(t, e))
}

// compare reports an error unless each epoch of the trials was run once.
func (w *witness) compare(t *testing.T, trials []train.Trial) {
	t.Helper()
	var want []string
	for _, trial := range trials {
		for e := range trial.Epochs {
			want = append(want, stamp(trial, train.Epoch{Epoch: e + 1}))
		}
	}
	slices.Sort(want)
	slices.Sort(w.epochs)
	testkit.Equal(t, "epochs that were run", w.epochs, want)
}

// do runs trials, none of which may fail.
func do(t testing.TB, l *Lab, trials []train.Trial) []Run {
	t.Helper()
	done := testkit.Must(l.Do(context.Background(), trials))(t)
	for i, one := range done {
		if one.Missing != nil || one.Result == nil {
			t.Errorf("trial %d: result %v, missing %v", i, one.Result, one.Missing)
		}
		if want := filepath.Join(l.Root, trials[i].Name()); one.Name() != trials[i].Name() || one.Dir != want {
			t.Errorf("trial %d is in %s, expected the order of the list and %s", i, one.Dir, want)
		}
	}
	return done
}

// undisturbed runs the grid in a new folder, one trial at a time.
func undisturbed(t *testing.T, d *dataset.Dataset) *Lab {
	t.Helper()
	l := New(d, t.TempDir())
	l.Jobs = 1
	do(t, l, someTrials(d))
	return l
}

// compareRoots reports an error unless the runs in two folders are bit-identical, except for their times.
func compareRoots(t *testing.T, want, got string, trials []train.Trial) {
	t.Helper()
	for _, trial := range trials {
		var models [2]string
		var curves [2]train.Curve
		var results [2]*train.Result
		for i, root := range []string{want, got} {
			dir := filepath.Join(root, trial.Name())
			models[i] = testkit.Read(t, filepath.Join(dir, train.ModelFile))
			curves[i] = testkit.Must(train.ReadCurve(filepath.Join(dir, train.CurveFile), trial.Stage))(t)
			results[i] = testkit.Must(trial.ReadResult(dir))(t)
		}
		if models[0] != models[1] {
			t.Errorf("%s: another model", trial.Name())
		}
		testkit.Equal(t, trial.Name()+": curve", curves[1], curves[0], cmpopts.IgnoreFields(method.Phase{}, "Seconds"))
		testkit.Equal(t, trial.Name()+": result", results[1], results[0], cmpopts.IgnoreFields(train.Result{}, "Seconds"))
	}
}

// A decision with the same correction stays; with another one its temperature and adaptation go, too.
func TestDecideReplacesTheWholeDecision(t *testing.T) {
	d := tiny.Small()
	l := New(d, t.TempDir())
	runs := do(t, l, someTrials(d)[:1])
	half, full := model.Correction{Kind: model.Subtract, Omega: 0.5}, model.Correction{Kind: model.Subtract, Omega: 1}
	old := runs[0].Method.Decide(half)
	old.Calibration, old.Adaptation = &model.Calibration{Temperature: 2}, new(model.Adaptation)
	old.Adaptation.Temperature = 1
	testkit.NoError(t, train.Decide(t.Context(), runs[0].Dir, func(d *model.Decision) { *d = old }))
	testkit.NoError(t, l.Decide(t.Context(), Evaluate(runs, half)))
	testkit.Equal(t, "with the same correction", testkit.Must(train.ReadDecision(runs[0].Dir))(t), old)
	testkit.NoError(t, l.Decide(t.Context(), Evaluate(runs, full)))
	testkit.Equal(t, "with another one", testkit.Must(train.ReadDecision(runs[0].Dir))(t), runs[0].Method.Decide(full))
}
