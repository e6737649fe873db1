package predictor

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

	// share of the entries that the classes' descriptions give; the others are filled
	Given  Pair    `json:"given"`
	Groups []Group `json:"groups"` // by the size of their contribution
}

// Pair holds a number for the predicted class and one for the class it is compared with.
type Pair struct {
	Class   float64 `json:"class"`   // of the predicted class
	Against float64 `json:"against"` // of the other class
}

// Most is the larger number.
func (p Pair) Most() float64 { return max(p.Class, p.Against) }

// Add adds another pair.
func (p *Pair) Add(q Pair) {
	p.Class += q.Class
	p.Against += q.Against
}

// Group is the contribution of one attribute group.
type Group struct {
	K int `json:"k"` // number, from 0
	// of the data set; the attribute's for singletons, a number for k-soft
	Name string `json:"name"`
	// for k-soft, the attributes with the largest share of the group
	Strongest    []string `json:"strongest,omitempty"`
	Contribution float64  `json:"contribution"` // log of the ratio of the scores
	Score        Pair     `json:"score"`        // G[k,z] (Eq. 5), the sum of terms, others and none

	Terms  []Term `json:"terms"`  // the attributes of the group, by the difference of their terms
	Others Others `json:"others"` // all other attributes
	None   None   `json:"none"`   // the none-of-group term
}

// Term is what one attribute adds to the score of a group.
type Term struct {
	Attribute string  `json:"attribute"`
	Gamma     float64 `json:"gamma"`    // share of the attribute that belongs to the group
	Detected  float64 `json:"detected"` // p(a|x)
	// share of the training samples with a lower detection, by deciles; null if the model has none
	Above     *float64  `json:"above"`
	Prior     float64   `json:"prior"`     // p(a)
	Described Described `json:"described"` // p(a|z) as given, null if missing
	// p(a|z) as the model uses it: scaled within the group, imputed if missing
	Used  Pair `json:"used"`
	Term  Pair `json:"term"`  // Gamma U/p A
	Share Pair `json:"share"` // of the scores
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
