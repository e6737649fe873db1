// Package predictor predicts with a trained model: a Predictor is a Model with the candidates and what
// corrects, calibrates and adapts its scores. It answers predictions of many samples, and that of one
// sample with its reasons: contributions of groups and of the correction, which add up to the log odds.
// Commands and the page print what it answers; package evaluation measures accuracy.
package predictor

import (
	"cmp"
	"context"
	"fmt"
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
	if l.Fit > 0 && p.Decision.Fit == nil {
		return nil, &invalid.Error{
			Field: "min_fit", Want: "a model with the fit of held-out samples", Got: p.Path + " without",
			Hint: "Repeat the command that trained it, lago-train run with --stage full: finished runs are " +
				"reused, and their models get it.",
		}
	}
	if !p.Adapts() {
		if err := r.checkConfidence(); err != nil {
			return nil, err
		}
	}
	_, err := p.LAGO()
	explained, rows := l.Reason != nil && err == nil &&
		len(p.Candidates.Names) > 1, blockRows(src.Cols(), len(p.Candidates.Names))
	if p.Adapts() {
		rows = adaptRows
	}
	var batch []adapt.Block
	var fits []float64
	read := 0
	err = eachBlock(ctx, src, rows, func(x dataset.Matrix[float32]) error {
		first, scores := len(r.Samples), dataset.NewMatrix[float32](x.Rows, len(p.Candidates.Names))
		fit := make([]float64, x.Rows)
		if p.Decision.Fit == nil {
			fit = nil
		}
		for i := range x.Rows {
			if IsZero(x.Row(i)) {
				r.zero = append(r.zero, read+i)
			}
		}
		read += x.Rows
		err := scorer(x, scores, fit)
		fits = append(fits, fit...)
		switch {
		case err != nil:
			return err
		case p.Adapts():
			b := adapt.Block{Scores: scores}
			b.X, err = p.AdaptedFeatures().Apply(x, x.AllRows())
			batch = append(batch, b)
			return err
		}
		err = r.add(scores)
		for i := 0; explained && err == nil && i < x.Rows; i++ {
			r.Samples[first+i].Reason, err = p.reason(x, i, l.Reason)
		}
		return err
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
		if p.Decision.Fit != nil {
			s.Fit = p.Decision.Fit.Share(fits[i], len(p.Candidates.Names))
			s.Abstained = s.Abstained || s.Fit < l.Fit
		}
	}
	return r, nil
}

// reason says why a sample is predicted as it is.
func (p *Predictor) reason(x dataset.Matrix[float32], row int, say func(*Comparison) string) (string, error) {
	a, err := p.Answer(x, row)
	if err != nil {
		return "", err
	}
	c, err := a.Compare(Other{a.Order[1], RunnerUp})
	if err != nil {
		return "", err
	}
	return say(c), nil
}

// adapt predicts a batch of samples together, unless adaptation to it is declined.
func (p *Predictor) adapt(batch []adapt.Block, r *Predictions) (err error) {
	if len(batch) == 0 {
		return &invalid.Error{Field: "adapt", Want: "at least one sample", Got: "none"}
	}
	if r.Adapted, err = Adapt(batch, p.Decision.Adaptation.Settings); err != nil {
		return err
	}
	if r.Adapted.Declined {
		err = r.checkConfidence()
		for _, b := range batch {
			if err == nil {
				err = r.add(b.Scores)
			}
		}
		return err
	}
	r.Temperature = 1 // of log P
	for row := range r.Adapted.P.Rows {
		if err := r.add(metrics.LogProbabilities(r.Adapted.P.Slice(row, row+1))); err != nil {
			return err
		}
	}
	return nil
}

// checkConfidence returns an error if predictions depend on probabilities, and there are none.
func (r *Predictions) checkConfidence() error {
	if r.Confidence == 0 || r.Temperature > 0 {
		return nil
	}
	return &invalid.Error{
		Field: "min_confidence", Want: "a model of LAGO, whose scores are probabilities, or a temperature",
		Hint: "lago-train evaluate fits a --temperature.",
	}
}

// add ranks the classes of further samples by their scores.
func (r *Predictions) add(scores dataset.Matrix[float32]) error {
	first := len(r.Samples)
	r.Samples = append(r.Samples, make([]Prediction, scores.Rows)...)
	added := r.Samples[first:]
	parallel.For(len(added), 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			best := r.rank(scores.Row(i))
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

// Adapted is the predictions for a batch, adapted to it unless they are Declined.
type Adapted struct {
	*adapt.Result
	Changed int // number of predictions that differ from those of the scores
}

// Adapt normalises a batch in place and adapts the predictions to it, see adapt.Fit.
func Adapt(blocks []adapt.Block, s adapt.Settings) (*Adapted, error) {
	adapt.Normalise(blocks)
	r, err := adapt.Fit(blocks, s)
	if err != nil {
		return nil, err
	}
	a, row := &Adapted{Result: r}, 0
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
			"order, samples of classes that are no candidates",
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
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}
