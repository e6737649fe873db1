package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/lago"
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
			kill.Do(func() { testkit.NoError(t, process.cmd.Process.Kill()) })
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
	failing := trialOf(d, model.SemanticHard, train.Dev, 1)
	failing.Method.Method.(*lago.Settings).LR = 1e38 // numbers go out of range
	trials, l := slices.Insert(someTrials(d), 1, failing), New(d, t.TempDir())
	for range 2 {
		for i, r := range testkit.Must(l.Do(t.Context(), trials))(t) {
			if failed := i == 1; (r.Missing != nil && r.Missing.State == Failed) != failed {
				t.Errorf("trial %d: missing %v", i, r.Missing)
			} else if failed {
				testkit.Equal(t, "status", r.Result.Status, train.NotFinite)
				testkit.WantText(t, r.Missing.Why, "phase W") // which went out of range
			}
		}
		l.Options.OnEpoch = func(trial train.Trial, e train.Epoch) { t.Errorf("%s is run again", stamp(trial, e)) }
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
	if _, err := l.Do(ctx, trials); !errors.Is(err, context.Canceled) || l.Failed() > 0 {
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
		1: func(v []View) bool { return v[0].Fingerprint == l.Fingerprint },
		2: func(v []View) bool { return v[0].Fingerprint == l.Fingerprint && cmp.Equal(v[1].Data.Split, own) },
		3: func(v []View) bool {
			return len(v) == 3 && len(v[0].Data.Split.Val) == 4 && cmp.Equal(v[0].Data.Split.Test, d.Split.Test)
		},
	} {
		testkit.Equal(t, fmt.Sprint(n, " folds"), want(testkit.Must(l.Folds(l.Parts[0], n))(t)), true)
	}
	testkit.Fails(l.Folds(l.Parts[0], 13))(t) // of 12 seen classes
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
	first.Method = testkit.Must(methods.Labelled("dap"))(t)
	second := first
	second.Method = first.Method.Clone()
	testkit.NoError(t, second.Method.Settings().Set(setting.Assignment{Key: "prior", Text: "half"}))
	weights := func(of train.Trial) []float32 {
		return testkit.Must(train.Load(filepath.Join(do(t, l, []train.Trial{of})[0].Dir, train.ModelFile)))(t).Classifier.(*baseline.Model).W.Data
	}
	want := weights(first)
	for i := range d.Features.Data {
		d.Features.Data[i] = -d.Features.Data[i]
	}
	testkit.NearAll(t, "W", weights(second), want, 0)
}

func TestParseShard(t *testing.T) {
	testkit.Equal(t, "shard", testkit.Must(ParseShard("11/100"))(t), Shard{11, 100})
	for _, text := range []string{"", "1", "1/", "/2", "3/3", "-1/3", "0/0", "1/2/3", "a/b", "1 / 2"} {
		_, err := ParseShard(text)
		testkit.WantError(t, err, `"`+text+`"`)
	}
}

func TestShardFromEnvironment(t *testing.T) {
	slurm := []string{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"}
	kubernetes := []string{"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"}
	for name, c := range map[string]struct {
		variables, values []string
		want              Shard
		err               string
	}{
		"none":                 {},
		"Slurm, array 0-3":     {slurm, []string{"3", "4", "0"}, Shard{3, 4}, ""},
		"Slurm, array 1-4":     {slurm, []string{"4", "4", "1"}, Shard{3, 4}, ""},
		"Kubernetes":           {kubernetes, []string{"2", "5"}, Shard{2, 5}, ""},
		"no number":            {slurm, []string{"one", "4"}, Shard{}, `shards of $SLURM_ARRAY_TASK_COUNT, found "one" of "4"`},
		"in steps of 2":        {slurm, []string{"6", "4", "0"}, Shard{}, `$SLURM_ARRAY_TASK_ID: expected`},
		"no completions":       {kubernetes, []string{"0"}, Shard{}, `found "0" of "". Or give --shard I/N: --shard 0/1 does everything.`},
		"past the completions": {kubernetes, []string{"5", "5"}, Shard{}, `found "5" of "5"`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range append(slurm, kubernetes...) {
				t.Setenv(variable, "") // which is none
			}
			for i, value := range c.values {
				t.Setenv(c.variables[i], value)
			}
			got, _, err := ShardFromEnvironment()
			testkit.Equal(t, "shard", got, c.want)
			if c.err != "" {
				testkit.WantError(t, err, c.err)
			} else {
				testkit.NoError(t, err)
			}
		})
	}
}

