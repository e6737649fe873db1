package explain

import (
	"fmt"
	"image"
	"path/filepath"

	"github.com/lago-train/lago-train/experiments/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
)

// Result explains one prediction. Names are those of the data set.
type Result struct {
	Dataset    string           `json:"dataset"` // that the model was trained on
	Variant    model.Variant    `json:"variant"`
	Prior      model.Prior      `json:"prior"`      // kind of attribute prior
	Complement model.Complement `json:"complement"` // kind of none-of-group term
	Attributes int              `json:"attributes"`

	Sample     Sample `json:"sample"`
	Candidates string `json:"candidates"` // as in "test classes"
	Classes    int    `json:"classes"`    // number of candidates

	Temperature float64 `json:"temperature"` // T of the probabilities; log odds, contributions and gains are divided by it

	Predicted string                  `json:"predicted"`
	Correct   *bool                   `json:"correct"`    // null if the true class is not known, or no candidate
	Likely    []predictor.Probability `json:"likely"`     // the most likely classes, at most five
	Label     *predictor.Probability  `json:"true_class"` // null where correct is

	Adapted *Adapted `json:"adapted,omitempty"` // transductive prediction, with --adapt

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

// Adapted is the prediction adapted to a batch (transductive), and the samples that moved it.
type Adapted struct {
	Samples   int     `json:"samples"` // of the batch
	Predicted string  `json:"predicted"`
	P         float64 `json:"p"`        // its adapted probability
	LogOdds   float64 `json:"log_odds"` // of the model without adaptation, of its own class over the adapted one
	Changed   bool    `json:"changed"`
	// samples that favour the adapted class most, at most five; none if the prediction did not change
	Neighbours []Neighbour `json:"neighbours"`
}

// Neighbour is another sample of the batch.
type Neighbour struct {
	Sample    int         `json:"index"`
	ID        string      `json:"id,omitempty"`
	Predicted string      `json:"predicted"` // adapted
	Cosine    float64     `json:"cosine"`    // of the preprocessed, centred features
	LogOdds   float64     `json:"log_odds"`  // what it adds to the adapted class over the model's own
	Picture   image.Image `json:"-"`
}

// Comparison compares the predicted class with another one.
type Comparison struct {
	predictor.Comparison

	Substitutions []Substitution `json:"substitutions"` // described attributes that were not detected, and what replaced them

	Changes []Change `json:"changes"` // of single detections, those that change the log odds most
	Flip    Flip     `json:"flip"`    // the fewest changes found that reverse the prediction
}

// Substitution is the soft OR at work: an attribute that the class is described by was
// not detected, and another one of its group was.
type Substitution struct {
	Group      string  `json:"group"`
	Missed     string  `json:"missed"`                    // described, but not detected
	Substitute string  `json:"substitute"`                // detected in its place
	Gain       float64 `json:"log_odds_gain_if_detected"` // if the missed attribute had been detected with certainty
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

// Flip is a set of changes after which the other class is more likely. A greedy search
// finds it: no change can be left out, but a smaller set of others may exist.
type Flip struct {
	Found   bool     `json:"found"`
	Limit   int      `json:"limit"`   // of the number of changes
	Changes []Change `json:"changes"` // cumulative; as far as the search went if none was found
}

// name says which sample it is.
func (s Sample) name() string {
	from := format.Printable(s.From)
	switch s.ID {
	case "":
		return fmt.Sprintf("sample %d of %s", s.Index, from)
	case s.From:
		return "photograph " + filepath.Base(from)
	}
	return fmt.Sprintf("%s (sample %d of %s)", format.Printable(s.ID), s.Index, from)
}
