package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/split"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/train"
)

// Lab runs trials on a data set in memory, in a folder.
type Lab struct {
	Data *dataset.Dataset
	Root string // holds the folders of the runs
	// Parts are the divisions of the classes over which a question is asked: that of Data
	// or, after Rotate, several, each class being a test class of one.
	Parts []View
	Jobs  int // trials at a time; 0 means as many as there are cores
	// Shard is the part of the trials that this process trains.
	Shard   Shard
	Options train.Options
	// OnProgress, if set, is called whenever the progress of a grid changes.
	OnProgress func(Progress)
	// OnRun, if set, is called with each run that this process ended.
	OnRun func(Run)

	fingerprint string
	views       map[string]*dataset.Dataset // by fingerprint
	failed      map[string]bool             // folders of failed runs
}

// View is the data of a lab with one division of the classes into train, val and test
// classes. Trials on it carry its fingerprint.
type View struct {
	Data        *dataset.Dataset
	Fingerprint string
}

// Run is a trial that was asked for, and its result.
type Run struct {
	train.Trial
	Dir    string
	Result *train.Result // nil if there is none
	Err    error         // why there is no model: a failure, an *Unfinished or ErrElsewhere
	Ended  time.Time     // zero without a result
	Reused bool          // finished before this process asked for it
}

// ErrElsewhere is the error of a trial that belongs to another shard, which has not
// finished it yet.
var ErrElsewhere = errors.New("left to another shard, which has not finished it")

// Cancelled is the error of a grid that was interrupted.
type Cancelled struct {
	Root     string
	Finished int
	Trials   int
}

func (c *Cancelled) Error() string {
	return fmt.Sprintf("interrupted with %d of %d runs finished in %s; repeat the command to resume", c.Finished, c.Trials, c.Root)
}

// Waiting is the error of a round whose trials belong in part to other shards: the
// choice of the next settings needs them.
type Waiting struct {
	Round string
	Left  int
	Total int
}

func (w *Waiting) Error() string {
	return fmt.Sprintf("%d of the %d runs of the %s round belong to other shards, which have not finished them. Repeat the command when they have.",
		w.Left, w.Total, w.Round)
}

// WaitingFor returns a *Waiting for the runs of a round that other shards have not
// finished, nil if there are none.
func WaitingFor(round string, runs []Run) error {
	w := &Waiting{Round: round, Total: len(runs)}
	for _, r := range runs {
		if errors.Is(r.Err, ErrElsewhere) {
			w.Left++
		}
	}
	if w.Left == 0 {
		return nil
	}
	return w
}

// New returns a lab for a data set.
func New(d *dataset.Dataset, root string) *Lab {
	data := *d
	if data.FeaturesSum == "" {
		data.FeaturesSum = dataset.SumFeatures(d.Features)
	}
	l := &Lab{Data: &data, Root: root, views: map[string]*dataset.Dataset{}, failed: map[string]bool{}}
	l.Parts = []View{l.View(d.Split)}
	l.fingerprint = l.Parts[0].Fingerprint
	return l
}

// View returns the data with another division of the classes.
func (l *Lab) View(s dataset.Split) View {
	d := *l.Data
	d.Split = s
	fingerprint := d.Fingerprint()
	if l.views[fingerprint] == nil {
		l.views[fingerprint] = &d
	}
	return View{l.views[fingerprint], fingerprint}
}

// Rotate replaces Parts by n divisions of the classes, see split.Rotations.
func (l *Lab) Rotate(n int, seed uint64) error {
	splits, err := split.Rotations(l.Data, n, seed)
	if err != nil {
		return err
	}
	l.Parts = nil
	for _, s := range splits {
		l.Parts = append(l.Parts, l.View(s))
	}
	return nil
}

// Folds returns n views with the test classes of v, over which settings are chosen: v
// itself for 1; the data set's own divisions of the seen classes if it has n of them; else
// n parts of the seen classes in turn as val classes, see split.Folds.
func (l *Lab) Folds(v View, n int) ([]View, error) {
	if n == 1 {
		return []View{v}, nil
	}
	splits := l.Data.DevSplits
	if len(splits) != n || len(l.Parts) > 1 {
		var err error
		if splits, err = split.Folds(l.Data, v.Data.Split, n, 0); err != nil {
			return nil, err
		}
	}
	views := make([]View, n)
	for i, s := range splits {
		views[i] = l.View(s)
	}
	return views, nil
}

// Fingerprint is that of the data set.
func (l *Lab) Fingerprint() string { return l.fingerprint }

// splitsDir is the folder below Root for runs of other views than that of the data set,
// so that reports and lists of runs do not mix them.
const splitsDir = "splits"

// dir returns the folder that holds the folder of a trial.
func (l *Lab) dir(t train.Trial) string {
	if t.Fingerprint == l.fingerprint {
		return l.Root
	}
	return filepath.Join(l.Root, splitsDir)
}

// pollEvery is the time between two looks at a trial that another process holds.
const pollEvery = 500 * time.Millisecond

