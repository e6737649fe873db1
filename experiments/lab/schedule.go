package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// grid is trials that are done together.
type grid struct {
	runs  []Run
	names []string
	first map[string]int // index of the first of equal trials, by name
	todo  []int
	data  *prepared
	count *counter
}

// newGrid reads the trials that are finished, and lists those to be trained.
func (l *Lab) newGrid(trials []train.Trial) *grid {
	g := &grid{
		runs: make([]Run, len(trials)), names: make([]string, len(trials)), first: map[string]int{},
		count: &counter{start: time.Now(), onProgress: l.OnProgress},
	}
	for i, t := range trials {
		name := t.Name()
		g.names[i] = name
		if _, again := g.first[name]; again {
			continue
		}
		g.first[name] = i
		r := Run{Trial: t, Dir: filepath.Join(l.dir(t), name)}
		r.read(t.ReadResult)
		switch p := &g.count.progress; {
		case r.Result != nil:
			r.Reused = true
			p.Found++
			if r.Err != nil {
				p.Failed++
			} else {
				p.Done++
			}
		case !l.Shard.Holds(i):
			r.Err = ErrElsewhere
		default:
			g.todo = append(g.todo, i)
		}
		g.runs[i] = r
	}
	g.count.progress.Total = g.count.progress.Found + len(g.todo)
	return g
}

// queue returns the indices of the trials to be trained, those of one preparation after each
// other.
func (l *Lab) queue(g *grid) chan int {
	byPreparation(g.todo, func(i int) train.Trial { return g.runs[i].Trial })
	queue := make(chan int, len(g.todo))
	defer close(queue)
	var trials []train.Trial
	for _, i := range g.todo {
		trials = append(trials, g.runs[i].Trial)
		queue <- i
	}
	if err := l.moveFeatures(trials); err != nil && l.Options.OnWarning != nil {
		l.Options.OnWarning(trials[0], "the features stay in memory beside their preprocessed copy: "+err.Error())
	}
	g.data = newPrepared(l.views, trials)
	return queue
}

// end completes the runs of equal trials. The error is a *Cancelled.
func (l *Lab) end(ctx context.Context, g *grid) error {
	c := &Cancelled{Root: l.Root, Trials: len(g.first)}
	for i, name := range g.names {
		r := g.runs[g.first[name]]
		if g.first[name] != i {
			g.runs[i] = r
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
		return c
	}
	return nil
}

// one trains a trial. If another process holds it, one waits for the result, or for the
// lock if that process dies.
func (l *Lab) one(ctx context.Context, g *grid, r *Run) {
	defer g.data.release(r.Trial)
	g.count.change(func(p *Progress) { p.Running++ })
	prepare := func() (*train.Data, error) { return g.data.get(r.Trial) }
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
	g.count.change(func(p *Progress) {
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

// moveFeatures keeps the memory of trials on large features near the size of one copy of
// them: if trials preprocess the features, the original ones move into a file, which each
// stage reads a few times from end to end.
func (l *Lab) moveFeatures(trials []train.Trial) error {
	isPreprocessed := func(t train.Trial) bool { return t.Preprocess != preprocess.None }
	if len(l.Data.Features.Data) < fileio.Large || !slices.ContainsFunc(trials, isPreprocessed) {
		return nil
	}
	if err := os.MkdirAll(l.Root, 0o755); err != nil {
		return invalid.File(l.Root, err)
	}
	values, err := fileio.Move(l.Root, l.Data.Features.Data)
	if err != nil {
		return err
	}
	l.Data.Features.Data = values
	for _, view := range l.views {
		view.Features.Data = values
	}
	return nil
}

// prepared keeps preprocessed features for as long as a trial needs them: a copy is
// as large as the data set.
type prepared struct {
	views map[string]*dataset.Dataset // by fingerprint

	mu      sync.Mutex
	entries map[preparation]*entry
}

// preparation decides on the data of a trial.
type preparation struct {
	fingerprint string
	train.Preparation
}

func preparationOf(t train.Trial) preparation { return preparation{t.Fingerprint, t.Preparation()} }

type entry struct {
	users int // trials that hold it or will ask for it
	once  sync.Once
	data  *train.Data
	err   error
}

func newPrepared(views map[string]*dataset.Dataset, trials []train.Trial) *prepared {
	p := &prepared{views: views, entries: map[preparation]*entry{}}
	for _, t := range trials {
		key := preparationOf(t)
		if p.entries[key] == nil {
			p.entries[key] = &entry{}
		}
		p.entries[key].users++
	}
	return p
}

// byPreparation sorts indices of trials so that those of one preparation follow each
// other: few copies of the features are then in memory, and trials share what is cached
// with them.
func byPreparation(indices []int, trial func(i int) train.Trial) {
	first := map[preparation]int{}
	for _, i := range indices {
		if _, known := first[preparationOf(trial(i))]; !known {
			first[preparationOf(trial(i))] = i
		}
	}
	slices.SortStableFunc(indices, func(a, b int) int {
		return cmp.Compare(first[preparationOf(trial(a))], first[preparationOf(trial(b))])
	})
}

// get returns the data of a trial, which calls release once it is done with it.
func (p *prepared) get(t train.Trial) (*train.Data, error) {
	p.mu.Lock()
	e := p.entries[preparationOf(t)]
	p.mu.Unlock()
	e.once.Do(func() {
		view := p.views[t.Fingerprint]
		if view == nil {
			panic("lab: a trial on data that are not a view of the lab's")
		}
		e.data, e.err = train.Prepare(view, t.Preparation())
	})
	return e.data, e.err
}

func (p *prepared) release(t train.Trial) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := preparationOf(t)
	if e := p.entries[key]; e.users > 1 {
		e.users--
	} else {
		delete(p.entries, key)
	}
}

// Progress counts the trials of a grid.
type Progress struct {
	Total, Done, Running, Failed int
	Found                        int           // part of Done and Failed that was finished before
	Left                         time.Duration // estimate, 0 while there is none
}

// String is the progress line.
func (p Progress) String() string {
	s := fmt.Sprintf("%d of %d runs done, %d running, %d failed", p.Done, p.Total, p.Running, p.Failed)
	if p.Left > 0 {
		s += fmt.Sprintf(", about %s left", p.Left.Round(time.Second))
	}
	return s
}

// counter counts trials and reports each change.
type counter struct {
	mu         sync.Mutex
	progress   Progress
	start      time.Time
	onProgress func(Progress)
}

// change moves the counts and reports them.
func (c *counter) change(move func(*Progress)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	move(&c.progress)
	p := &c.progress
	p.Left = 0
	if trained := p.Done + p.Failed - p.Found; trained > 0 {
		each := time.Since(c.start) / time.Duration(trained)
		p.Left = each * time.Duration(p.Total-p.Done-p.Failed)
	}
	if c.onProgress != nil {
		c.onProgress(*p)
	}
}
