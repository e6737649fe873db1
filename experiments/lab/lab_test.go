package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/dap"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

func TestResultsDoNotDependOnTheJobs(t *testing.T) {
	d := tiny.Small()
	want := undisturbed(t, d).Root
	for _, jobs := range []int{0, 2, 9} {
		l := New(d, t.TempDir())
		l.Jobs = jobs
		do(t, l, someTrials(d))
		compareRoots(t, want, l.Root, someTrials(d))
	}
}

func TestProcessesOverOneFolderTrainATrialOnce(t *testing.T) {
	d := tiny.Small()
	root := t.TempDir()
	a, b := startProcess(t, root, 0), startProcess(t, root, 0)
	seen := witness{epochs: append(a.rest(t), b.rest(t)...)}
	seen.compare(t, someTrials(d))
	compareRoots(t, undisturbed(t, d).Root, root, someTrials(d))
}

// TestAKilledProcessLeavesItsTrialsToOthers kills a process in the second of its
// trials, while another lab has done all the rest and waits.
func TestAKilledProcessLeavesItsTrialsToOthers(t *testing.T) {
	d := tiny.Small()
	root := t.TempDir()
	process := startProcess(t, root, 6) // the second epoch of the second trial
	testkit.Equal(t, "epochs before the process hangs", len(process.epochs()), 6)
	var seen witness
	var resumed []string
	var kill sync.Once
	l := New(d, root)
	l.Jobs = 3
	l.Options.OnEpoch = seen.see
	l.Options.OnResume = func(trial train.Trial, epochs int) {
		resumed = append(resumed, stamp(trial, train.Epoch{Epoch: epochs}))
	}
	l.OnProgress = func(p format.Progress) {
		if p.Done == 3 { // one was found
			kill.Do(func() {
				if err := process.cmd.Process.Kill(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	do(t, l, someTrials(d))
	second := someTrials(d)[1]
	testkit.Equal(t, "checkpoints that were resumed", resumed, []string{stamp(second, train.Epoch{Epoch: 1})})
	testkit.Equal(t, "epochs after the kill, the last 3 of the second trial and all of two others", len(seen.epochs), 3+2*4)
	compareRoots(t, undisturbed(t, d).Root, root, someTrials(d))
}

func TestAFailedTrialDoesNotStopTheOthers(t *testing.T) {
	d := tiny.Small()
	trials := slices.Insert(someTrials(d), 1, failing(d))
	for _, again := range []bool{false, true} {
		l := New(d, t.TempDir())
		if again {
			testkit.Must(l.Do(t.Context(), tasks(trials)))(t)
			l.Options.OnEpoch = func(trial train.Trial, e train.Epoch) { t.Errorf("%s is run again", stamp(trial, e)) }
		}
		done := testkit.Must(l.Do(t.Context(), tasks(trials)))(t)
		for i, one := range done {
			if failed := i == 1; (one.Missing != nil && one.Missing.State == Failed) != failed {
				t.Errorf("trial %d: missing %v", i, one.Missing)
			}
		}
		failed := done[1]
		if failed.Dir != filepath.Join(l.Root, failing(d).Name()) || failed.Result == nil || failed.Result.Status != train.NotFinite {
			t.Errorf("the failed trial in %s has the result %+v, expected its folder and why it ended", failed.Dir, failed.Result)
		}
		testkit.WantText(t, failed.Missing.Why, "phase W") // which went out of range
	}
}

func TestCancelledTrialsResume(t *testing.T) {
	d := tiny.Small()
	trials := someTrials(d)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := New(d, t.TempDir())
	l.Jobs = 1
	epochs := 0
	l.Options.OnEpoch = func(train.Trial, train.Epoch) {
		if epochs++; epochs == 6 { // the second of the second trial
			cancel()
		}
	}
	if _, err := l.Do(ctx, tasks(trials)); !errors.Is(err, context.Canceled) || l.Failed() > 0 {
		t.Fatalf("error %v and %d failed runs, expected that of the context, and none", err, l.Failed())
	} else {
		testkit.WantError(t, err, "interrupted with 1 of 4 runs finished in "+l.Root+"; repeat the command")
	}
	for _, trial := range trials[2:] {
		if _, err := os.Stat(filepath.Join(l.Root, trial.Name())); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was started after the cancellation: %v", trial.Name(), err)
		}
	}
	var seen witness
	l.Options.OnEpoch = seen.see
	do(t, l, trials)
	testkit.Equal(t, "epochs after the interruption, the last 2 of the second trial and all of two others", len(seen.epochs), 2+2*4)
	compareRoots(t, undisturbed(t, d).Root, l.Root, trials)
}

func TestFolds(t *testing.T) {
	d := tiny.Small()
	l := New(d, t.TempDir())
	own := dataset.Split{Train: d.Split.Train[1:], Val: append([]int{d.Split.Train[0]}, d.Split.Val...), Test: d.Split.Test}
	l.Data.DevSplits = []dataset.Split{d.Split, own}
	for n, want := range map[int]func(views []View) bool{
		1: func(v []View) bool { return v[0].Fingerprint == l.Fingerprint() },
		2: func(v []View) bool { return v[0].Fingerprint == l.Fingerprint() && cmp.Equal(v[1].Data.Split, own) },
		3: func(v []View) bool {
			return len(v) == 3 && len(v[0].Data.Split.Val) == 4 && cmp.Equal(v[0].Data.Split.Test, d.Split.Test)
		},
	} {
		testkit.Equal(t, fmt.Sprint(n, " folds"), want(testkit.Must(l.Folds(l.Parts[0], n))(t)), true)
	}
	if _, err := l.Folds(l.Parts[0], 13); err == nil {
		t.Error("12 seen classes make 13 folds")
	}
}

// Whitening is fitted once: later grids, and other labs on the folder, take it from the model of a finished
// run, with equal results.
func TestLaterGridsTakeTheFittedWhitening(t *testing.T) {
	d := tiny.Small()
	first := someTrials(d)[2]
	second := first
	second.Seed = 9
	alone, l := New(d, t.TempDir()), New(d, t.TempDir())
	do(t, alone, []train.Trial{second})
	do(t, l, []train.Trial{first, someTrials(d)[3]})
	if _, kept := l.models.Load(someTrials(d)[3].Preparation()); kept {
		t.Error("a model without whitening is kept")
	}
	l = New(d, l.Root)
	do(t, l, []train.Trial{first})
	if _, kept := l.models.Load(second.Preparation()); !kept {
		t.Fatal("the model of a finished run is not kept")
	}
	do(t, l, []train.Trial{second})
	compareRoots(t, alone.Root, l.Root, []train.Trial{second})
}

// A later grid takes the fit of an earlier one, though the features are others by then.
func TestLaterGridsTakeFits(t *testing.T) {
	d := tiny.Small()
	l, first := New(d, t.TempDir()), trialOf(d, model.Singletons, train.Dev, 1)
	first.Method = methods.Named{Name: "dap", Method: dap.New(dap.Direct)}
	second := first
	second.Method = first.Method.Clone()
	testkit.NoError(t, second.Method.Set("prior", "half"))
	weights := func(of train.Trial) []float32 {
		return testkit.Must(train.Load(filepath.Join(do(t, l, []train.Trial{of})[0].Dir, train.ModelFile)))(t).Classifier.(*dap.Model).W.Data
	}
	want := weights(first)
	for i := range d.Features.Data {
		d.Features.Data[i] = -d.Features.Data[i]
	}
	testkit.NearAll(t, "W", weights(second), want, 0)
}
