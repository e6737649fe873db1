package explain

import "github.com/lago-train/lago-train/model"

// Explanation is the answer. Names are those of the data set.
type Explanation struct {
	Dataset    string           `json:"dataset"` // that the model was trained on
	Variant    model.Variant    `json:"variant"`
	Prior      model.Prior      `json:"prior"`
	Complement model.Complement `json:"complement"`
	Attributes int              `json:"attributes"`

	Sample  Sample `json:"sample"`
	Among   string `json:"among"`   // as in "test classes"
	Classes int    `json:"classes"` // chosen between

	Predicted string `json:"predicted"`
	Correct   *bool  `json:"correct"`  // null where the label is not known, or not among the classes
	Likely    []Odds `json:"likely"`   // the classes with the highest p(z|x), at most five
	LabelAt   *Odds  `json:"label_at"` // the sample's class; null as Correct is

	Comparisons []Comparison `json:"comparisons"`
}

// Odds is how sure the model is of a class.
type Odds struct {
	Class string  `json:"class"`
	Rank  int     `json:"rank"` // from 1
	P     float64 `json:"p"`    // p(z|x)
	LogP  float64 `json:"log_p"`
}

// Why says why two classes are compared.
type Why string

// The reasons to compare the predicted class with another one.
const (
	RunnerUp  Why = "runner-up"
	TrueClass Why = "true class" // that was missed
	Asked     Why = "asked for"
)

// Comparison is why the predicted class is ahead of another one.
type Comparison struct {
	Class   string  `json:"class"` // the predicted one
	Against string  `json:"against"`
	Why     Why     `json:"why"`
	LogOdds float64 `json:"log_odds"` // log p(class|x) - log p(against|x), the sum of the contributions

	Groups     []Group `json:"groups"`       // by how far they contribute, either way
	TurnedAway *string `json:"turned_away"`  // the group that speaks most against the other class; null where none does
	BestOf     *string `json:"best_against"` // the group that speaks most for the other class; null where none does
	SoftOR     []Made  `json:"soft_or"`      // attributes of the class that were missed, and what made up for them

	Changes []Change `json:"changes"` // of single detections, those that move the log odds furthest
	Flip    Flip     `json:"flip"`
}

// Pair is a number of the predicted class and of the one that it is compared with.
type Pair struct {
	Class   float64 `json:"class"`
	Against float64 `json:"against"`
}

// Group is what a group of attributes has to say.
type Group struct {
	K            int      `json:"k"`
	Name         string   `json:"name"`                // of the data set; the attribute's for singletons, a number for k-soft
	Strongest    []string `json:"strongest,omitempty"` // for k-soft, the attributes with the largest share of the group
	Contribution float64  `json:"contribution"`        // log of the ratio of the scores
	Score        Pair     `json:"score"`               // G[k,z]: of terms, others and none they are the sum

	Terms  []Term `json:"terms"`  // the attributes that belong to the group, by how far their terms differ
	Others Others `json:"others"` // all others together
	None   None   `json:"none"`
}

// Term is what an attribute adds to the score of a group.
type Term struct {
	Attribute string    `json:"attribute"`
	Gamma     float64   `json:"gamma"` // its share of the group
	Seen      float64   `json:"seen"`  // p(a|x)
	Prior     float64   `json:"prior"` // p(a)
	Described Described `json:"described"`
	Used      Pair      `json:"used"`  // p(a|z) as the model takes it: scaled within the group, filled where not described
	Term      Pair      `json:"term"`  // Gamma U/p A
	Share     Pair      `json:"share"` // of the scores
}

// Described is p(a|z) as the data set has it, null where it is not described.
type Described struct {
	Class   *float64 `json:"class"`
	Against *float64 `json:"against"`
}

// Others is what the attributes add that hardly belong to a group.
type Others struct {
	Count int  `json:"count"`
	Term  Pair `json:"term"`
	Share Pair `json:"share"`
}

// None is what the complement adds, "none of the group".
type None struct {
	Seen  float64 `json:"seen"` // p(none|x): 1 where the complement is constant, 0 without one
	Term  Pair    `json:"term"` // (Uc/pc) Ac
	Share Pair    `json:"share"`
}

// Made is an attribute that the class is described by and that was hardly seen,
// where another one of its group was seen in its place: what the soft OR is for.
type Made struct {
	Group  string  `json:"group"`
	Missed string  `json:"missed"`
	By     string  `json:"made_up_by"`
	Gain   float64 `json:"log_odds_gain_if_seen"` // what seeing the missed one for sure would add to the log odds
}

// Change is what would have been had attributes been detected otherwise.
type Change struct {
	Attribute string  `json:"attribute"`
	From      float64 `json:"from"` // p(a|x)
	To        float64 `json:"to"`   // 1 or 0
	LogOdds   float64 `json:"log_odds"`
	By        float64 `json:"by"` // how far it moves them
	Predicted string  `json:"predicted"`
}

// Flip is a set of changes that puts the other class ahead. It was searched
// greedily: none of it can be left out, but a smaller set of others may do.
type Flip struct {
	Found   bool     `json:"found"`
	Limit   int      `json:"limit"`   // of changes that were tried
	Changes []Change `json:"changes"` // each after the ones before it; where none was found, as far as it came
}
