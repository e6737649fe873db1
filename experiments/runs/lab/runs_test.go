package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// trialOf returns a trial of 4 epochs.
func trialOf(d *dataset.Dataset, v model.Variant, stage train.Stage, seed uint64) train.Trial {
	c := config.GeneralFor(d.Name, methods.Variant(v)).With("preprocess", preprocess.None).With("lr", 0.01).With("bias_factor", 1).
		With("batch", 16).With("zeta", 3).With("alpha", 0).With("k", 4)
	c.Seed, c.Seeds = seed, 1
	return c.Trials(d, d.Fingerprint(), stage, 4)[0]
}

// someTrials is four trials that differ in variant, stage, preprocessing and seed.
func someTrials(d *dataset.Dataset) []train.Trial {
	trials := []train.Trial{
		trialOf(d, model.SemanticHard, train.Dev, 1), trialOf(d, model.SemanticSoft, train.Test, 2),
		trialOf(d, model.KSoft, train.Dev, 3), trialOf(d, model.Singletons, train.Dev, 4),
	}
	trials[2].Preprocess, trials[3].Preprocess = preprocess.Whiten, preprocess.Standardise
	return trials
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
		testkit.Equal(t, trial.Name()+": the model is the same", models[1] == models[0], true)
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

// Each kind, configuration, data set and division of the classes has its own file, which the
// same question replaces. The newest is the first.
func TestStoredResults(t *testing.T) {
	l := New(tiny.Small(), t.TempDir())
	changed := *l.Data
	changed.Features.Data, changed.FeaturesSum = slices.Clone(changed.Features.Data), ""
	changed.Features.Data[0]++
	other, rotated := New(&changed, l.Root), New(l.Data, l.Root)
	testkit.NoError(t, rotated.Rotate(4, 1, false))
	for i, s := range []struct {
		*Lab
		kind   string
		config int
		files  int
	}{{l, "noise", 1, 1}, {l, "noise", 2, 2}, {l, "noise", 1, 2}, {l, "compare", 1, 3}, {other, "noise", 1, 4}, {rotated, "noise", 1, 5}} {
		testkit.NoError(t, s.Store(s.kind, s.config, []int{i}))
		list, missing, err := ReadStored(t.Context(), l.Root, "")
		if err != nil || len(missing) > 0 || len(list) != s.files {
			t.Fatalf("result %d: %d files, unreadable %+v, %v, expected %d files", i, len(list), missing, err, s.files)
		}
	}
	files := testkit.Must(filepath.Glob(filepath.Join(l.Root, "compare-*.json")))(t)
	later := time.Now().Add(time.Minute)
	testkit.NoError(t, os.Chtimes(files[0], later, later))
	list, _, err := ReadStored(t.Context(), l.Root, "")
	testkit.NoError(t, err)
	var result []int
	testkit.NoError(t, list[0].Decode(&result))
	if got := list[0]; got.Kind != "compare" || got.Dataset != l.Data.Name || got.Fingerprint != l.Fingerprint || string(got.Config) != "1" ||
		got.Path != files[0] || !got.Time.Equal(later) && got.Time.Sub(later).Abs() > time.Second || !slices.Equal(result, []int{3}) {
		t.Errorf("found %+v with %v, expected the newest", got, result)
	}
	testkit.WantError(t, list[0].Decode(&struct{}{}), files[0]+": result: expected a result of compare", "Repeat the command")
}

// A damaged file is listed with its reason, and a named pipe is not waited for. Other files of
// the folder are no results.
func TestDamagedStoredResults(t *testing.T) {
	dir := t.TempDir()
	testkit.Write(t, dir, "noise-a-00000001.json", `{"kind": "noise", "dataset": "a"}`)
	testkit.Write(t, dir, "notes.json", `{`)
	l := New(tiny.Small(), t.TempDir())
	testkit.NoError(t, l.Store("compare", 1, []int{3}))
	stored := testkit.Must(filepath.Glob(filepath.Join(l.Root, "compare-*.json")))(t)[0]
	testkit.Write(t, dir, "compare-a-00000001.json", strings.Replace(testkit.Read(t, stored), "3\n", "4\n", 1))
	testkit.NoError(t, unix.Mkfifo(filepath.Join(dir, "noise-a-00000002.json"), 0o600))
	testkit.NoError(t, os.Mkdir(filepath.Join(dir, "noise-a-00000003.json"), 0o700))
	list, missing, err := ReadStored(t.Context(), dir, "")
	if err != nil || len(list) != 0 || len(missing) != 3 {
		t.Fatalf("found %+v, %v, and unreadable %+v, expected three that are unreadable", list, err, missing)
	}
	for _, m := range missing[:2] { // the first was changed
		testkit.WantText(t, m.Why, "expected a result that this version of lago-train stored. Repeat the command that stored it.")
	}
	testkit.WantText(t, missing[2].Why, "regular file")
}

func TestSummarise(t *testing.T) {
	s := Summarise([]float64{0.2, 0.3, 0.7})
	testkit.Near(t, "mean", s.Mean, 0.4, 1e-12)
	testkit.Near(t, "standard error", *s.SEM, math.Sqrt((0.04+0.01+0.09)/2/3), 1e-12)
	one := Summarise([]float64{0.25})
	testkit.Equal(t, "JSON", string(testkit.Must(json.Marshal(one))(t)), `{"mean":0.25,"sem":null,"values":[0.25]}`)
	testkit.Equal(t, "texts", []string{one.MeanText(), one.SEMText(), Summarise(nil).MeanText(), Summarise([]float64{0.5, 0.52}).SEMText()}, []string{"25.0 %", "-", "-", "1.0 %"})
	list := []Summary{{}, one, Summarise([]float64{0.5}), {}, Summarise([]float64{0.3})}
	slices.SortStableFunc(list, ByMean)
	testkit.Equal(t, "means", []float64{list[0].Mean, list[1].Mean, list[2].Mean, list[3].Mean}, []float64{0.5, 0.3, 0.25, 0})
}

// curveOf has these accuracies on the validation classes.
func curveOf(accuracies ...float64) (c train.Curve) {
	for e, a := range accuracies {
		c = append(c, train.Epoch{Epoch: e + 1, ValAccuracy: &a, ValAccuracyPerSample: &a})
	}
	return c
}

// Over the epochs that every seed ran, the first of equal averages.
func TestBestEpochIsTheFirstWithTheBestAverage(t *testing.T) {
	for _, c := range []struct {
		want   int
		curves [][]float64
	}{{0, nil}, {0, [][]float64{{}}}, {2, [][]float64{{0.1, 0.5, 0.5}}}, {3, [][]float64{{0.1, 0.4, 0.3, 0.9}, {0.3, 0.1, 0.3}}}} {
		var curves []train.Curve
		for _, accuracies := range c.curves {
			curves = append(curves, curveOf(accuracies...))
		}
		testkit.Equal(t, fmt.Sprint(c.curves), BestEpoch(curves), c.want)
	}
}

// A run that converged does not limit how long the others are trained.
func TestDevEpochAfterConvergence(t *testing.T) {
	run := func(status train.Status, accuracies ...float64) Run {
		r := Run{Trial: train.Trial{Stage: train.Dev}, Dir: t.TempDir(), Result: &train.Result{Status: status}}
		testkit.NoError(t, curveOf(accuracies...).Write(filepath.Join(r.Dir, train.CurveFile)))
		return r
	}
	other := run(train.Patience, 0.1, 0.3, 0.5, 0.4)
	for status, want := range map[train.Status]int{train.Converged: 3, train.Epochs: 2} {
		testkit.Equal(t, fmt.Sprint("epoch beside a run that ended by ", status), testkit.Must(DevEpoch([]Run{run(status, 0.5, 0.4), other}))(t), want)
	}
}
