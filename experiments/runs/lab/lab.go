// Package lab runs plans and their trials, several at a time, and reads the runs of a folder. It prints
// nothing.
//
// A plan is arms (a method with settings, or several among which the validation classes choose) by parts
// (divisions of the classes) by stages (dev and test). The dev stage trains on the train classes and stops by
// the validation classes; its average curve gives the number of epochs. The test stage trains on both and is
// evaluated once on the test classes. Package search finds the settings of an arm first, where a plan asks
// for it.
//
// Each trial has its own folder, named by its settings, so that equal trials are trained once, whatever
// command asks for them. The folder is locked while its trial is trained; the system frees the lock of a
// process that dies, and the next one resumes from the checkpoint. To spread a grid over machines, start one
// process per Shard, for example with Slurm or Kubernetes, on a shared folder.
package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// Lab runs trials on a data set in memory, in a folder.
type Lab struct {
	Data *dataset.Dataset
	Root string // holds the folders of the runs
	// Parts are the divisions of the classes over which a question is asked: that of Data
	// or, after Rotate, several, each class being a test class of one.
	Parts   []View
	Jobs    int // trials at a time; 0 means as many as there are cores
	Shard   Shard
	Options train.Options

	// Called, if they are set, whenever the progress of a grid changes, with each run that this process
	// ended, and at the start of each step of a question that may take long.
	OnProgress func(format.Progress)
	OnRun      func(Run)
	OnStep     func(what string)

	Fingerprint string                      // of the data set
	views       map[string]*dataset.Dataset // by fingerprint
	failed      map[string]bool             // folders of failed runs
	asked       map[string]bool             // folders of all runs that were asked for, below Root
	models      sync.Map                    // file of a finished one with whitening, by preparation
	fits        sync.Map                    // *method.Cache, by preparation
}

// View is the data of a lab with one division of the classes into train, val and test
// classes, or with other descriptions. Trials on it carry its fingerprint.
type View struct {
	Data        *dataset.Dataset
	Fingerprint string
}

// New returns a lab for a data set.
func New(d *dataset.Dataset, root string) *Lab {
	data := *d
	if data.FeaturesSum == "" {
		data.FeaturesSum = dataset.SumFeatures(d.Features)
	}
	l := &Lab{
		Data: &data, Root: root, views: map[string]*dataset.Dataset{}, failed: map[string]bool{},
		asked: map[string]bool{},
	}
	l.Parts = []View{l.view(data, d.Split)}
	l.Fingerprint = l.Parts[0].Fingerprint
	return l
}

// Step reports the start of a step.
func (l *Lab) Step(format string, args ...any) {
	if l.OnStep != nil {
		l.OnStep(fmt.Sprintf(format, args...))
	}
}

func (l *Lab) view(d dataset.Dataset, s dataset.Split) View {
	d.Split = s
	fingerprint := d.Fingerprint()
	if l.views[fingerprint] == nil {
		l.views[fingerprint] = &d
	}
	return View{l.views[fingerprint], fingerprint}
}

// Rotate replaces Parts by n divisions of the classes, see catalog.Rotations. With holdOut, each has held-out
// samples of its seen classes, see catalog.HoldOut.
func (l *Lab) Rotate(n int, seed uint64, holdOut bool) error {
	splits, err := catalog.Rotations(l.Data, n, seed)
	if err != nil {
		return err
	}
	l.Parts = nil
	for _, s := range splits {
		d := *l.Data
		if holdOut {
			d.TestSeen = catalog.HoldOut(&d, s)
		}
		l.Parts = append(l.Parts, l.view(d, s))
	}
	return nil
}

// Folds returns n views with the test classes of v, over which settings are chosen: v
// itself for 1; the data set's own divisions of the seen classes if it has n of them; else
// n parts of the seen classes in turn as val classes, see catalog.Folds.
func (l *Lab) Folds(v View, n int) ([]View, error) {
	if n == 1 {
		return []View{v}, nil
	}
	splits := l.Data.DevSplits
	if len(splits) != n || len(l.Parts) > 1 {
		var err error
		if splits, err = catalog.Folds(l.Data, v.Data.Split, n, 0); err != nil {
			return nil, err
		}
	}
	return l.viewsOf(v, splits), nil
}

// SeenFolds returns the views that stand in for v if it has fewer than check.FewVal validation classes: up to
// 4 parts of at least as many seen classes, in turn as val classes; none if there are too few for two parts.
func (l *Lab) SeenFolds(v View) []View {
	const most = 4
	seen := len(v.Data.Split.Seen())
	if seen < check.FewSeen {
		return nil
	}
	splits, err := catalog.Folds(l.Data, v.Data.Split, min(seen/check.FewVal, most), 0)
	if err != nil {
		return nil // similar classes count once
	}
	return l.viewsOf(v, splits)
}

