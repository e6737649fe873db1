package predictor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train/metrics"
)

// Listing says what is kept of the prediction of each sample.
type Listing struct {
	Top        int     // best classes, at least 1
	Confidence float64 // lowest probability of the best class for which it is predicted; 0 never abstains
	Fit        float64 // lowest fit with which it is predicted; 0 never abstains
	// Reason says why a class is predicted rather than the next one, for models of LAGO without adaptation;
	// nil leaves the reasons out.
	Reason func(*Comparison) string
}

// Predictions are those of the samples of a source, in their order.
type Predictions struct {
	Candidates Candidates
	Listing
	Temperature float64    // of the probabilities; 0: the values are scores
	Fits        *model.Fit // of held-out samples; nil if it was not measured
	Samples     []Prediction
	Adapted     *Adapted // nil if the predictions are not adapted
	zero        []int    // samples whose features are all 0
}

// Prediction is that of one sample.
type Prediction struct {
	Index     int
	ID, Class string  // Class is the true one; "" if they are not known
	Best      []Value // best first
	// share of the held-out samples of described classes that fit their best class less well
	Fit       float64
	Abstained bool
	Reason    string // "" without one
}

// Value is the probability or the score of a candidate.
type Value struct {
	Class int
	Value float64
}

// Predict predicts the samples of src. Features are in memory one block after the other, unless
// predictions are adapted: then all of them are, with two numbers per sample and class.
func (p *Predictor) Predict(ctx context.Context, src Source, l Listing) (*Predictions, error) {
	scorer, err := model.NewStream(p.Pipeline, p.Candidates.U, p.Decision.Fit != nil)
	if err != nil {
		return nil, err
	}
	return p.predict(ctx, src, scorer, l)
}

func (p *Predictor) predict(ctx context.Context, src Source, scorer model.Stream,
	l Listing,
) (*Predictions, error) {
	r := &Predictions{Candidates: p.Candidates, Listing: l, Temperature: p.Temperature, Fits: p.Decision.Fit}
	if l.Fit > 0 && r.Fits == nil {
		return nil, &invalid.Error{
			Field: "min_fit", Want: "a model with the fit of held-out samples", Got: p.Path + " without",
			Hint: "Repeat the command that trained it, lago-train run with --stage full: finished runs are " +
				"reused, and their models get it.",
		}
	}
	rows := blockRows(src.Cols(), len(p.Candidates.Names))
	if p.Adapts() {
		rows = adaptRows
	} else if err := r.checkConfidence(); err != nil {
		return nil, err
	}
	var batch []adapt.Block
	var fits []float64
	read := 0
	err := eachBlock(ctx, src, rows, func(x dataset.Matrix[float32]) (err error) {
		scores, fit := dataset.NewMatrix[float32](x.Rows, len(p.Candidates.Names)), []float64(nil)
		if r.Fits != nil {
			fit = make([]float64, x.Rows)
		}
		if err := scorer(x, scores, fit); err != nil {
			return err
		}
		for i := range x.Rows {
			if IsZero(x.Row(i)) {
				r.zero = append(r.zero, read+i)
			}
		}
		fits, read = append(fits, fit...), read+x.Rows
		if p.Adapts() {
			b := adapt.Block{Scores: scores}
			b.X, err = p.AdaptedFeatures().Apply(x, x.AllRows())
			batch = append(batch, b)
			return err
		}
		if err := r.add(scores, p.decided); err != nil {
			return err
		}
		return p.addReasons(r, x)
	})
	if err == nil && p.Adapts() {
		err = p.adapt(batch, r)
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
		if r.Fits != nil {
			s.Fit = p.fitShare(fits[i])
			s.Abstained = s.Abstained || s.Fit < l.Fit
		}
	}
	return r, nil
}

func (p *Predictor) addReasons(r *Predictions, x dataset.Matrix[float32]) error {
	_, err := p.LAGO()
	if r.Reason == nil || err != nil || len(p.Candidates.Names) < 2 {
		return nil
	}
	last := r.Samples[len(r.Samples)-x.Rows:]
	for i := range last {
		e, err := Explain(Question{Predictor: p, X: x, Row: i})
		if err != nil {
			return err
		}
		last[i].Reason = r.Reason(&e.Comparisons[0])
	}
	return nil
}

func (p *Predictor) adapt(batch []adapt.Block, r *Predictions) (err error) {
	if len(batch) == 0 {
		return &invalid.Error{Field: "adapt", Want: "at least one sample", Got: "none"}
	}
	if r.Adapted, err = Adapt(batch, p.Decision.Adaptation.Settings); err != nil {
		return err
	}
	if !r.Adapted.Declined {
		r.Temperature = 1
		return r.add(r.Adapted.P, func(probabilities []float32) []float64 {
			row := dataset.Matrix[float32]{Rows: 1, Cols: len(probabilities), Data: probabilities}
			return dataset.Convert[float64](metrics.LogProbabilities(row)).Data
		})
	}
	err = r.checkConfidence()
	for _, b := range batch {
		if err == nil {
			err = r.add(b.Scores, p.decided)
		}
	}
	return err
}

func (r *Predictions) checkConfidence() error {
	if r.Confidence == 0 || r.Temperature > 0 {
		return nil
	}
	return &invalid.Error{
		Field: "min_confidence", Want: "a model of LAGO, whose scores are probabilities, or a temperature",
		Hint: "lago-train evaluate fits a --temperature.",
	}
}

