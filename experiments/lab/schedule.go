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
	"sync"
	"time"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// pollEvery is the time between two looks at a trial that another process holds.
const pollEvery = 500 * time.Millisecond

// Do trains those of the trials that belong to this shard and are not finished, equal ones
// once, and returns the run of each, in their order. A trial that fails does not stop the
// others. Decisions of finished runs stay as they are: see Decide. The error is that ctx
// ended first.
func (l *Lab) Do(ctx context.Context, tasks []Task) ([]Run, error) {
	g := &grid{runs: map[string]*Run{}, corrections: map[string][]model.Correction{}, onProgress: l.OnProgress}
	for _, t := range tasks {
		name := t.Name()
		g.corrections[name] = append(g.corrections[name], t.Correction.Canonical())
	}
	jobs := l.jobs(g, tasks)
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
		return nil, fmt.Errorf("interrupted with %d of %d runs finished in %s; repeat the command to resume: %w", finished, len(g.runs), l.Root, context.Cause(ctx))
	}
	runs := make([]Run, len(tasks))
	for i, t := range tasks {
		runs[i] = *g.runs[t.Name()]
		runs[i].Evaluate(t.Correction)
	}
	return runs, nil
}

// Decide decides the corrections that runs were asked for. Decisions that rest on another correction
// are dropped. Runs without a model are left out.
func (l *Lab) Decide(ctx context.Context, runs []Run) error {
	for _, r := range runs {
		if r.Evaluation == nil {
			continue
		}
		c := r.Correction.Canonical()
		if decided, err := train.ReadCorrection(r.Dir); err != nil {
			return err
		} else if decided == c {
			continue
		}
		err := train.Decide(ctx, r.Dir, func(d *train.Decisions) error {
			*d = train.Decisions{Correction: c}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// grid is trials that are done together, and their progress.
type grid struct {
	runs        map[string]*Run // by the name of the trial
	corrections map[string][]model.Correction

	mu              sync.Mutex
	progress        format.Progress // failed runs are done, too
	running, failed int
	onProgress      func(format.Progress)
}

// job is a trial to be trained.
type job struct {
	*Run
	// data prepares the data once for the jobs that share it. A preprocessed copy is as large as
	// the data set; nothing but jobs refers to it, so that the memory is free after the last one.
	data func() (*train.Data, error)
}

// jobs reads the trials that are finished, and queues those to be trained. Those of one
// preparation follow each other, so that few copies of the features are in memory.
func (l *Lab) jobs(g *grid, tasks []Task) chan job {
	var order []train.Trial
	todo := map[train.Trial][]job{}
	found, left := 0, 0
	for i, t := range tasks {
		name := t.Name()
		if g.runs[name] != nil {
			continue
		}
		r := &Run{Trial: t.Trial, Correction: t.Correction, Dir: filepath.Join(l.dir(t.Trial), name)}
		g.runs[name] = r
		r.read(t.ReadResult)
		r.Reused = r.Result != nil
		switch {
		case r.Reused && (r.Missing != nil || r.Result.Has(g.corrections[name])):
			found++
			l.keep(r)
			g.end(r)
		case !l.Shard.Holds(i):
			r.Result, r.Missing = nil, &Missing{Name: r.Dir, State: Waiting, Why: "left to another shard, which has not finished it"}
		default:
			r.Result, r.Missing = nil, nil // until it has all evaluations
			key := t.Preparation()
			data := sync.OnceValues(func() (*train.Data, error) {
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
			})
			if same := todo[key]; same != nil {
				data = same[0].data
			} else {
				order = append(order, key)
			}
			todo[key] = append(todo[key], job{r, data})
			left++
		}
	}
	queue := make(chan job, left)
	defer close(queue)
	g.progress = format.NewProgress("training", "runs", int64(found), int64(found+left))
	l.moveFeatures(order, todo)
	for _, key := range order {
		for _, j := range todo[key] {
			queue <- j
		}
	}
	return queue
}

// moveFeatures keeps the memory of trials on large features near the size of one copy of
// them: if trials preprocess the features, the original ones move into a file, which each
// stage reads a few times from end to end.
func (l *Lab) moveFeatures(order []train.Trial, todo map[train.Trial][]job) {
	isPreprocessed := func(p train.Trial) bool { return p.Preprocess != preprocess.None }
	if len(l.Data.Features.Data) < fileio.Large || !slices.ContainsFunc(order, isPreprocessed) {
		return
	}
	values, err := []float32(nil), invalid.File(l.Root, os.MkdirAll(l.Root, 0o755))
	if err == nil {
		values, err = fileio.Move(l.Root, l.Data.Features.Data)
	}
	if err != nil {
		if l.Options.OnWarning != nil {
			l.Options.OnWarning(todo[order[0]][0].Trial, "the features stay in memory beside their preprocessed copy: "+err.Error())
		}
		return
	}
	l.Data.Features.Data = values
	for _, view := range l.views {
		view.Features.Data = values
	}
}

// train trains a trial. If another process holds it, train waits for the result, or for the
// lock if that process dies.
func (l *Lab) train(ctx context.Context, g *grid, j job) {
	r := j.Run
	g.change(func() { g.running++ })
	var err error
	for {
		r.Result, err = train.Run(ctx, l.dir(r.Trial), r.Trial, g.corrections[r.Name()], j.data, l.Options)
		if !errors.Is(err, train.ErrBusy) {
			break
		}
		err = nil // it is no failure if another process trains it
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
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
	r.Evaluate(r.Correction)
	l.keep(r)
	r.Ended = endedAt(r.Dir)
	ended := r.Result != nil || r.Missing != nil
	g.change(func() {
		g.running--
		if ended {
			g.progress.Done++
			g.end(r)
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

// end counts a run that failed.
func (g *grid) end(r *Run) {
	if r.Missing != nil {
		g.failed++
	}
}

// change changes the counts of runs and reports them.
func (g *grid) change(by func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	by()
	if g.onProgress != nil {
		g.progress.More = fmt.Sprintf("%d running, %d failed", g.running, g.failed)
		g.onProgress(g.progress)
	}
}
