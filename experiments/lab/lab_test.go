package lab

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/train"
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
	if n := len(process.until(t, hangs)); n != 6 {
		t.Fatalf("%d epochs before the process hangs, expected 6", n)
	}
	var seen witness
	var resumed []string
	var kill sync.Once
	l := New(d, root)
	l.Jobs = 3
	l.Options.OnEpoch = seen.see
	l.Options.OnResume = func(trial train.Trial, epochs int) {
		resumed = append(resumed, stamp(trial, train.Epoch{Epoch: epochs}))
	}
	l.OnProgress = func(p Progress) {
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
	if diff := cmp.Diff([]string{stamp(second, train.Epoch{Epoch: 1})}, resumed); diff != "" {
		t.Errorf("checkpoints that were resumed (-want +got):\n%s", diff)
	}
	if n := len(seen.epochs); n != 3+2*4 {
		t.Errorf("%d epochs after the kill, expected the last 3 of the second trial and all of two others: %q", n, seen.epochs)
	}
	compareRoots(t, undisturbed(t, d).Root, root, someTrials(d))
}

func TestAFailedTrialDoesNotStopTheOthers(t *testing.T) {
	d := tiny.Small()
	trials := slices.Insert(someTrials(d), 1, failing(d))
	for _, again := range []bool{false, true} {
		l := New(d, t.TempDir())
		if again {
			if _, err := l.Do(t.Context(), tasks(trials)); err != nil {
				t.Fatal(err)
			}
			l.Options.OnEpoch = func(trial train.Trial, e train.Epoch) { t.Errorf("%s is run again", stamp(trial, e)) }
		}
		done, err := l.Do(t.Context(), tasks(trials))
		if err != nil {
			t.Fatal(err)
		}
		for i, one := range done {
			if failed := i == 1; (one.Err != nil) != failed {
				t.Errorf("trial %d: error %v", i, one.Err)
			}
		}
		failed := done[1]
		if failed.Dir != filepath.Join(l.Root, failing(d).Name()) || failed.Result == nil || failed.Result.Status != train.NotFinite {
			t.Errorf("the failed trial in %s has the result %+v, expected its folder and why it ended", failed.Dir, failed.Result)
		}
		if !strings.Contains(failed.Err.Error(), "phase W") {
			t.Errorf("error %q, expected the phase that went out of range", failed.Err)
		}
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
	var cancelled *Cancelled
	done, err := l.Do(ctx, tasks(trials))
	if !errors.As(err, &cancelled) {
		t.Fatalf("error %v, expected a *Cancelled", err)
	}
	if diff := cmp.Diff(&Cancelled{Root: l.Root, Finished: 1, Trials: 4}, cancelled); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, one := range done {
		if (one.Result != nil) != (i == 0) || one.Err != nil {
			t.Errorf("trial %d: result %v, error %v, expected the first alone to be finished and none to fail", i, one.Result, one.Err)
		}
	}
	for _, trial := range trials[2:] {
		if _, err := os.Stat(filepath.Join(l.Root, trial.Name())); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was started after the cancellation: %v", trial.Name(), err)
		}
	}
	for _, part := range []string{"1 of 4", l.Root, "repeat the command"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	var seen witness
	l.Options.OnEpoch = seen.see
	do(t, l, trials)
	if n := len(seen.epochs); n != 2+2*4 {
		t.Errorf("%d epochs after the interruption, expected the last 2 of the second trial and all of two others: %q", n, seen.epochs)
	}
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
		views, err := l.Folds(l.Parts[0], n)
		if err != nil || !want(views) {
			t.Errorf("%d folds: %+v, %v", n, views, err)
		}
	}
	if _, err := l.Folds(l.Parts[0], 13); err == nil {
		t.Error("12 seen classes make 13 folds")
	}
}
