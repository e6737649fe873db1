package predictor

import (
	"fmt"
	"image"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train/metrics"
)

const mostLikely = 5 // classes listed with their probability

// Question is the prediction to explain.
type Question struct {
	Predictor *Predictor
	Sample    Sample
	X         dataset.Matrix[float32] // features as they are in the data set
	Row       int                     // of X, the sample's
	Against   string                  // the class to compare the prediction with; "" for the runner-up
	Batch     []int                   // of X, the sample's among them: adapted to, if the predictor adapts
}

// FindSample returns a sample of a data set by its id or index.
func FindSample(d *dataset.Dataset, name string) (Sample, error) {
	row, err := slices.Index(d.IDs, dataset.Name(name)), error(nil)
	if row < 0 {
		row, err = strconv.Atoi(name)
	}
	if err != nil || row < 0 || row >= d.Features.Rows {
		e := &invalid.Error{
			Field: "sample",
			Want:  fmt.Sprintf("the index of a sample of %s, 0 to %d", d.Name, d.Features.Rows-1),
			Got:   invalid.Quote(name),
		}
		if d.IDs != nil {
			e.Want, e.Hint = e.Want+", or its id", invalid.DidYouMean(name, d.IDs)
		}
		return Sample{}, e
	}
	s := Sample{Index: row, From: d.Name, Label: &d.Classes[d.Labels[row]]}
	if d.IDs != nil {
		s.ID = d.IDs[row]
	}
	return s, nil
}

// Explain compares the predicted class with the one asked for or, by default, with the
// runner-up and, if the prediction is wrong, with the true class.
func Explain(q Question) (*Explanation, error) {
	p := q.Predictor
	answer, err := p.Answer(q.X, q.Row)
	if err != nil {
		return nil, err
	}
	lago, _ := p.LAGO() // see Answer
	r := &Explanation{
		Dataset: p.Dataset, Method: lago.Config.Variant, Prior: lago.Config.Prior,
		Complement: lago.Config.Complement,
		Attributes: len(p.Attributes), Sample: q.Sample, Candidates: p.Candidates.What,
		Classes:   len(answer.Order),
		Predicted: answer.Class(1).Class, Likely: answer.Likely(mostLikely), Fit: answer.Fit,
		Temperature: p.Temperature,
	}
	if label := slices.IndexFunc(answer.Order, func(z int) bool {
		return q.Sample.Label != nil && p.Candidates.Names[z] == *q.Sample.Label
	}); label >= 0 {
		of, correct := answer.Class(label+1), label == 0
		r.Label, r.Correct = &of, &correct
	}
	others, err := answer.Others(q.Against, q.Sample.Label)
	if err != nil {
		return nil, err
	}
	if p.Adapts() && len(q.Batch) > 0 {
		if r.Adapted, err = q.adapted(answer); err != nil {
			return nil, err
		}
	}
	for _, other := range others {
		c, err := answer.Compare(other)
		if err != nil {
			return nil, err
		}
		r.Comparisons = append(r.Comparisons, *c)
	}
	return r, nil
}

// adapted adapts the prediction to the batch.
func (q *Question) adapted(answer *Answer) (*AdaptedAnswer, error) {
	p := q.Predictor
	b, _, err := p.Batch(q.X, q.Batch, p.Candidates.U)
	if err != nil {
		return nil, err
	}
	r, err := Adapt([]adapt.Block{b}, p.Decision.Adaptation.Settings)
	if err != nil {
		return nil, err
	}
	posterior := r.P.Row(slices.Index(q.Batch, q.Row))
	own, class := answer.Order[0], metrics.Argmax(posterior)
	return &AdaptedAnswer{
		Samples: len(q.Batch), Predicted: p.Candidates.Names[class], P: float64(posterior[class]),
		LogOdds: answer.LogP[own] - answer.LogP[class], Changed: own != class && !r.Declined,
		Declined: r.Declined,
	}, nil
}

// Explanation explains one prediction. Names are those of the data set.
type Explanation struct {
	Dataset    string           `json:"dataset"` // that the model was trained on
	Method     model.Variant    `json:"method"`
	Prior      model.Prior      `json:"prior"`      // kind of attribute prior
	Complement model.Complement `json:"complement"` // kind of none-of-group term
	Attributes int              `json:"attributes"`

	Sample     Sample `json:"sample"`
	Candidates string `json:"candidates"` // as in "test classes"
	Classes    int    `json:"classes"`    // number of candidates

	// T of the probabilities; log odds and contributions are divided by it
	Temperature float64 `json:"temperature"`

	Predicted string        `json:"predicted"`
	Correct   *bool         `json:"correct"`    // null if the true class is not known, or no candidate
	Likely    []Probability `json:"likely"`     // the most likely classes, at most five
	Label     *Probability  `json:"true_class"` // null where correct is
	// share of the held-out samples of described classes that fit their best class less well; null if not
	// measured
	Fit *float64 `json:"fit"`

	Adapted *AdaptedAnswer `json:"adapted,omitempty"` // transductive prediction, with --adapt

	Comparisons []Comparison `json:"comparisons"` // with the runner-up, and with the true or another class
}

// Sample identifies a sample.
type Sample struct {
	Index   int         `json:"index"`        // in the data set or file, from 0
	ID      string      `json:"id,omitempty"` // as the data set or the image is named
	From    string      `json:"from"`         // the data set or file
	Label   *string     `json:"label"`        // its true class; null if not known
	Trained bool        `json:"trained"`      // whether the model was trained on samples of the true class
	Picture image.Image `json:"-"`            // nil if there is none
}

// AdaptedAnswer is the prediction adapted to a batch (transductive).
type AdaptedAnswer struct {
	Samples   int     `json:"samples"` // of the batch
	Predicted string  `json:"predicted"`
	P         float64 `json:"p"` // its adapted probability
	// of the class predicted without adaptation over the adapted one, without adaptation
	LogOdds float64 `json:"log_odds"`
	Changed bool    `json:"changed"`
	// whether nothing was adapted, since most candidates seem to be absent
	Declined bool `json:"declined"`
}
