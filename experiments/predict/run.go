package predict

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model"
)

// Blocks are large enough to be scored fast, and few: one is read while another is
// scored and a third is written.
const (
	blocks       = 3
	blockNumbers = 1 << 20 // n x D
	leastSamples = 64
	mostSamples  = 1024
)

// block is some samples on their way.
type block struct {
	first  int                     // which samples, from 0
	n      int                     // of the rows
	x      dataset.Matrix[float32] // n x D
	scores dataset.Matrix[float32] // n x Z
	ranked []ranked                // n
}

// Count is what came of a run.
type Count struct {
	Samples  int
	Unsure   int // samples that were named no class
	Labelled int // samples whose class is known, and one of those to choose from
	Right    int // of these, those that were named it
}

// Run names the samples of a source and writes a row for each, in their order.
// scorer scores them for the given classes. A cancelled context ends it between two
// blocks.
func Run(ctx context.Context, src Source, scorer model.Scorer, classes []string, o Options, w io.Writer) (Count, error) {
	if err := o.Check(); err != nil {
		return Count{}, err
	}
	out := newWriter(w, classes, o, src)
	if err := out.head(); err != nil {
		return Count{}, err
	}
	p := newPipeline(ctx, src.Cols(), len(classes), o)
	defer p.cancel()
	var wg sync.WaitGroup
	wg.Go(func() { p.end(p.read(src)); close(p.filled) })
	wg.Go(func() { p.end(p.score(scorer)); close(p.scored) })
	p.end(p.write(out))
	wg.Wait()
	return out.count, p.err
}

// pipeline hands blocks round: from free to filled to scored, and back.
type pipeline struct {
	ctx    context.Context
	cancel context.CancelFunc
	o      Options

	free, filled, scored chan *block

	once sync.Once
	err  error // the first
}

func newPipeline(ctx context.Context, dims, classes int, o Options) *pipeline {
	p := &pipeline{o: o, free: make(chan *block, blocks), filled: make(chan *block), scored: make(chan *block)}
	p.ctx, p.cancel = context.WithCancel(ctx)
	n := min(max(blockNumbers/max(dims, 1), leastSamples), mostSamples)
	for range blocks {
		b := &block{x: dataset.NewMatrix[float32](n, dims), scores: dataset.NewMatrix[float32](n, classes), ranked: make([]ranked, n)}
		for i := range b.ranked {
			b.ranked[i].classes = make([]int, 0, min(o.Top, classes))
		}
		p.free <- b
	}
	return p
}

// end keeps the first error, and makes the other stages end too.
func (p *pipeline) end(err error) {
	if err != nil {
		p.once.Do(func() { p.err = err })
		p.cancel()
	}
}

// take and give wait for another stage or for the end of all.
func (p *pipeline) take(from <-chan *block) (*block, error) {
	select {
	case b := <-from:
		return b, nil
	case <-p.ctx.Done():
		return nil, p.ctx.Err()
	}
}

func (p *pipeline) give(to chan<- *block, b *block) error {
	select {
	case to <- b:
		return nil
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

func (p *pipeline) read(src Source) error {
	for first := 0; ; {
		b, err := p.take(p.free)
		if err != nil {
			return err
		}
		b.first = first
		b.n, err = src.Read(b.x)
		if errors.Is(err, io.EOF) && b.n == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		first += b.n
		if err := p.give(p.filled, b); err != nil {
			return err
		}
	}
}

func (p *pipeline) score(scorer model.Scorer) error {
	for {
		b, err := p.take(p.filled)
		if b == nil {
			return err // or the end
		}
		if err := scorer.Score(firstRows(b.x, b.n), firstRows(b.scores, b.n)); err != nil {
			return err
		}
		parallel.For(b.n, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				p.o.rank(&b.ranked[i], b.scores.Row(i))
			}
		})
		if err := p.give(p.scored, b); err != nil {
			return err
		}
	}
}

func firstRows(m dataset.Matrix[float32], n int) dataset.Matrix[float32] {
	return dataset.Matrix[float32]{Rows: n, Cols: m.Cols, Data: m.Data[:n*m.Cols]}
}

func (p *pipeline) write(out *writer) error {
	for {
		b, err := p.take(p.scored)
		if b == nil {
			return err // or the end
		}
		if err := out.write(b); err != nil {
			return err
		}
		p.free <- b
	}
}
