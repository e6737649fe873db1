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
	Reason  string // what in a group favours the class that it favours, as "olive"; can be ""
	Note    string // how it was detected; can be ""
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

// ShownGroups is the number of groups that a chart shows by default. The others are one part.
const ShownGroups = 5

// Parts divides the log odds into the contributions of the strongest groups, at most so many and none that is
// printed as 0.00 unless it is the first, that of all others together and that of the correction, where there
// are any. They add up to the log odds, and are what a chart shows and a sentence names.
func Parts(c *predictor.Comparison, most int) (parts []Part) {
	shown := 0
	for shown < min(most, len(c.Groups)) && (shown == 0 || !negligible(c.Groups[shown].Contribution)) {
		g := c.Groups[shown]
		why, note := reason(g)
		parts = append(parts, Part{OfGroup, title(g), why, note, g.Contribution})
		shown++
	}
	if others := c.Groups[shown:]; len(others) > 0 {
		p := Part{Kind: OfOthers, Name: format.Count(len(others), "other group")}
		if len(others) > 1 {
			p.Name += " together"
		}
		for _, g := range others {
			p.LogOdds += g.Contribution
		}
		parts = append(parts, p)
	}
	if c.Correction != 0 {
		parts = append(parts, Part{Kind: OfCorrection, Name: correctionName, LogOdds: c.Correction})
	}
	return parts
}

const (
	correctionName = "correction by seen classes"

	mainReasons   = 3   // in a sentence
	minDifference = 0.1 // between descriptions, for a reason that an attribute was not detected
	minDetected   = 0.5 // lowest p(a|x) of an attribute that is called detected
	high          = 0.8 // share of the training samples whose detection a high one exceeds
)

// negligible reports whether a number is printed as 0.00.
func negligible(v float64) bool { return math.Abs(v) < 0.005 }

// Sentence says why the predicted class is more likely than the other. Its names and numbers are those of a
// chart of at most so many groups.
func Sentence(c *predictor.Comparison, most int) string {
	parts := Parts(c, most)
	s := fmt.Sprintf("%s is %s %s", format.ClassName(c.Class), likelier(c.LogOdds), other(c))
	if favour, against, outweigh := reasons(parts, c.LogOdds); correctionDecides(c) {
		s += ", because of the " + correctionName + ": the groups alone favour " + favoured(c,
			c.LogOdds-c.Correction)
	} else if outweigh {
		s += ", mainly because of " + format.List(favour, "and")
		if against != "" {
			s += "; " + against + " favours " + format.ClassName(c.Against) + " most"
		}
	} else {
		s += ". No single group decides: the strongest, " + parts[0].Name + ", favours " +
			favoured(c, parts[0].LogOdds)
	}
	return s + ". Log odds: " + signed(c.LogOdds) + "."
}

// likelier says how much more likely the predicted class is.
func likelier(logOdds float64) string {
	switch r := math.Exp(logOdds); {
	case r < 1.05:
		return "about as likely as"
	case r < 100:
		return fmt.Sprintf("%.1f times as likely as", r)
	case r < 1000:
		return fmt.Sprintf("%.0f times as likely as", r)
	}
	return "far more likely than"
}

// reasons names the parts that favour the predicted class most, and the one that favours the other most, each
// with its number. They outweigh the rest of the chart if they add more to the log odds.
func reasons(parts []Part, logOdds float64) (favour []string, against string, outweigh bool) {
	order, sum := slices.Clone(parts), 0.0
	predictor.SortBy(order, func(p Part) float64 { return math.Abs(p.LogOdds) })
	for _, p := range order {
		text := p.text()
		switch {
		case p.Kind == OfOthers || negligible(p.LogOdds):
			continue
		case p.LogOdds > 0 && len(favour) < mainReasons:
			favour = append(favour, text)
		case p.LogOdds < 0 && against == "":
			against = text
		default:
			continue
		}
		sum += p.LogOdds
	}
	return favour, against, favour != nil && sum > math.Abs(logOdds-sum)
}

// favoured says which class a difference of log probabilities favours: "wren by 0.67".
func favoured(c *predictor.Comparison, v float64) string {
	if negligible(v) {
		return "neither class"
	}
	class := c.Class
	if v < 0 {
		class = c.Against
	}
	return format.ClassName(class) + " by " + fixed(math.Abs(v))
}