// add ranks the classes of further samples by their scores as decide returns them.
func (r *Predictions) add(scores dataset.Matrix[float32], decide func([]float32) []float64) error {
	first := len(r.Samples)
	r.Samples = append(r.Samples, make([]Prediction, scores.Rows)...)
	added := r.Samples[first:]
	parallel.For(len(added), 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			best := r.rank(decide(scores.Row(i)))
			added[i] = Prediction{
				Best: best, Abstained: best != nil && r.Confidence > 0 && best[0].Value < r.Confidence,
			}
		}
	})
	if i := slices.IndexFunc(added, func(s Prediction) bool { return s.Best == nil }); i >= 0 {
		return &invalid.Error{
			Where: fmt.Sprintf("sample %d", first+i), Want: "finite scores", Got: "NaN",
			Hint: "Train the model again.",
		}
	}
	return nil
}

// rank finds the classes with the highest scores, and their values; nil if a score is NaN. Ties
// keep the order of the classes.
func (r *Predictions) rank(scores []float64) []Value {
	top := min(r.Top, len(scores))
	best := make([]Value, 0, top+1)
	for z, s := range scores {
		if s != s {
			return nil
		}
		place := len(best)
		for place > 0 && s > best[place-1].Value {
			place--
		}
		if place < top {
			best = slices.Insert(best, place, Value{z, s})
			best = best[:min(len(best), top)]
		}
	}
	if r.Temperature > 0 {
		highest, sum := best[0].Value, 0.0
		for _, s := range scores {
			sum += math.Exp(s - highest)
		}
		for i, b := range best {
			best[i].Value = math.Exp(b.Value-highest) / sum
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
	c := Count{Samples: len(r.Samples)}
	for _, s := range r.Samples {
		switch {
		case s.Class != "" && !slices.Contains(r.Candidates.Names, s.Class):
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

const (
	LowFit = 0.05 // a fit below which a sample may be of none of the candidates

	unlikely = 1e-3 // of so many samples with a low fit, if all were like held-out ones
	// farMore is how many times as many make a warning: samples of other classes than the held-out ones have
	// up to twice as many.
	farMore = 3
)

// Warnings say what makes the predictions worth little: far more samples with a low fit than expected, and
// samples whose features are all 0.
func (r *Predictions) Warnings() (list []string) {
	low := 0
	for _, s := range r.Samples {
		if r.Fits != nil && s.Fit < LowFit {
			low++
		}
	}
	n := float64(len(r.Samples))
	chance := distuv.Binomial{N: n, P: LowFit}.Survival(float64(low) - 1)
	if low > 0 && chance < unlikely && float64(low) > farMore*LowFit*n {
		list = append(list, fmt.Sprintf("%d of %s fit their best class less well than 95 %% of the "+
			"held-out samples fit theirs, where %.0f were expected. "+
			"Usual causes: features of another network or preprocessing, columns or colours in another "+
			"order, samples of classes that are no candidates, descriptions of few attributes",
			low, format.Count(len(r.Samples), "sample"), LowFit*n))
	}
	var zero []string
	for _, i := range r.zero {
		zero = append(zero, cmp.Or(r.Samples[i].ID, strconv.Itoa(r.Samples[i].Index)))
	}
	if len(zero) > 0 {
		list = append(list, ZeroText(zero))
	}
	return list
}

// ZeroText says what samples with these names, whose features are all 0, are worth.
func ZeroText(names []string) string {
	const few = 5 // to name
	return fmt.Sprintf("the features of %s are all 0, among them %s: their predictions say nothing",
		format.Count(len(names), "sample"),
		format.Printable(strings.Join(names[:min(few, len(names))], ", ")))
}

// IsZero reports whether the features of a sample are all 0.
func IsZero(x []float32) bool {
	return !slices.ContainsFunc(x, func(v float32) bool { return v != 0 })
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

func (s *Samples) Cols() int { return s.Data.Features.Cols }

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

// Blocks are large enough to be scored fast, and bounded for any number of classes.
const (
	blockNumbers = 1 << 20 // n x D and n x Z
	leastSamples = 64      // unless n x Z would be exceeded
	mostSamples  = 1024
	adaptRows    = 1024 // of a batch to adapt to
)

func blockRows(dims, classes int) int {
	return min(max(blockNumbers/max(dims, 1), leastSamples), mostSamples, max(blockNumbers/classes, 1))
}

// eachBlock calls do with blocks of up to so many samples. A block is valid until do returns.
func eachBlock(ctx context.Context, src Source, rows int, do func(x dataset.Matrix[float32]) error) error {
	block := dataset.NewMatrix[float32](rows, src.Cols())
	for {
		n, err := src.Read(block)
		if n == 0 && errors.Is(err, io.EOF) {
			return ctx.Err()
		}
		if err = cmp.Or(err, ctx.Err()); err == nil {
			err = do(block.Slice(0, n))
		}
		if err != nil {
			return err
		}
	}
}

// Adapted is the predictions for a batch, adapted to it unless they are Declined.
type Adapted struct {
	*adapt.Mixture
	Changed int // number of predictions that differ from those of the scores
}

// Adapt normalises a batch in place and adapts the predictions to it, see adapt.Fit.
func Adapt(blocks []adapt.Block, s adapt.Settings) (*Adapted, error) {
	adapt.Normalise(blocks)
	r, err := adapt.Fit(blocks, s)
	if err != nil {
		return nil, err
	}
	a, row := &Adapted{Mixture: r}, 0
	for _, b := range blocks {
		for i := range b.Scores.Rows {
			if metrics.Argmax(b.Scores.Row(i)) != metrics.Argmax(r.P.Row(row)) {
				a.Changed++
			}
			row++
		}
	}
	return a, nil
}