func (l *Lab) viewsOf(v View, splits []dataset.Split) []View {
	views := make([]View, len(splits))
	for i, s := range splits {
		views[i] = l.view(*v.Data, s)
	}
	return views
}

// dir returns the folder that holds the folder of a trial. Runs of other views than that of the data set
// have their own, so that reports and lists of runs do not mix them.
func (l *Lab) dir(t train.Trial) string {
	if t.Fingerprint == l.Fingerprint {
		return l.Root
	}
	return filepath.Join(l.Root, otherSplits)
}

const otherSplits = "splits"

// Moved returns the folder of a run, as it was stored, below the folder of the runs where that is now.
func Moved(root, dir string) string {
	if filepath.Base(filepath.Dir(dir)) == otherSplits {
		root = filepath.Join(root, otherSplits)
	}
	return filepath.Join(root, filepath.Base(dir))
}

// Failed returns the number of runs that failed since New.
func (l *Lab) Failed() int { return len(l.failed) }

// Do trains those of the trials that belong to this shard and are not finished, equal ones once, and returns
// the run of each, in their order, evaluated without a correction. A trial that fails does not stop the
// others. Decisions of finished runs stay as they are: see Decide. The error is that ctx ended first.
func (l *Lab) Do(ctx context.Context, trials []train.Trial) ([]Run, error) {
	g := &grid{runs: map[string]*Run{}, onProgress: l.OnProgress}
	jobs := l.jobs(g, trials)
	var workers sync.WaitGroup
	for range min(cmp.Or(l.Jobs, runtime.GOMAXPROCS(0)), len(jobs)) {
		workers.Go(func() {
			for j := range jobs {
				if ctx.Err() == nil {
					l.train(ctx, g, j)
				}
			}
		})
	}
	workers.Wait()
	finished := 0
	for _, r := range g.runs {
		if below, err := filepath.Rel(l.Root, r.Dir); err == nil {
			l.asked[filepath.ToSlash(below)] = true
		}
		if r.Result != nil {
			finished++
		}
		if r.Missing != nil && r.Missing.State != Waiting {
			l.failed[r.Dir] = true
		}
	}
	if ctx.Err() != nil && finished < len(g.runs) {
		return nil, fmt.Errorf("interrupted with %d of %d runs finished in %s; repeat the "+
			"command to resume: %w", finished, len(g.runs), l.Root, context.Cause(ctx))
	}
	runs := make([]Run, len(trials))
	for i, t := range trials {
		runs[i] = *g.runs[t.Name()]
		runs[i].Evaluate(model.Correction{})
	}
	return runs, nil
}

type grid struct {
	runs map[string]*Run // by the name of the trial

	mu              sync.Mutex
	progress        format.Progress // failed runs are done, too
	running, failed int
	onProgress      func(format.Progress)
}

type job struct {
	*Run
	place int // of its preparation
	// data prepares the data once for the jobs that share it. A preprocessed copy is as large as
	// the data set; nothing but jobs refers to it, so that the memory is free after the last one.
	data func() (*train.Data, error)
}

// jobs reads the trials that are finished, and queues those to be trained. Those of one
// preparation follow each other, so that few copies of the features are in memory.
func (l *Lab) jobs(g *grid, trials []train.Trial) chan job {
	var todo []job
	first := map[train.Trial]job{} // by preparation
	found := 0
	for i, t := range trials {
		name := t.Name()
		if g.runs[name] != nil {
			continue
		}
		r := &Run{Trial: t, Dir: filepath.Join(l.dir(t), name)}
		g.runs[name] = r
		r.read()
		r.Reused = r.Result != nil
		switch {
		case r.Reused:
			found++
			l.keep(r)
			if r.Missing != nil {
				g.failed++
			}
		case !l.Shard.Holds(i):
			r.Missing = &Missing{
				Name: r.Dir, State: Waiting, Why: "left to another shard, which has not finished it",
			}
		default:
			r.Missing = nil
			key := t.Preparation()
			j, known := first[key]
			if !known {
				data := sync.OnceValues(func() (*train.Data, error) { return l.prepare(key) })
				j = job{place: len(first), data: data}
				first[key] = j
			}
			j.Run = r
			todo = append(todo, j)
		}
	}
	g.progress = format.NewProgress("training", "runs", int64(found), int64(found+len(todo)))
	slices.SortStableFunc(todo, func(a, b job) int { return a.place - b.place })
	queue := make(chan job, len(todo))
	for _, j := range todo {
		queue <- j
	}
	close(queue)
	return queue
}