// text names a part, with the reason, and its number: "wing color: olive (detection 0.43, usual; +1.20)".
func (p Part) text() string {
	name, note := p.Name, p.Note
	if p.Kind == OfCorrection {
		name = "the " + name
	}
	if p.Reason != "" {
		name += ": " + p.Reason
	}
	if note != "" {
		note += "; "
	}
	return name + " (" + note + signed(p.LogOdds) + ")"
}

// Why is the reason with its note: "olive (detection 0.43, usual)".
func (p Part) Why() string {
	if p.Note == "" {
		return p.Reason
	}
	return strings.TrimSpace(p.Reason + " (" + p.Note + ")")
}

// Short names the other class and the two strongest reasons against it.
func Short(c *predictor.Comparison) string {
	parts := Parts(c, ShownGroups)
	favour, _, _ := reasons(parts, c.LogOdds)
	return "rather than " + format.ClassName(c.Against) + ": " + strings.Join(favour[:min(len(favour), 2)],
		"; ")
}

// signed prints -0.001 as +0.00.
func signed(v float64) string { return fmt.Sprintf("%+.2f", math.Round(100*v)/100+0) }

// correctionDecides reports whether the groups alone favour the other class.
func correctionDecides(c *predictor.Comparison) bool {
	return c.LogOdds > 0 && c.LogOdds < c.Correction
}

// other names the other class and its role: "wren, the runner-up".
func other(c *predictor.Comparison) string {
	return format.ClassName(c.Against) + map[predictor.Reason]string{
		predictor.RunnerUp: ", the runner-up", predictor.TrueClass: ", the true class",
	}[c.Reason]
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
	return t.Detected >= minDetected || certainty(t) == "high"
}

// reason names what in a group favours the class that the group favours: the attribute that it is described
// by and that adds most to the score (soft OR) by the product of its detection and the difference of its
// terms or, if the none-of-group term adds more, the absence of an attribute that the other class is
// described by; "" if there is none of these. The note has a low detection, and says where an imputed entry,
// or no detected attribute, is the reason.
func reason(g predictor.Group) (why, note string) {
	sign := math.Copysign(1, g.Contribution)
	noneAdds := sign * (g.None.Term.Class - g.None.Term.Against)
	var lacks string
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
			lacks, mostLacked = "absence of "+nameWithin(t.Attribute, g.Name), d
		}
		if d := difference * t.Detected; difference > noneAdds && d > 0 && favoured == nil {
			imputed = true
		} else if difference > noneAdds && d > most {
			why, note, most = nameWithin(t.Attribute, g.Name), lowDetection(t), d
		}
	}
	switch {
	case why != "" || lacks != "":
		return strings.TrimPrefix(cmp.Or(why, lacks), title(g)), note
	case imputed:
		note = "imputed"
	case !detected && len(g.Terms) == 1:
		note = "not detected"
	case !detected && len(g.Terms) > 0:
		note = "none of its attributes detected"
	}
	return "", note
}

// lowDetection says how high a detection is that is below one half, or low for the model; "" of others.
func lowDetection(t predictor.Term) string {
	c := certainty(t)
	if t.Detected >= minDetected && c != "low" {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("detection %.2f, %s", t.Detected, c), ", ")
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

// GivenSentence says how much of the two descriptions was given, "" if all of them was.
func GivenSentence(c *predictor.Comparison) string {
	if c.Given.Class == 1 && c.Given.Against == 1 {
		return ""
	}
	return fmt.Sprintf("Given are %s of the description of %s and %s of that of %s; the other entries are "+
		"filled, and are no reasons.",
		percent(c.Given.Class), format.ClassName(c.Class), percent(c.Given.Against),
		format.ClassName(c.Against))
}

// FitSentence says how well a sample fits, "" if that is not known.
func FitSentence(fit *float64) string {
	if fit == nil {
		return ""
	}
	text := fmt.Sprintf("Fit %.0f %%: %.0[1]f %% of the samples held out from described classes match "+
		"their best class less well", 100**fit)
	if *fit < predictor.LowFit {
		text += ". It may be of none of the candidates"
	}
	return text + "."
}
