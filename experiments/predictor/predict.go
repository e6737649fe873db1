// Package predictor predicts with a trained model. A Model is opened once, with the record of its
// run; a Predictor is one with the candidates and what corrects, calibrates and adapts its scores.
// It answers scores, predictions of many samples, and the prediction of one sample with the reasons
// for it: contributions of groups and of the correction, which add up to the log odds.
//
// Commands and the page print what it answers. Training and the choice of settings are not part of
// it; package evaluation measures accuracy.
package predictor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model"
)

// Listing says what is kept of the prediction of each sample.
type Listing struct {
	Top        int     // best classes, at least 1
	Confidence float64 // lowest probability of the best class for which it is predicted; 0 never abstains
	Reasons    bool    // a sentence that says why, for models of LAGO without adaptation
}

// Predictions are those of the samples of a source, in their order.
type Predictions struct {
	Candidates Candidates
	Listing
	Temperature float64 // of the probabilities; 0: the values are scores
	Samples     []Prediction
	Adapted     *Adapted // nil if the predictions are not adapted
}

// Prediction is that of one sample.
type Prediction struct {
	Index     int
	ID, Class string  // Class is the true one; "" if they are not known
	Best      []Value // best first
	Abstained bool
	Reason    string // "" without one
}

// Value is the probability or the score of a candidate.
type Value struct {
	Class int
	Value float64
}

// checkConfidence returns an error if predictions depend on probabilities, and there are none.
func (p *Predictor) checkConfidence(l Listing, adapted bool) error {
	if l.Confidence == 0 || p.Temperature > 0 || adapted {
		return nil
	}
	return &invalid.Error{
		Field: "min_confidence", Want: "a model of LAGO, whose scores are probabilities, or a temperature",
		Hint: "lago-train evaluate fits a --temperature.",
	}
}

// Predict predicts the samples of src. Features are in memory one block after the other, unless
// predictions are adapted: then all of them are, with two numbers per sample and class.
func (p *Predictor) Predict(ctx context.Context, src Source, l Listing) (*Predictions, error) {
	if err := p.checkConfidence(l, p.Adapts()); err != nil {
		return nil, err
	}
	scorer, err := model.NewScorer(p.Pipeline, p.Candidates.U)
	if err != nil {
		return nil, err
	}
	return p.predict(ctx, src, scorer, l)
}

func (p *Predictor) predict(ctx context.Context, src Source, scorer model.Scorer, l Listing) (*Predictions, error) {
	_, err := p.LAGO()
	explained := l.Reasons && err == nil && len(p.Candidates.Names) > 1
	r := &Predictions{Candidates: p.Candidates, Listing: l, Temperature: p.Temperature}
	if p.Adapts() {
		err = p.adaptAll(ctx, src, scorer, r)
	} else {
		rows := blockRows(src.Cols(), len(p.Candidates.Names))
		scores := dataset.NewMatrix[float32](rows, len(p.Candidates.Names))
		err = eachBlock(ctx, src, rows, func(x dataset.Matrix[float32]) error {
			first, s := len(r.Samples), scores.Slice(0, x.Rows)
			if err := scorer(x, s); err != nil {
				return err
			}
			if err := r.add(s); err != nil || !explained {
				return err
			}
			for i := range x.Rows {
				a, err := p.Answer(x, i)
				if err != nil {
					return err
				}
				c, err := a.Compare(Other{a.Order[1], RunnerUp})
				if err != nil {
					return err
				}
				r.Samples[first+i].Reason = c.Sentence()
			}
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	known, ok := src.(Identified)
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.Index = i; ok {
			s.Index, s.ID, s.Class = known.Sample(i)
		}
	}
	return r, nil
}

// add ranks the classes of further samples by their scores.
func (r *Predictions) add(scores dataset.Matrix[float32]) error {
	first := len(r.Samples)
	r.Samples = append(r.Samples, make([]Prediction, scores.Rows)...)
	added := r.Samples[first:]
	parallel.For(len(added), 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			added[i].Best = r.rank(scores.Row(i))
		}
	})
	for i, s := range added {
		if s.Best == nil {
			return &invalid.Error{Where: fmt.Sprintf("sample %d", first+i), Want: "finite scores", Got: "NaN", Hint: "Train the model again."}
		}
		added[i].Abstained = r.Confidence > 0 && s.Best[0].Value < r.Confidence
	}
	return nil
}