func TestShardsLeaveToOthersAndGatherLater(t *testing.T) {
	d := tiny.Small()
	trials := someTrials(d)
	root := t.TempDir()
	var seen witness
	for i := range 2 {
		l := New(d, root)
		l.Shard = Shard{i, 2}
		l.Options.OnEpoch = seen.see
		done := testkit.Must(l.Do(t.Context(), trials))(t)
		for j, one := range done {
			elsewhere := j%2 == 1 && i == 0 // the second shard finds what the first one did
			if (one.Missing != nil && one.Missing.State == Waiting) != elsewhere || (one.Result == nil) != elsewhere {
				t.Errorf("shard %v, trial %d: result %v, missing %v", l.Shard, j, one.Result, one.Missing)
			}
		}
	}
	seen.compare(t, trials)
	l := New(d, root)
	l.Options.OnEpoch = func(trial train.Trial, e train.Epoch) { t.Errorf("%s is run again", stamp(trial, e)) }
	do(t, l, trials)
	compareRoots(t, undisturbed(t, d).Root, root, trials)
}

// The environment of a process that a test starts.
const (
	envRoot = "LAGO_LAB_TEST_ROOT"
	envHang = "LAGO_LAB_TEST_HANG" // the epoch, of those of all trials, that never ends
)

// hangs is the line that a process prints when it reaches the epoch that never ends.
const hangs = "hangs"

// process runs the grid in root, one trial at a time, and prints a line per epoch.
func process(root string) int {
	hang, _ := strconv.Atoi(os.Getenv(envHang)) // 0 where it is not set: never
	d := tiny.Small()
	l := New(d, root)
	l.Jobs = 1
	l.Options.CheckpointEvery = time.Nanosecond // each epoch
	epochs := 0
	l.Options.OnEpoch = func(t train.Trial, e train.Epoch) {
		fmt.Println(stamp(t, e))
		if epochs++; epochs == hang {
			fmt.Println(hangs)
			time.Sleep(time.Hour)
		}
	}
	done, err := l.Do(context.Background(), someTrials(d))
	for _, t := range done {
		if err == nil && t.Missing != nil {
			err = t.Missing
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// child is a process that carries out the grid below a root.
type child struct {
	cmd  *exec.Cmd
	says *bufio.Scanner
}

// startProcess starts one. It is killed at the end of the test if it still runs.
func startProcess(t *testing.T, root string, hang int) child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRoot+"="+root, envHang+"="+strconv.Itoa(hang))
	cmd.Stderr = os.Stderr
	out := testkit.Must(cmd.StdoutPipe())(t)
	testkit.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return child{cmd, bufio.NewScanner(out)}
}

// epochs reads the epochs that the process says until it hangs or ends.
func (c child) epochs() (list []string) {
	for c.says.Scan() && c.says.Text() != hangs {
		list = append(list, c.says.Text())
	}
	return list
}

// rest is all epochs that the process says, which must end without an error.
func (c child) rest(t *testing.T) []string {
	t.Helper()
	epochs := c.epochs()
	testkit.NoError(t, c.cmd.Wait())
	return epochs
}

// TestMain is also the main of the processes that tests start: see process.
func TestMain(m *testing.M) {
	if _, err := blas.Use(""); err != nil {
		panic(err)
	}
	if root := os.Getenv(envRoot); root != "" {
		os.Exit(process(root))
	}
	m.Run()
}
