package predictor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/format"
)

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
	Stacking   float64 `json:"stacking"` // part of the correction by gamma, which is subtracted from the scores of seen classes

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
	Above     *float64  `json:"above"`     // share of the training samples with a lower detection, by deciles; null if the model has none
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

// Part is a part of the log odds between two classes.
type Part struct {
	Kind    PartKind
	Name    string // for people
	Reason  string // what in a group favours the class that it favours, or the correction; "" of Others
	LogOdds float64
}

// PartKind says what a part comes from.
type PartKind string

// The kinds of parts.
const (
	OfGroup      PartKind = ""
	OfOthers     PartKind = "others" // all other groups together
	OfCorrection PartKind = "correction"
)

// Parts divides the log odds into the contributions of the first groups, that of all others together
// and that of the correction, where there are any. They add up to the log odds.
func (c *Comparison) Parts(groups int) (parts []Part) {
	for _, g := range c.Groups[:groups] {
		parts = append(parts, Part{OfGroup, g.Title(), g.reason(), g.Contribution})
	}
	if others := c.Groups[groups:]; len(others) > 0 {
		p := Part{Kind: OfOthers, Name: format.Count(len(others), "other group") + " together"}
		for _, g := range others {
			p.LogOdds += g.Contribution
		}
		parts = append(parts, p)
	}
	if c.Correction != 0 {
		parts = append(parts, Part{OfCorrection, c.correctionName(), "the " + c.correctionName(), c.Correction})
	}
	return parts
}

// correctionName names what is in the correction.
func (c *Comparison) correctionName() string {
	switch c.Stacking {
	case 0:
		return "correction by seen classes"
	case c.Correction:
		return "calibrated stacking of seen classes"
	}
	return fmt.Sprintf("correction by seen classes, with calibrated stacking (%s)", signed(c.Stacking))
}

const (
	mainReasons   = 3   // in a sentence
	minDifference = 0.1 // between descriptions, for a reason that an attribute was not detected

	// MinDetected is the lowest p(a|x) of an attribute that is called detected.
	MinDetected = 0.5
	// High is the share of the training samples whose detection a high one exceeds.
	High = 0.8
)

// Negligible reports whether a number is printed as 0.00.
func Negligible(v float64) bool { return math.Abs(v) < 0.005 }

// Sentence says why the predicted class is more likely than the other, and what the groups that it
// names, all others together and the correction add to the log odds.
func (c *Comparison) Sentence() string {
	times := "about"
	if c.LogOdds >= math.Log(1.05) {
		times = Ratio(c.LogOdds) + " times"
	}
	s := fmt.Sprintf("%s is %s as likely as %s", format.ClassName(c.Class), times, c.Other())
	parts, groups := c.Parts(len(c.Groups)), c.LogOdds-c.Correction
	SortBy(parts, func(p Part) float64 { return math.Abs(p.LogOdds) })
	named, sum := 0, 0.0 // groups, and what they add
	reasons := func(sign float64, most int) string {
		var list []string
		for _, p := range parts {
			if len(list) == most || Negligible(p.LogOdds) || sign*p.LogOdds < 0 || slices.Contains(list, p.Reason) {
				continue
			}
			if list = append(list, p.Reason); p.Kind == OfGroup {
				named++
				sum += p.LogOdds
			}
		}
		return format.List(list, "and")
	}
	if c.CorrectionDecides() {
		s += ", because of the " + c.correctionName() + ": the groups alone favour "
		if Negligible(groups) {
			s += "neither class"
		} else {
			s += fmt.Sprintf("%s by %.2f", format.ClassName(c.Against), -groups)
		}
		if against := reasons(-1, 1); against != "" {
			s += ", most of all " + against
		}
	} else {
		if favour := reasons(1, mainReasons); favour != "" {
			because := ", mainly because of "
			if groups-sum > max(sum, c.Correction) {
				because = fmt.Sprintf(", because of %s together, most of all ", format.Count(len(c.Groups), "group"))
			}
			s += because + favour
		}
		if against := reasons(-1, 1); against != "" {
			s += "; " + against + " favours " + format.ClassName(c.Against) + " most"
		}
	}
	s += ". Log odds: "
	if named > 0 {
		s += fmt.Sprintf("%s from %s, ", signed(sum), format.Count(named, "named group"))
	}
	if others := len(c.Groups) - named; others > 0 {
		s += fmt.Sprintf("%s from %s, ", signed(groups-sum), format.Count(others, "other group"))
	}
	if c.Stacking != 0 {
		s += signed(c.Stacking) + " from calibrated stacking, "
	}
	if c.Correction != c.Stacking {
		s += signed(c.Correction-c.Stacking) + " from the correction, "
	}
	return s + "together " + signed(c.LogOdds) + "."
}