// Do trains those of the trials that belong to this shard and are not finished, equal ones
// once, and returns the run of each, in their order. A trial that fails does not stop the
// others. The error is a *Cancelled.
func (l *Lab) Do(ctx context.Context, trials []train.Trial) ([]Run, error) {
	out := make([]Run, len(trials))
	var todo []int
	first := map[train.Trial]int{} // of equal trials
	count := &counter{start: time.Now(), onProgress: l.OnProgress}
	for i, t := range trials {
		if _, again := first[t]; again {
			continue
		}
		first[t] = i
		r := Run{Trial: t, Dir: filepath.Join(l.dir(t), t.Name())}
		r.read(t.ReadResult)
		switch {
		case r.Result != nil:
			r.Reused = true
			count.progress.Found++
			if r.Err != nil {
				count.progress.Failed++
			} else {
				count.progress.Done++
			}
		case !l.Shard.Holds(i):
			r.Err = ErrElsewhere
		default:
			todo = append(todo, i)
		}
		out[i] = r
	}
	count.progress.Total = count.progress.Found + len(todo)
	l.carryOut(ctx, out, todo, count)
	c := &Cancelled{Root: l.Root, Trials: len(first)}
	for i, t := range trials {
		r := out[first[t]]
		if first[t] != i {
			out[i] = r
			continue
		}
		if r.Result != nil {
			c.Finished++
		}
		if r.Err != nil && !errors.Is(r.Err, ErrElsewhere) {
			l.failed[r.Dir] = true
		}
	}
	if ctx.Err() != nil && c.Finished < c.Trials {
		return out, c
	}
	return out, nil
}

// DoAll is Do for several lists of trials as one grid.
func (l *Lab) DoAll(ctx context.Context, lists [][]train.Trial) ([][]Run, error) {
	done, err := l.Do(ctx, slices.Concat(lists...))
	parts := make([][]Run, len(lists))
	for i, list := range lists {
		parts[i], done = done[:len(list)], done[len(list):]
	}
	return parts, err
}

// Failed returns the number of runs that failed since New.
func (l *Lab) Failed() int { return len(l.failed) }

// Failures returns the runs that have no model.
func Failures(runs []Run) []Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Err == nil })
}

// carryOut runs jobs that take trials from a queue.
func (l *Lab) carryOut(ctx context.Context, out []Run, todo []int, count *counter) {
	if len(todo) == 0 {
		return
	}
	jobs := l.Jobs
	if jobs < 1 {
		jobs = runtime.GOMAXPROCS(0)
	}
	jobs = min(jobs, len(todo))
	defer moreThreads(jobs)()
	byPreparation(todo, func(i int) train.Trial { return out[i].Trial })
	queue := make(chan int, len(todo))
	var trials []train.Trial
	for _, i := range todo {
		trials = append(trials, out[i].Trial)
		queue <- i
	}
	close(queue)
	undo, err := l.saveMemory(trials)
	defer undo()
	if err != nil && l.Options.OnWarning != nil {
		l.Options.OnWarning(trials[0], "the features stay in memory beside their preprocessed copy: "+err.Error())
	}
	data := newPrepared(l.views, trials)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for i := range queue {
				if ctx.Err() == nil {
					l.one(ctx, &out[i], data, count)
				}
			}
		})
	}
	wg.Wait()
}

// moreThreads lets several jobs use twice as many threads as there are cores, and returns
// what undoes it. Gorgonia locks a machine's goroutine to a thread, which blocks while another
// goroutine runs the step. With GOMAXPROCS at the number of cores they would idle.
func moreThreads(jobs int) (undo func()) {
	cores := runtime.GOMAXPROCS(0)
	if jobs == 1 {
		return func() {}
	}
	parallel.Limit(cores)
	runtime.GOMAXPROCS(2 * cores)
	return func() {
		runtime.GOMAXPROCS(cores)
		parallel.Limit(0)
	}
}

// one trains a trial. If another process holds it, one waits for the result, or for the
// lock if that process dies.
func (l *Lab) one(ctx context.Context, r *Run, data *prepared, count *counter) {
	defer data.release(r.Trial)
	count.change(func(p *Progress) { p.Running++ })
	prepare := func() (*train.Data, error) { return data.get(r.Trial) }
	for {
		r.Result, r.Err = train.Run(ctx, l.dir(r.Trial), r.Trial, prepare, l.Options)
		if !errors.Is(r.Err, train.ErrBusy) {
			break
		}
		r.Err = nil // it is no failure if another process trains it
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
			continue
		}
		break
	}
	if r.Result != nil && r.Result.Status == train.Cancelled {
		r.Result = nil
	}
	r.Ended = endedAt(r.Dir)
	ended := r.Result != nil || r.Err != nil
	count.change(func(p *Progress) {
		p.Running--
		switch {
		case r.Err != nil:
			p.Failed++
		case ended:
			p.Done++
		}
	})
	if ended && l.OnRun != nil {
		l.OnRun(*r)
	}
}
