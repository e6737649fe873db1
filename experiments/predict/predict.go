package predict

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model"

	"github.com/lago-train/lago-train/internal/finite"
)

// Options say how samples are predicted and what is written.
type Options struct {
	Top         int     // classes written per sample
	Temperature float64 // T of the probabilities softmax(s/T); 0: write scores
	// Confidence is the lowest probability of the best class for which it is predicted.
	// Below it, Run abstains. 0 never abstains.
	Confidence float64
	Format     Format
}

// Check returns an *invalid.Error for the first option that is out of range. Its Where
// is the name of the command's flag.
func (o Options) Check() error {
	switch {
	case o.Top < 1:
		return &invalid.Error{Where: "--top", Want: "at least 1", Got: fmt.Sprint(o.Top)}
	case !(o.Temperature >= 0 && finite.Is(o.Temperature)):
		return &invalid.Error{Where: "--temperature", Want: "a finite number above 0", Got: fmt.Sprint(o.Temperature)}
	case !(o.Confidence >= 0 && o.Confidence <= 1):
		return &invalid.Error{Where: "--min-confidence", Want: "a probability from 0 to 1", Got: fmt.Sprint(o.Confidence)}
	case o.Confidence > 0 && o.Temperature == 0:
		return &invalid.Error{
			Where: "--min-confidence", Want: "a model of LAGO, whose scores are probabilities, or --temperature",
			Hint: "evaluate fits a temperature.",
		}
	}
	return nil
}

// Count summarises a run.
type Count struct {
	Samples   int
	Abstained int
	Labelled  int // samples whose true class is known and is one of the candidates
	Correct   int // of these, samples predicted correctly
}

// Run predicts the classes of all samples of src and writes one row per sample, in
// their order. scorer scores samples for the given classes. Run returns soon after ctx
// is cancelled, even if src blocks in Read; src must not be used any more then.
func Run(ctx context.Context, src Source, scorer model.Scorer, classes []string, o Options, w io.Writer) (Count, error) {
	if err := o.Check(); err != nil {
		return Count{}, err
	}
	if len(classes) == 0 {
		return Count{}, &invalid.Error{Where: "classes", Want: "at least one to choose from", Got: "none"}
	}
	out := newOutput(w, classes, o, src)
	if err := cmp.Or(out.header(), out.flush()); err != nil {
		return Count{}, err
	}
	p := newPipeline(ctx, src.Cols(), len(classes), o)
	defer p.cancel(nil)
	var scoring sync.WaitGroup
	go func() { p.end(p.read(src)); close(p.filled) }()
	scoring.Go(func() { p.end(p.score(scorer)); close(p.scored) })
	p.end(p.write(out))
	scoring.Wait()
	return out.count, context.Cause(p.ctx)
}

// Blocks are large enough to be scored fast, and bounded for any number of classes.
const (
	blocks       = 3       // one each to read, score and write
	blockNumbers = 1 << 20 // n x D and n x Z
	minSamples   = 64      // unless n x Z would be exceeded
	maxSamples   = 1024
)

type block struct {
	first  int                     // index of the first sample
	n      int                     // samples in the block
	x      dataset.Matrix[float32] // n x D
	scores dataset.Matrix[float32] // n x Z
	ranked []ranking               // n
}

// pipeline passes blocks around: from free to filled to scored, and back.
type pipeline struct {
	ctx    context.Context // its cause is the first error
	cancel context.CancelCauseFunc
	o      Options

	free, filled, scored chan *block
}

func newPipeline(ctx context.Context, dims, classes int, o Options) *pipeline {
	p := &pipeline{o: o, free: make(chan *block, blocks), filled: make(chan *block), scored: make(chan *block)}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	n := min(max(blockNumbers/max(dims, 1), minSamples), maxSamples, max(blockNumbers/classes, 1))
	for range blocks {
		p.free <- &block{x: dataset.NewMatrix[float32](n, dims), scores: dataset.NewMatrix[float32](n, classes), ranked: make([]ranking, n)}
	}
	return p
}

// end cancels the other stages if one failed.
func (p *pipeline) end(err error) {
	if err != nil {
		p.cancel(err)
	}
}

// receive returns the next block of another stage, nil after its last one.
func (p *pipeline) receive(from <-chan *block) (*block, error) {
	select {
	case b := <-from:
		return b, nil
	case <-p.ctx.Done():
		return nil, p.ctx.Err()
	}
}

func (p *pipeline) send(to chan<- *block, b *block) error {
	select {
	case to <- b:
		return nil
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

func (p *pipeline) read(src Source) error {
	for first := 0; ; {
		b, err := p.receive(p.free)
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
		if err := p.send(p.filled, b); err != nil {
			return err
		}
	}
}

func (p *pipeline) score(scorer model.Scorer) error {
	for {
		b, err := p.receive(p.filled)
		if b == nil {
			return err
		}
		if err := scorer.Score(b.x.Slice(0, b.n), b.scores.Slice(0, b.n)); err != nil {
			return err
		}
		parallel.For(b.n, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				p.o.rank(&b.ranked[i], b.scores.Row(i))
			}
		})
		for i := range b.n {
			if b.ranked[i].classes == nil {
				return &invalid.Error{Where: fmt.Sprintf("sample %d", b.first+i), Want: "finite scores", Got: "NaN", Hint: "Train the model again."}
			}
		}
		if err := p.send(p.scored, b); err != nil {
			return err
		}
	}
}

func (p *pipeline) write(out *output) error {
	for {
		b, err := p.receive(p.scored)
		if b == nil {
			return err
		}
		if err := out.writeBlock(b); err != nil {
			return err
		}
		p.free <- b
	}
}

// ranking is the best classes of one sample.
type ranking struct {
	classes []int     // best first; nil if a score is NaN
	values  []float64 // their probabilities or scores
	abstain bool
}

// rank finds the classes with the highest scores. Ties keep the order of the classes.
func (o Options) rank(r *ranking, scores []float32) {
	r.classes, r.values = r.classes[:0], r.values[:0]
	for z, s := range scores {
		if s != s {
			r.classes = nil
			return
		}
		place := len(r.classes)
		for place > 0 && s > scores[r.classes[place-1]] {
			place--
		}
		if place == o.Top {
			continue
		}
		if len(r.classes) < o.Top {
			r.classes = append(r.classes, 0)
		}
		copy(r.classes[place+1:], r.classes[place:])
		r.classes[place] = z
	}
	for _, z := range r.classes {
		r.values = append(r.values, float64(scores[z]))
	}
	if o.Temperature > 0 {
		o.softmax(r.values, scores)
	}
	r.abstain = o.Confidence > 0 && r.values[0] < o.Confidence
}

// softmax turns the highest scores into probabilities among all classes.
func (o Options) softmax(values []float64, scores []float32) {
	top := values[0]
	var sum float64
	for _, s := range scores {
		sum += math.Exp((float64(s) - top) / o.Temperature)
	}
	for i, s := range values {
		values[i] = math.Exp((s-top)/o.Temperature) / sum
	}
}
