package lab

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/train"
)

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