// rank finds the classes with the highest scores, and their values; nil if a score is NaN. Ties
// keep the order of the classes.
func (r *Predictions) rank(scores []float32) []Value {
	top := min(r.Top, len(scores))
	best := make([]Value, 0, top+1)
	for z, s := range scores {
		if s != s {
			return nil
		}
		place := len(best)
		for place > 0 && float64(s) > best[place-1].Value {
			place--
		}
		if place < top {
			best = slices.Insert(best, place, Value{z, float64(s)})
			best = best[:min(len(best), top)]
		}
	}
	if r.Temperature > 0 {
		highest, sum := best[0].Value, 0.0
		for _, s := range scores {
			sum += math.Exp((float64(s) - highest) / r.Temperature)
		}
		for i, b := range best {
			best[i].Value = math.Exp((b.Value-highest)/r.Temperature) / sum
		}
	}
	return best
}

// Count summarises predictions.
type Count struct {
	Samples, Abstained int
	Known              int // samples whose true class is known
	Outside            int // of these, those whose true class is no candidate
	Correct            int // samples predicted correctly
}

// Count counts the samples, and those predicted correctly.
func (r *Predictions) Count() Count {
	candidate := map[string]bool{}
	for _, name := range r.Candidates.Names {
		candidate[name] = true
	}
	c := Count{Samples: len(r.Samples)}
	for _, s := range r.Samples {
		switch {
		case s.Class != "" && !candidate[s.Class]:
			c.Outside++
		case !s.Abstained && s.Class == r.Candidates.Names[s.Best[0].Class]:
			c.Correct++
		}
		if s.Class != "" {
			c.Known++
		}
		if s.Abstained {
			c.Abstained++
		}
	}
	return c
}

// Blocks are large enough to be scored fast, and bounded for any number of classes.
const (
	blockNumbers = 1 << 20 // n x D and n x Z
	leastSamples = 64      // unless n x Z would be exceeded
	mostSamples  = 1024
)

func blockRows(dims, classes int) int {
	return min(max(blockNumbers/max(dims, 1), leastSamples), mostSamples, max(blockNumbers/classes, 1))
}

// eachBlock calls do with blocks of up to so many samples, and reads the next one meanwhile. A block
// is valid until do returns. It ends when src is no longer read.
func eachBlock(ctx context.Context, src Source, rows int, do func(x dataset.Matrix[float32]) error) (err error) {
	type block struct {
		all, read dataset.Matrix[float32]
		err       error
	}
	ctx, cancel := context.WithCancel(ctx)
	free, filled := make(chan dataset.Matrix[float32], 2), make(chan block)
	for range cap(free) {
		free <- dataset.NewMatrix[float32](rows, src.Cols())
	}
	go func() {
		defer close(filled)
		for ctx.Err() == nil {
			x := <-free
			n, err := src.Read(x)
			if n == 0 && errors.Is(err, io.EOF) {
				return
			}
			filled <- block{x, x.Slice(0, n), err}
		}
	}()
	defer cancel()
	for b := range filled {
		if err = cmp.Or(err, b.err, ctx.Err()); err == nil {
			err = do(b.read)
		}
		if err != nil {
			cancel()
		}
		free <- b.all
	}
	return cmp.Or(err, ctx.Err())
}

// Source supplies samples. A *features.Reader is one.
type Source interface {
	Cols() int // D
	// Read fills the first rows of a block of D columns and returns their number, which
	// is smaller than the block only at the end. After the last sample the error is io.EOF.
	Read(block dataset.Matrix[float32]) (int, error)
}

// Identified is a Source that knows ids or true classes of its samples.
type Identified interface {
	Source
	// Sample returns the index, id and true class of the i-th sample, "" if they are not known.
	Sample(i int) (index int, id, class string)
}

// Samples is a Source of samples of a data set. Their true classes are known.
type Samples struct {
	Data *dataset.Dataset
	Rows []int
	next int
}

// Cols implements Source.
func (s *Samples) Cols() int { return s.Data.Features.Cols }

// Read implements Source.
func (s *Samples) Read(block dataset.Matrix[float32]) (int, error) {
	if s.next == len(s.Rows) {
		return 0, io.EOF
	}
	n := min(block.Rows, len(s.Rows)-s.next)
	block.CopyRows(s.Data.Features, s.Rows[s.next:s.next+n])
	s.next += n
	return n, nil
}

// Sample implements Identified. The index is the row in the data set.
func (s *Samples) Sample(i int) (index int, id, class string) {
	index = s.Rows[i]
	if s.Data.IDs != nil {
		id = s.Data.IDs[index]
	}
	return index, id, s.Data.Classes[s.Data.Labels[index]]
}