// Short names the other class and the two strongest reasons against it.
func (c *Comparison) Short() string {
	const most = 2
	parts, list := c.Parts(len(c.Groups)), []string(nil)
	SortBy(parts, func(p Part) float64 { return p.LogOdds })
	for _, p := range parts {
		if len(list) < most && p.LogOdds > 0 && !Negligible(p.LogOdds) && !slices.Contains(list, p.Reason) {
			list = append(list, p.Reason)
		}
	}
	return "rather than " + format.ClassName(c.Against) + ": " + strings.Join(list, "; ")
}

// signed prints -0.001 as +0.00.
func signed(v float64) string { return fmt.Sprintf("%+.2f", math.Round(100*v)/100+0) }

// CorrectionDecides reports whether the groups alone favour the other class.
func (c *Comparison) CorrectionDecides() bool { return c.LogOdds > 0 && c.LogOdds < c.Correction }

// Other names the other class and its role: "wren, the runner-up".
func (c *Comparison) Other() string {
	return format.ClassName(c.Against) + map[Reason]string{RunnerUp: ", the runner-up", TrueClass: ", the true class"}[c.Reason]
}

// Certainty says how high a detection is for the model: compared with those of training samples, whose
// scale differs between attributes; "" if the model has no deciles.
func (t Term) Certainty() string {
	switch {
	case t.Above == nil:
		return ""
	case *t.Above >= High:
		return "high"
	case *t.Above < 1-High:
		return "low"
	}
	return "usual"
}

// present reports whether the attribute is called detected.
func (t Term) present() bool { return t.Detected >= MinDetected || t.Certainty() == "high" }

// reason names what in a group favours the class that the group favours: the attribute that it is described
// by and that adds most to the score (soft OR) by the product of its detection and the difference of its
// terms or, if the none-of-group term adds more, the absence of an attribute that the other class is
// described by. Where there is none of these but an imputed entry, or no detected attribute, it says so.
func (g Group) reason() string {
	sign := math.Copysign(1, g.Contribution)
	noneAdds := sign * (g.None.Term.Class - g.None.Term.Against)
	var adds, lacks string
	var most, mostLacked float64
	detected, imputed := false, false
	for _, t := range g.Terms {
		difference, lacked := sign*(t.Term.Class-t.Term.Against), sign*t.Gamma*(t.Used.Against-t.Used.Class)
		favoured, other := t.Described.Class, t.Described.Against
		if sign < 0 {
			favoured, other = other, favoured
		}
		if t.present() {
			detected = true
		} else if d := lacked * (1 - t.Detected); lacked > minDifference && d > mostLacked && other != nil {
			lacks, mostLacked = "the absence of "+format.AttributeName(t.Attribute), d
		}
		if d := difference * t.Detected; difference > noneAdds && d > 0 && favoured == nil {
			imputed = true
		} else if difference > noneAdds && d > most {
			adds, most = format.AttributeName(t.Attribute), d
			if c := t.Certainty(); t.Detected < MinDetected || c == "low" {
				adds += fmt.Sprintf(" (detection %.2f%s)", t.Detected, strings.TrimSuffix(", "+c, ", "))
			}
		}
	}
	title := g.Title()
	if imputed {
		title += " (imputed)"
	} else if !detected && len(g.Terms) > 0 {
		title += map[bool]string{true: " (not detected)", false: " (none of its attributes detected)"}[len(g.Terms) == 1]
	}
	return cmp.Or(adds, lacks, title)
}

// Title returns the name of a group for people.
func (g Group) Title() string {
	if g.Strongest == nil {
		return format.AttributeName(g.Name)
	}
	var names []string
	for _, name := range g.Strongest {
		names = append(names, format.AttributeName(name))
	}
	return fmt.Sprintf("group %s (%s)", g.Name, strings.Join(names, ", "))
}

// Ratio returns how many times the more likely of two classes is as likely as the other.
func Ratio(logOdds float64) string {
	r := math.Exp(math.Abs(logOdds))
	switch {
	case r < 100:
		return fmt.Sprintf("%.1f", r)
	case r <= 1000:
		return fmt.Sprintf("%.0f", r)
	}
	return "over 1000"
}
