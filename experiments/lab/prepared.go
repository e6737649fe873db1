package lab

import (
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/train"
)

// prepared keeps preprocessed features for as long as a trial needs them: a copy is
// as large as the data set.
type prepared struct {
	data *dataset.Dataset

	mu      sync.Mutex
	entries map[train.Preparation]*entry
}

type entry struct {
	users int // trials that hold it or will ask for it
	once  sync.Once
	data  *train.Data
	err   error
}

func newPrepared(d *dataset.Dataset, trials []train.Trial) *prepared {
	p := &prepared{data: d, entries: map[train.Preparation]*entry{}}
	for _, t := range trials {
		key := t.Preparation()
		if p.entries[key] == nil {
			p.entries[key] = &entry{}
		}
		p.entries[key].users++
	}
	return p
}

// get returns the data of a trial, which calls release once it is done with it.
func (p *prepared) get(t train.Trial) (*train.Data, error) {
	p.mu.Lock()
	e := p.entries[t.Preparation()]
	p.mu.Unlock()
	e.once.Do(func() { e.data, e.err = train.Prepare(p.data, t.Preparation()) })
	return e.data, e.err
}

func (p *prepared) release(t train.Trial) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := t.Preparation()
	if e := p.entries[key]; e.users > 1 {
		e.users--
	} else {
		delete(p.entries, key)
	}
}
