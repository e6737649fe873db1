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
	"github.com/lago-train/lago-train/dataset/split"
	"github.com/lago-train/lago-train/internal/invalid"
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
	g := l.newGrid(trials)
	queue := l.queue(g)
	var wg sync.WaitGroup
	for range min(cmp.Or(l.Jobs, runtime.GOMAXPROCS(0)), len(queue)) {
		wg.Go(func() {
			for i := range queue {
				if ctx.Err() == nil {
					l.one(ctx, g, &g.runs[i])
				}
			}
		})
	}
	wg.Wait()
	return g.runs, l.end(ctx, g)
}

// Split divides runs into lists of the lengths of lists of trials, which were done together.
func Split(runs []Run, lists [][]train.Trial) [][]Run {
	parts := make([][]Run, len(lists))
	for i, list := range lists {
		parts[i], runs = runs[:len(list)], runs[len(list):]
	}
	return parts
}

// Failed returns the number of runs that failed since New.
func (l *Lab) Failed() int { return len(l.failed) }

// Failures returns the runs that have no model.
func Failures(runs []Run) []Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Err == nil })
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
		return Shard{}, &invalid.Error{Want: "I/N with I from 0 to N-1", Got: strconv.Quote(s)}
	}
	return Shard{i, n}, nil
}

// ShardFromEnvironment returns the shard that Slurm or Kubernetes assigns to this
// process: SLURM_ARRAY_TASK_ID of SLURM_ARRAY_TASK_COUNT, counted from
// SLURM_ARRAY_TASK_MIN, or JOB_COMPLETION_INDEX of JOB_COMPLETIONS, which the
// manifest of an Indexed Job sets beside it. Without them it is the whole grid.
func ShardFromEnvironment() (Shard, error) {
	if index := os.Getenv("SLURM_ARRAY_TASK_ID"); index != "" {
		return fromVariables("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN")
	}
	if index := os.Getenv("JOB_COMPLETION_INDEX"); index != "" {
		return fromVariables("JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", "")
	}
	return Shard{}, nil
}

// fromVariables reads a shard whose indices start at the value of least, 0 where
// that is not set.
func fromVariables(index, count, least string) (Shard, error) {
	number := func(name string) (int, error) {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil {
			return 0, &invalid.Error{Where: "$" + name, Want: "a number", Got: strconv.Quote(os.Getenv(name))}
		}
		return n, nil
	}
	i, err := number(index)
	if err != nil {
		return Shard{}, err
	}
	if os.Getenv(count) == "" {
		return Shard{}, &invalid.Error{
			Where: "$" + count, Want: "a number", Got: "none", Hint: "Set it to the number of shards, or give --shard I/N.",
		}
	}
	n, err := number(count)
	if err != nil {
		return Shard{}, err
	}
	if least != "" && os.Getenv(least) != "" {
		first, err := number(least)
		if err != nil {
			return Shard{}, err
		}
		i -= first
	}
	if i < 0 || i >= n {
		return Shard{}, &invalid.Error{Where: "$" + index, Want: fmt.Sprintf("an index of the %d shards of $%s", n, count), Got: os.Getenv(index)}
	}
	return Shard{i, n}, nil
}

// Holds reports whether the trial with this index is in the shard.
func (s Shard) Holds(index int) bool { return s.Count <= 1 || index%s.Count == s.Index }
