package explain

import (
	"fmt"
	"image"
	"path/filepath"

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

	Sample  Sample `json:"sample"`
	Among   string `json:"among"`   // the candidates, as in "test classes"
	Classes int    `json:"classes"` // number of candidates

	Temperature float64 `json:"temperature"` // T of the probabilities; log odds, contributions and gains are divided by it

	Predicted string        `json:"predicted"`
	Correct   *bool         `json:"correct"`    // null if the true class is not known, or no candidate
	Likely    []Probability `json:"likely"`     // the most likely classes, at most five
	Label     *Probability  `json:"true_class"` // null where correct is

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

// Probability is that of one class.
type Probability struct {
	Class string  `json:"class"`
	Rank  int     `json:"rank"` // from 1
	P     float64 `json:"p"`    // p(z|x), with the temperature
	LogP  float64 `json:"log_p"`
}

// Reason says why the predicted class is compared with another one.
type Reason string

// The reasons.
const (
	RunnerUp  Reason = "runner-up"
	TrueClass Reason = "true class" // of a wrong prediction
	Requested Reason = "requested"
)

// Comparison compares the predicted class with another one.
type Comparison struct {
	Class   string `json:"class"`   // the predicted one
	Against string `json:"against"` // the other class
	Reason  Reason `json:"reason"`  // runner-up, true class (of a wrong prediction) or requested
	// log p(class|x) - log p(against|x), the sum of the groups' contributions and the correction
	LogOdds float64 `json:"log_odds"`
	// part of the correction of the scores; above 0 where the other class gets more from samples of seen
	// classes
	Correction float64 `json:"correction"`

	Groups        []Group        `json:"groups"`        // by the size of their contribution
	BestFor       *string        `json:"best_for"`      // the group that favours the predicted class most; null if none does
	BestAgainst   *string        `json:"best_against"`  // the group that favours the other class most; null if none does
	Substitutions []Substitution `json:"substitutions"` // described attributes that were not detected, and what replaced them

	Changes []Change `json:"changes"` // of single detections, those that change the log odds most
	Flip    Flip     `json:"flip"`    // the fewest changes found that reverse the prediction
}

// Pair holds a number for the predicted class and one for the class it is compared with.
type Pair struct {
	Class   float64 `json:"class"`   // of the predicted class
	Against float64 `json:"against"` // of the other class
}

func (p Pair) most() float64 { return max(p.Class, p.Against) }

func (p *Pair) add(q Pair) {
	p.Class += q.Class
	p.Against += q.Against
}

// Group is the contribution of one attribute group.
type Group struct {
	K            int      `json:"k"`                   // number, from 0
	Name         string   `json:"name"`                // of the data set; the attribute's for singletons, a number for k-soft
	Strongest    []string `json:"strongest,omitempty"` // for k-soft, the attributes with the largest share of the group
	Contribution float64  `json:"contribution"`        // log of the ratio of the scores
	Score        Pair     `json:"score"`               // G[k,z] (Eq. 5), the sum of terms, others and none

	Terms  []Term `json:"terms"`  // the attributes of the group, by the difference of their terms
	Others Others `json:"others"` // all other attributes
	None   None   `json:"none"`   // the none-of-group term
}

// Term is what one attribute adds to the score of a group.
type Term struct {
	Attribute string    `json:"attribute"`
	Gamma     float64   `json:"gamma"`     // share of the attribute that belongs to the group
	Detected  float64   `json:"detected"`  // p(a|x)
	Prior     float64   `json:"prior"`     // p(a)
	Described Described `json:"described"` // p(a|z) as given, null if missing
	Used      Pair      `json:"used"`      // p(a|z) as the model uses it: scaled within the group, imputed if missing
	Term      Pair      `json:"term"`      // Gamma U/p A
	Share     Pair      `json:"share"`     // of the scores
}

// Described is p(a|z) in the data set, null if the entry is missing.
type Described struct {
	Class   *float64 `json:"class"`
	Against *float64 `json:"against"`
}

// Others is what the attributes add that have almost no share in a group.
type Others struct {
	Count int  `json:"count"`
	Term  Pair `json:"term"`
	Share Pair `json:"share"`
}

// None is the none-of-group term, the paper's complementary attribute.
type None struct {
	Detected float64 `json:"detected"` // p(none|x): 1 if the term is constant, 0 without one
	Term     Pair    `json:"term"`     // (Uc/pc) Ac
	Share    Pair    `json:"share"`
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
