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

const (
	mostLikely   = 5 // classes listed with their probability
	shownChanges = 5 // changes of detections, and substitutions, listed or searched at most

	// MinDetected is the lowest p(a|x) of an attribute that is called detected.
	MinDetected = 0.5
)

// Thresholds of substitutions, close to the paper's example: 0.6 and 0.5 described, 0.1 and
// 0.7 detected. In soft groups an attribute counts in the group that has most of it.
const (
	minGamma     = 0.5
	minDescribed = 0.3
	maxMissed    = 0.2
)

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
		c, err := q.compare(answer, other)
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

// compare compares the predicted class with another one, and adds what other detections change.
func (q *Question) compare(answer *Answer, other Other) (*Comparison, error) {
	c, err := answer.Compare(other)
	if err != nil {
		return nil, err
	}
	c.Substitutions, c.Changes = []Substitution{}, []Change{}
	class, detected := answer.Order[0], answer.Detected
	change := func(x model.Counterfactual, before float64) Change {
		odds := x.LogOdds / q.Predictor.Temperature
		return Change{
			q.Predictor.Attributes[x.Attribute], x.From, x.To, odds, odds - before,
			q.Predictor.Candidates.Names[x.Predicted],
		}
	}
	changes, err := answer.Changes(detected, class, other.Class)
	if err != nil {
		return nil, err
	}
	gain := map[string]float64{} // if an attribute is detected with certainty
	for i, x := range changes {
		one := change(x, c.LogOdds)
		if i < shownChanges {
			c.Changes = append(c.Changes, one)
		}
		if one.To == 1 {
			gain[one.Attribute] = one.By
		}
	}
	for _, g := range c.Groups {
		c.Substitutions = append(c.Substitutions, substitutions(g, gain)...)
	}
	c.Substitutions = c.Substitutions[:min(len(c.Substitutions), shownChanges)]
	flip, found, err := answer.Flip(detected, class, other.Class, shownChanges)
	c.Flip = &Flip{Found: found, Limit: shownChanges, Changes: []Change{}}
	before := c.LogOdds
	for _, x := range flip {
		one := change(x, before)
		c.Flip.Changes, before = append(c.Flip.Changes, one), one.LogOdds
	}
	return c, err
}

// substitutions lists the attributes of a group that the class is described by and that were not detected,
// with the attribute of the group that was. gain is the effect of detecting an attribute with certainty.
func substitutions(g Group, gain map[string]float64) (list []Substitution) {
	var substitute Term
	for _, t := range g.Terms {
		if describes(t) && t.Detected >= MinDetected &&
			(substitute.Attribute == "" || t.Term.Class > substitute.Term.Class) {
			substitute = t
		}
	}
	if g.Contribution < 0 || substitute.Attribute == "" {
		return nil
	}
	for _, t := range g.Terms {
		if describes(t) && t.Detected <= maxMissed {
			list = append(list, Substitution{g.Name, t.Attribute, substitute.Attribute, gain[t.Attribute]})
		}
	}
	return list
}

// describes reports whether the predicted class is described by the attribute.
func describes(t Term) bool {
	return t.Gamma >= minGamma && t.Described.Class != nil && *t.Described.Class >= minDescribed
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

	// T of the probabilities; log odds, contributions and gains are divided by it
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

// Substitution is the soft OR at work: of two described attributes of a group one was detected.
type Substitution struct {
	Group      string `json:"group"`
	Missed     string `json:"missed"`     // described, but not detected
	Substitute string `json:"substitute"` // detected in its place
	// if the missed attribute had been detected with certainty
	Gain float64 `json:"log_odds_gain_if_detected"`
}

// Change is the effect of another detection of one attribute.
type Change struct {
	Attribute string  `json:"attribute"`
	From      float64 `json:"from"`      // p(a|x)
	To        float64 `json:"to"`        // 1 or 0
	LogOdds   float64 `json:"log_odds"`  // of the two compared classes after the change
	By        float64 `json:"by"`        // difference to the log odds before
	Predicted string  `json:"predicted"` // class predicted after the change, which can be a third
}

// Flip is a set of changes after which the other class is more likely, as a greedy search finds it.
type Flip struct {
	Found   bool     `json:"found"`
	Limit   int      `json:"limit"`   // of the number of changes
	Changes []Change `json:"changes"` // cumulative; as far as the search went if none was found
}
