package render

import (
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
	Learned string // number of a learned group
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
		p := Part{Name: title(g), Reason: why, Note: note, LogOdds: g.Contribution}
		if g.Strongest != nil {
			p.Learned = g.Name
		}
		parts = append(parts, p)
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
	correctionName = "correction of the scores"

	minDifference = 0.1 // between descriptions, for a reason that an attribute was not detected
	minDetected   = 0.5 // lowest p(a|x) of an attribute that is called detected
	high          = 0.8 // share of the training samples whose detection a high one exceeds
)

func negligible(v float64) bool { return math.Abs(v) < 0.005 }

// Sentence names what favours the predicted class most, and what the other, of a chart of at most so many
// groups. All its numbers are log odds.
func Sentence(c *predictor.Comparison, most int) string {
	class, over, s := format.ClassName(c.Class), "", ""
	if c.Reason != predictor.RunnerUp {
		over = " over " + other(c)
	}
	parts := Parts(c, most)
	if favour := reasons(parts, +1, 3); favour != "" {
		s = fmt.Sprintf("For %s%s: %s. ", class, over, favour)
	}
	if against := reasons(parts, -1, 2); against != "" {
		s += fmt.Sprintf("Against %s: %s. ", class, against)
	}
	switch groups := c.LogOdds - c.Correction; {
	case negligible(c.LogOdds):
		s += fmt.Sprintf("%s and %s are equally likely. ", class, format.ClassName(c.Against))
	case negligible(groups):
		s += "The groups alone favour neither class. "
	case c.LogOdds > 0 && groups < 0:
		s += fmt.Sprintf("The groups alone favour %s. ", format.ClassName(c.Against))
	}
	return s + "Log odds: " + signed(c.LogOdds) + "."
}

// reasons names the largest parts with a sign, at most so many, each with its number, and all other groups
// together if they are larger. Learned groups with the same reason are one.
func reasons(parts []Part, sign float64, most int) string {
	type named struct {
		Part
		text   string
		groups []string
	}
	var list, others []named
	for _, p := range parts {
		if negligible(p.LogOdds) || sign*p.LogOdds < 0 {
			continue
		}
		n := named{Part: p, text: p.text()}
		if p.Kind == OfOthers {
			others = append(others, n)
			continue
		}
		if p.Learned != "" && p.Reason != "" {
			n.groups = []string{p.Learned}
			same := func(m named) bool { return m.groups != nil && m.text == n.text }
			if i := slices.IndexFunc(list, same); i >= 0 {
				list[i].LogOdds += p.LogOdds
				list[i].groups = append(list[i].groups, p.Learned)
				continue
			}
		}
		list = append(list, n)
	}
	predictor.SortBy(list, func(n named) float64 { return sign * n.LogOdds })
	list = list[:min(most, len(list))]
	if others != nil && (len(list) == 0 || sign*others[0].LogOdds > sign*list[0].LogOdds) {
		list = append(list, others...)
	}
	var texts []string
	for _, n := range list {
		switch len(n.groups) {
		case 0:
		case 1:
			n.text += " in group " + n.groups[0]
		default:
			n.text += " in groups " + format.List(n.groups, "and")
		}
		texts = append(texts, n.text+" ("+signed(n.LogOdds)+")")
	}
	return strings.Join(texts, ", ")
}

// text names a part in a sentence: "wing color olive", or "foot arc not detected".
func (p Part) text() string {
	name := strings.ReplaceAll(p.Name, ": ", " ")
	switch {
	case p.Kind == OfCorrection:
		name = "the " + name
	case p.Learned != "" && p.Reason != "":
		name = ""
	}
	return strings.Join(strings.Fields(name+" "+strings.ReplaceAll(p.Reason, ": ", " ")+" "+p.Note), " ")
}

// Why is the reason with its note: "olive (weakly detected)".
func (p Part) Why() string {
	if p.Note == "" {
		return p.Reason
	}
	return strings.TrimSpace(p.Reason + " (" + p.Note + ")")
}

// Short names the other class and the two strongest reasons against it.
func Short(c *predictor.Comparison) string {
	return strings.TrimSuffix("rather than "+format.ClassName(c.Against)+": "+
		reasons(Parts(c, ShownGroups), +1, 2), ": ")
}

// signed prints -0.001 as +0.00.
func signed(v float64) string { return fmt.Sprintf("%+.2f", math.Round(100*v)/100+0) }

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

func present(t predictor.Term) bool {
	return t.Detected >= minDetected || certainty(t) == "high"
}

// reason names what in a group favours the class that the group favours: the attribute that it is described
// by and that adds most to the score (soft OR) by the product of its detection and the difference of its
// terms or, if the none-of-group term adds more, an attribute that the other class is described by and that
// was not detected; "" if there is none of these. The note says so, and where a detection is weak, or an
// imputed entry, or no detected attribute, is the reason.
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
			lacks, mostLacked = nameWithin(t.Attribute, g.Name), d
		}
		if d := difference * t.Detected; difference > noneAdds && d > 0 && favoured == nil {
			imputed = true
		} else if difference > noneAdds && d > most {
			why, note, most = nameWithin(t.Attribute, g.Name), "", d
			if c := certainty(t); c == "low" || c == "" && t.Detected < minDetected {
				note = "weakly detected"
			}
		}
	}
	switch {
	case why != "":
	case lacks != "":
		why, note = lacks, "not detected"
	case imputed:
		note = "by an imputed entry"
	case !detected && len(g.Terms) == 1:
		note = "not detected"
	case !detected && len(g.Terms) > 0:
		note = "without a detected attribute"
	}
	return strings.TrimPrefix(why, title(g)), note
}

func title(g predictor.Group) string {
	if g.Strongest == nil {
		return format.AttributeName(g.Name)
	}
	var names []string
	for _, name := range g.Strongest {
		names = append(names, format.AttributeName(name))
	}
	return fmt.Sprintf("group %s of %s", g.Name, format.List(names, "and"))
}

// GivenSentence says how much of the two descriptions was given, "" if all of them was.
func GivenSentence(c *predictor.Comparison) string {
	if c.Given.Class == 1 && c.Given.Against == 1 {
		return ""
	}
	return fmt.Sprintf("%s of the description of %s and %s of that of %s are given; the other entries are "+
		"imputed.", format.Percent(c.Given.Class), format.ClassName(c.Class),
		format.Percent(c.Given.Against), format.ClassName(c.Against))
}

// FitSentence says how well a sample fits, "" if that is not known.
func FitSentence(fit *float64) string {
	if fit == nil {
		return ""
	}
	text := fmt.Sprintf("Fit %s: the share of held-out samples of described classes that match their best "+
		"class less well", format.Percent(*fit))
	if *fit < predictor.LowFit {
		text += ". The sample may be of none of the candidates"
	}
	return text + "."
}
