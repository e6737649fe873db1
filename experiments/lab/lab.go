package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/train"
)

// Lab is where trials are carried out: a data set in memory, and a folder.
type Lab struct {
	Data *dataset.Dataset
	Root string // of the folders of trials
	Jobs int    // trials at a time; 0 means as many as there are cores
	// Shard is the part of the trials that this process trains.
	Shard   Shard
	Options train.Options
	// OnProgress, where it is not nil, hears how far a grid is whenever that changes.
	OnProgress func(Progress)
	// OnRun, where it is not nil, hears of each trial that this process ended.
	OnRun func(Run)

	fingerprint string
}

// Run is what became of one that was asked for.
type Run struct {
	train.Trial
	Dir    string
	Result *train.Result // nil where there is none
	Err    error         // why not: a failure, or ErrElsewhere
}

// ErrElsewhere says that a trial belongs to another shard, which has not finished
// it yet.
var ErrElsewhere = errors.New("left to another shard, which has not finished it")

// Cancelled says that trials were ended from outside, and that the same command
// goes on from where they are.
type Cancelled struct {
	Root     string
	Finished int
	Trials   int
}

func (c *Cancelled) Error() string {
	return fmt.Sprintf("stopped with %d of %d trials finished in %s; the same command goes on from there", c.Finished, c.Trials, c.Root)
}

// New returns a lab for a data set.
func New(d *dataset.Dataset, root string) *Lab {
	return &Lab{Data: d, Root: root, fingerprint: d.Fingerprint()}
}

// Fingerprint is that of the data set, which trials carry.
func (l *Lab) Fingerprint() string { return l.fingerprint }

// pollEvery is how often a trial is looked after that another process holds.
const pollEvery = 500 * time.Millisecond

// Do carries out those of the trials that belong to this shard and are not
// finished, and returns what became of each, in their order. A trial that fails
// doesn't stop the others. The error is a *Cancelled, or one that no trial can be
// carried out with.
func (l *Lab) Do(ctx context.Context, trials []train.Trial) ([]Run, error) {
	out := make([]Run, len(trials))
	var todo []int
	count := &counter{start: time.Now(), tell: l.OnProgress}
	for i, t := range trials {
		out[i] = Run{Trial: t, Dir: filepath.Join(l.Root, t.Name())}
		r, err := train.ReadResult(out[i].Dir)
		switch {
		case err == nil:
			out[i].Result, out[i].Err = r, r.Failure()
			count.progress.Found++
			if out[i].Err != nil {
				count.progress.Failed++
			} else {
				count.progress.Done++
			}
		case !l.Shard.holds(i):
			out[i].Err = ErrElsewhere
		default:
			todo = append(todo, i)
		}
	}
	count.progress.Total = count.progress.Found + len(todo)
	l.carryOut(ctx, out, todo, count)
	if ctx.Err() != nil {
		c := &Cancelled{Root: l.Root, Trials: len(trials)}
		for _, t := range out {
			if t.Result != nil {
				c.Finished++
			}
		}
		if c.Finished < c.Trials {
			return out, c
		}
	}
	return out, nil
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
	defer shareCores(jobs)()
	data := newPrepared(l.Data, pick(out, todo))
	queue := make(chan int, len(todo))
	for _, i := range todo {
		queue <- i
	}
	close(queue)
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

// shareCores gives each of the jobs its share of the cores, and returns what undoes
// that. Gorgonia locks a machine's goroutine to a thread, which waits there while
// another goroutine runs the step: with a single place to run for each core, the
// cores idle while threads take turns, so jobs beside each other get two.
func shareCores(jobs int) (undo func()) {
	cores := runtime.GOMAXPROCS(0)
	parallel.SetWorkers(max(cores/jobs, 1))
	if jobs > 1 {
		runtime.GOMAXPROCS(2 * cores)
	}
	return func() {
		runtime.GOMAXPROCS(cores)
		parallel.SetWorkers(0)
	}
}

// one carries out a trial; where another process has it in work, it waits for the
// result, or for the lock of one that died.
func (l *Lab) one(ctx context.Context, t *Run, data *prepared, count *counter) {
	defer data.release(t.Trial)
	count.change(func(p *Progress) { p.Running++ })
	for {
		t.Result, t.Err = l.train(ctx, t.Trial, data)
		if !errors.Is(t.Err, train.ErrBusy) {
			break
		}
		select {
		case <-ctx.Done():
			t.Err = nil // it is no failure to be in work elsewhere
		case <-time.After(pollEvery):
			continue
		}
		break
	}
	count.change(func(p *Progress) {
		p.Running--
		switch {
		case t.Err != nil:
			p.Failed++
		case t.Result != nil && t.Result.Status != train.Cancelled:
			p.Done++
		}
	})
	if t.Result != nil && t.Result.Status == train.Cancelled {
		t.Result = nil
		return
	}
	if l.OnRun != nil {
		l.OnRun(*t)
	}
}

func (l *Lab) train(ctx context.Context, t train.Trial, data *prepared) (*train.Result, error) {
	d, err := data.get(t)
	if err != nil {
		return nil, err
	}
	return train.Run(ctx, l.Root, t, d, l.Options)
}

func pick(from []Run, indices []int) []train.Trial {
	to := make([]train.Trial, len(indices))
	for i, index := range indices {
		to[i] = from[index].Trial
	}
	return to
}
