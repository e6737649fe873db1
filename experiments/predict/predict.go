// Package predict predicts the classes of samples with a trained model.
//
// Samples stream through in blocks: one block is read while another is scored and a
// third is written, so memory does not grow with the number of samples. Package
// candidates gathers the classes to choose from; package evaluation measures accuracy,
// and package explain says which attributes led to a prediction.
package predict

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/numeric"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// Options say how samples are predicted and what is written.
type Options struct {
	Top         int     // classes written per sample
	Temperature float64 // T of the probabilities softmax(s/T); 0: write scores
	// Confidence is the lowest probability of the best class for which it is predicted.
	// Below it, Run abstains. 0 never abstains.
	Confidence float64
	Format     Format
	Sheet      *Sheet // of the format HTML: Run fills it, and writes CSV
}

// Check returns an *invalid.Error for the first option that is out of range.
func (o Options) Check() error {
	switch {
	case o.Top < 1:
		return &invalid.Error{Field: "top", Want: "at least 1", Got: fmt.Sprint(o.Top)}
	case !(o.Temperature >= 0 && numeric.Finite(o.Temperature)):
		return &invalid.Error{Field: "temperature", Want: "a finite number above 0", Got: fmt.Sprint(o.Temperature)}
	case !(o.Confidence >= 0 && o.Confidence <= 1):
		return &invalid.Error{Field: "min-confidence", Want: "a probability from 0 to 1", Got: fmt.Sprint(o.Confidence)}
	case o.Confidence > 0 && o.Temperature == 0:
		return &invalid.Error{
			Field: "min-confidence", Want: "a model of LAGO, whose scores are probabilities, or a temperature",
			Hint: "lago-train evaluate fits a --temperature.",
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
// their order. scorer scores samples for the given classes.
func Run(ctx context.Context, src Source, scorer model.Scorer, classes []string, o Options, w io.Writer) (Count, error) {
	return o.run(ctx, src, scorer, newOutput(w, classes, o, src))
}

// RunAdapted is Run with predictions adapted to all samples of src together, by the settings
// of m. It reads all of src before it writes, and keeps the features and two numbers per
// sample and class in memory. If there are too few samples to adapt to and force is not set,
// predictions are those of Run, and the adapted ones have no Result.
func RunAdapted(
	ctx context.Context, src Source, m *train.Saved, scorer model.Scorer, classes []string, force bool, o Options, w io.Writer,
) (Count, *adaptation.Predictions, error) {
	p, err := adaptation.PredictAll(ctx, src, m, scorer, len(classes), force)
	if err != nil {
		return Count{}, nil, err
	}
	if p.Result == nil {
		given := func(x, scores dataset.Matrix[float32]) error {
			copy(scores.Data, x.Data)
			return nil
		}
		s := p.Scores()
		count, err := o.run(ctx, &Samples{d: &dataset.Dataset{Features: s}, rows: s.AllRows()}, given, newOutput(w, classes, o, src))
		return count, p, err
	}
	o.Temperature = 1 // of log P
	if o.Sheet != nil {
		o.Sheet.Reason = nil // it is that of predictions that are not adapted
	}
	posteriors := &Samples{d: &dataset.Dataset{Features: p.P}, rows: p.P.AllRows()}
	logarithms := func(p, scores dataset.Matrix[float32]) error {
		for i, v := range p.Data {
			scores.Data[i] = float32(math.Log(float64(v)))
		}
		return nil
	}
	count, err := o.run(ctx, posteriors, logarithms, newOutput(w, classes, o, src))
	return count, p, err
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

func newBlocks(dims, classes int) chan *block {
	list := make(chan *block, blocks)
	n := min(max(blockNumbers/max(dims, 1), minSamples), maxSamples, max(blockNumbers/classes, 1))
	for range blocks {
		list <- &block{x: dataset.NewMatrix[float32](n, dims), scores: dataset.NewMatrix[float32](n, classes), ranked: make([]ranking, n)}
	}
	return list
}

// run passes blocks around: from free to filled to scored, and back. After an error blocks are
// passed on as they are, until all are back.
func (o Options) run(ctx context.Context, src Source, score model.Scorer, out *output) (Count, error) {
	err := o.Check()
	if err == nil {
		err = out.flush() // the header
	}
	if err != nil {
		return Count{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx) // the cause is the first error
	defer cancel(nil)
	free, filled, scored := newBlocks(src.Cols(), len(out.classes)), make(chan *block), make(chan *block)
	go func() {
		defer close(filled)
		for next := 0; ctx.Err() == nil; {
			b := <-free
			n, err := src.Read(b.x)
			if n == 0 && errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				cancel(err)
			}
			b.first, b.n, next = next, n, next+n
			filled <- b
		}
	}()
	work := func(b *block, f func(*block) error) {
		if ctx.Err() != nil {
			return
		}
		if err := f(b); err != nil {
			cancel(err)
		}
	}
	go func() {
		defer close(scored)
		for b := range filled {
			work(b, func(b *block) error { return score(b.x.Slice(0, b.n), b.scores.Slice(0, b.n)) })
			work(b, o.rankBlock)
			scored <- b
		}
	}()
	for b := range scored {
		work(b, out.writeBlock)
		free <- b
	}
	return out.count, context.Cause(ctx)
}

// rankBlock ranks the classes of the samples of a block by their scores.
func (o Options) rankBlock(b *block) error {
	parallel.For(b.n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			o.rank(&b.ranked[i], b.scores.Row(i))
		}
	})
	if i := slices.IndexFunc(b.ranked[:b.n], func(r ranking) bool { return r.classes == nil }); i >= 0 {
		return &invalid.Error{Where: fmt.Sprintf("sample %d", b.first+i), Want: "finite scores", Got: "NaN", Hint: "Train the model again."}
	}
	return nil
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
		if place < o.Top {
			r.classes = slices.Insert(r.classes, place, z)
			r.classes = r.classes[:min(len(r.classes), o.Top)]
		}
	}
	top, sum := float64(scores[r.classes[0]]), 0.0
	if o.Temperature > 0 {
		for _, s := range scores {
			sum += math.Exp((float64(s) - top) / o.Temperature)
		}
	}
	for _, z := range r.classes {
		v := float64(scores[z])
		if o.Temperature > 0 {
			v = math.Exp((v-top)/o.Temperature) / sum
		}
		r.values = append(r.values, v)
	}
	r.abstain = o.Confidence > 0 && r.values[0] < o.Confidence
}

// Source supplies samples. A *features.Reader is one.
type Source = adaptation.Source

// Identified is a Source that knows ids or true classes of its samples.
type Identified interface {
	Source
	Len() int // number of samples
	// Sample returns the index, id and true class of the i-th sample, "" if they are not known.
	Sample(i int) (index int, id, class string)
}

// Outside counts the samples of a source whose true class is known, and those of them that belong
// to none of some classes.
func Outside(src Source, classes []string) (outside, known int) {
	s, ok := src.(Identified)
	if !ok {
		return 0, 0
	}
	among := map[string]bool{}
	for _, name := range classes {
		among[name] = true
	}
	for i := range s.Len() {
		if _, _, class := s.Sample(i); class != "" {
			known++
			if !among[class] {
				outside++
			}
		}
	}
	return outside, known
}

// OpenFeatures opens a file of features for a model; "-" is CSV on standard input.
func OpenFeatures(ctx context.Context, path string, m *train.Saved) (*features.Reader, error) {
	r, err := features.Open(ctx, path)
	if err != nil || r.Cols() == m.Dims {
		return r, err
	}
	return nil, errors.Join(&invalid.Error{
		Where: path, Want: fmt.Sprintf("%d features per sample, as the model was trained on", m.Dims), Got: fmt.Sprint(r.Cols()),
	}, r.Close())
}

// Samples is a Source of samples of a data set. Their true classes are known.
type Samples struct {
	d    *dataset.Dataset
	rows []int
	next int
}

// SamplesOf returns the samples of the selected classes.
func SamplesOf(d *dataset.Dataset, s candidates.Selection) *Samples {
	return &Samples{d: d, rows: d.SamplesOf(s.Classes(d))}
}

// Cols implements Source.
func (s *Samples) Cols() int { return s.d.Features.Cols }

// Read implements Source.
func (s *Samples) Read(block dataset.Matrix[float32]) (int, error) {
	if s.next == len(s.rows) {
		return 0, io.EOF
	}
	n := min(block.Rows, len(s.rows)-s.next)
	block.CopyRows(s.d.Features, s.rows[s.next:s.next+n])
	s.next += n
	return n, nil
}

// Len implements Identified.
func (s *Samples) Len() int { return len(s.rows) }

// Sample implements Identified. The index is the row in the data set.
func (s *Samples) Sample(i int) (index int, id, class string) {
	index = s.rows[i]
	if s.d.IDs != nil {
		id = s.d.IDs[index]
	}
	return index, id, s.d.Classes[s.d.Labels[index]]
}
