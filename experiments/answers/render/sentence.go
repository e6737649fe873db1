package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
)

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
func Parts(c *predictor.Comparison, groups int) (parts []Part) {
	for _, g := range c.Groups[:groups] {
		parts = append(parts, Part{OfGroup, title(g), reason(g), g.Contribution})
	}
	if others := c.Groups[groups:]; len(others) > 0 {
		p := Part{Kind: OfOthers, Name: format.Count(len(others), "other group") + " together"}
		for _, g := range others {
			p.LogOdds += g.Contribution
		}
		parts = append(parts, p)
	}
	if c.Correction != 0 {
		parts = append(parts, Part{OfCorrection, correctionName(c), "the " + correctionName(c), c.Correction})
	}
	return parts
}

// correctionName names what is in the correction.
func correctionName(c *predictor.Comparison) string {
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

	high = 0.8 // share of the training samples whose detection a high one exceeds
)

// negligible reports whether a number is printed as 0.00.
func negligible(v float64) bool { return math.Abs(v) < 0.005 }

// Sentence says why the predicted class is more likely than the other, and what the groups that it
// names, all others together and the correction add to the log odds.
func Sentence(c *predictor.Comparison) string {
	times := "about"
	if c.LogOdds >= math.Log(1.05) {
		times = ratio(c.LogOdds) + " times"
	}
	s := fmt.Sprintf("%s is %s as likely as %s", format.ClassName(c.Class), times, other(c))
	parts, groups := Parts(c, len(c.Groups)), c.LogOdds-c.Correction
	predictor.SortBy(parts, func(p Part) float64 { return math.Abs(p.LogOdds) })
	named, sum := 0, 0.0 // groups, and what they add
	reasons := func(sign float64, most int) string {
		var list []string
		for _, p := range parts {
			if len(list) == most || negligible(p.LogOdds) || sign*p.LogOdds < 0 || slices.Contains(list, p.Reason) {
				continue
			}
			if list = append(list, p.Reason); p.Kind == OfGroup {
				named++
				sum += p.LogOdds
			}
		}
		return format.List(list, "and")
	}
	if correctionDecides(c) {
		s += ", because of the " + correctionName(c) + ": the groups alone favour "
		if negligible(groups) {
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
func Short(c *predictor.Comparison) string {
	const most = 2
	parts, list := Parts(c, len(c.Groups)), []string(nil)
	predictor.SortBy(parts, func(p Part) float64 { return p.LogOdds })
	for _, p := range parts {
		if len(list) < most && p.LogOdds > 0 && !negligible(p.LogOdds) && !slices.Contains(list, p.Reason) {
			list = append(list, p.Reason)
		}
	}
	return "rather than " + format.ClassName(c.Against) + ": " + strings.Join(list, "; ")
}

// signed prints -0.001 as +0.00.
func signed(v float64) string { return fmt.Sprintf("%+.2f", math.Round(100*v)/100+0) }

// correctionDecides reports whether the groups alone favour the other class.
func correctionDecides(c *predictor.Comparison) bool {
	return c.LogOdds > 0 && c.LogOdds < c.Correction
}

// other names the other class and its role: "wren, the runner-up".
func other(c *predictor.Comparison) string {
	return format.ClassName(c.Against) + map[predictor.Reason]string{predictor.RunnerUp: ", the runner-up", predictor.TrueClass: ", the true class"}[c.Reason]
}

// certainty says how high a detection is for the model: compared with those of training samples, whose
// scale differs between attributes; "" if the model has no deciles.
func certainty(t predictor.Term) string {
	switch {
	case t.Above == nil:
		return ""
	case *t.Above >= high:
		return "high"
	case *t.Above < 1-high:
		return "low"
	}
	return "usual"
}

// present reports whether the attribute is called detected.
func present(t predictor.Term) bool {
	return t.Detected >= predictor.MinDetected || certainty(t) == "high"
}

// reason names what in a group favours the class that the group favours: the attribute that it is described
// by and that adds most to the score (soft OR) by the product of its detection and the difference of its
// terms or, if the none-of-group term adds more, the absence of an attribute that the other class is
// described by. Where there is none of these but an imputed entry, or no detected attribute, it says so.
func reason(g predictor.Group) string {
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
		if present(t) {
			detected = true
		} else if d := lacked * (1 - t.Detected); lacked > minDifference && d > mostLacked && other != nil {
			lacks, mostLacked = "the absence of "+format.AttributeName(t.Attribute), d
		}
		if d := difference * t.Detected; difference > noneAdds && d > 0 && favoured == nil {
			imputed = true
		} else if difference > noneAdds && d > most {
			adds, most = format.AttributeName(t.Attribute), d
			if c := certainty(t); t.Detected < predictor.MinDetected || c == "low" {
				adds += fmt.Sprintf(" (detection %.2f%s)", t.Detected, strings.TrimSuffix(", "+c, ", "))
			}
		}
	}
	name := title(g)
	if imputed {
		name += " (imputed)"
	} else if !detected && len(g.Terms) > 0 {
		name += map[bool]string{true: " (not detected)", false: " (none of its attributes detected)"}[len(g.Terms) == 1]
	}
	return cmp.Or(adds, lacks, name)
}

// title returns the name of a group for people.
func title(g predictor.Group) string {
	if g.Strongest == nil {
		return format.AttributeName(g.Name)
	}
	var names []string
	for _, name := range g.Strongest {
		names = append(names, format.AttributeName(name))
	}
	return fmt.Sprintf("group %s (%s)", g.Name, strings.Join(names, ", "))
}

// ratio returns how many times the more likely of two classes is as likely as the other.
func ratio(logOdds float64) string {
	r := math.Exp(math.Abs(logOdds))
	switch {
	case r < 100:
		return fmt.Sprintf("%.1f", r)
	case r <= 1000:
		return fmt.Sprintf("%.0f", r)
	}
	return "over 1000"
}

// lowFit is a fit below which a sample may be of none of the candidates.
const lowFit = 0.05

// FitSentence says how well a sample fits, "" if that is not known.
func FitSentence(fit *float64) string {
	if fit == nil {
		return ""
	}
	text := fmt.Sprintf("It fits its best class better than %.0f %% of the held-out samples of described classes fit theirs", 100**fit)
	if *fit < lowFit {
		text += ", and may be of none of the candidates"
	}
	return text + "."
}