func (l *Lab) prepare(key train.Trial) (*train.Data, error) {
	var models []string
	if path, ok := l.models.Load(key); ok {
		models = append(models, path.(string))
	}
	data, err := train.Prepare(l.views[key.Fingerprint], key, models...)
	if err == nil {
		fits, _ := l.fits.LoadOrStore(key, new(method.Cache))
		data.Fits = fits.(*method.Cache)
	}
	return data, err
}

// train trains a trial. If another process holds it, train waits for the result, or for the
// lock if that process dies.
func (l *Lab) train(ctx context.Context, g *grid, j job) {
	r := j.Run
	g.change(func() { g.running++ })
	var err error
	for {
		r.Result, err = train.Run(ctx, l.dir(r.Trial), r.Trial, j.data, l.Options)
		if !errors.Is(err, train.ErrBusy) {
			break
		}
		err = nil // it is no failure if another process trains it
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
			continue
		}
		break
	}
	if err != nil {
		r.Missing = NewMissing(r.Dir, Failed, err)
	}
	if r.Result != nil && r.Result.Status == train.Cancelled {
		r.Result = nil
	}
	l.keep(r)
	r.Evaluate(model.Correction{})
	ended := r.Result != nil || r.Missing != nil
	g.change(func() {
		g.running--
		if ended {
			g.progress.Done++
			if r.Missing != nil {
				g.failed++
			}
		}
	})
	if ended && l.OnRun != nil {
		l.OnRun(*r)
	}
}

// keep notes the model of a finished run with whitening, which later grids need not fit again.
func (l *Lab) keep(r *Run) {
	if r.Missing == nil && r.Result != nil && r.Preprocess.Has(preprocess.Whiten) {
		l.models.LoadOrStore(r.Preparation(), filepath.Join(r.Dir, train.ModelFile))
	}
}

func (g *grid) change(count func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	count()
	if g.onProgress != nil {
		g.progress.More = fmt.Sprintf("%d running, %d failed", g.running, g.failed)
		g.onProgress(g.progress)
	}
}

// Shard is the part of a grid that one process of several trains: the trials whose
// index is Index modulo Count. The zero value is the whole grid.
type Shard struct{ Index, Count int }

// ParseShard reads "i/n", i from 0 to n-1.
func ParseShard(s string) (Shard, error) {
	index, count, ok := strings.Cut(s, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if !ok || err1 != nil || err2 != nil || i < 0 || i >= n {
		return Shard{}, &invalid.Error{Want: "I/N with I from 0 to N-1", Got: invalid.Quote(s)}
	}
	return Shard{i, n}, nil
}

// ShardFromEnvironment returns the shard that Slurm or Kubernetes assigns to this process:
// SLURM_ARRAY_TASK_ID of SLURM_ARRAY_TASK_COUNT, counted from SLURM_ARRAY_TASK_MIN, or JOB_COMPLETION_INDEX
// of JOB_COMPLETIONS, which the manifest of an Indexed Job sets beside it. Without them it is the whole grid.
//
// from names the variable.
func ShardFromEnvironment() (s Shard, from string, err error) {
	index, count, least := "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", os.Getenv("SLURM_ARRAY_TASK_MIN")
	if os.Getenv(index) == "" {
		index, count, least = "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", ""
	}
	if os.Getenv(index) == "" {
		return Shard{}, "", nil
	}
	i, err1 := strconv.Atoi(os.Getenv(index))
	n, err2 := strconv.Atoi(os.Getenv(count))
	first, err3 := strconv.Atoi(cmp.Or(least, "0"))
	s = Shard{i - first, n}
	if errors.Join(err1, err2, err3) != nil || s.Index < 0 || s.Index >= n {
		return Shard{}, "", &invalid.Error{
			Where: "$" + index, Want: "an index of the shards of $" + count,
			Got:  fmt.Sprintf("%q of %q", os.Getenv(index), os.Getenv(count)),
			Hint: "Or give --shard I/N: --shard 0/1 does everything.",
		}
	}
	return s, "$" + index, nil
}

// Incomplete is the error of work that other shards have yet to do.
type Incomplete struct{ Left string }

func (e *Incomplete) Error() string {
	return e.Left + " left to other shards, which have not finished them; repeat the command when they " +
		"have, or with --shard 0/1, which does everything"
}

// Holds reports whether the trial with this index is in the shard.
func (s Shard) Holds(index int) bool { return s.Count <= 1 || index%s.Count == s.Index }
