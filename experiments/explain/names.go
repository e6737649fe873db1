package explain

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

var (
	className     = format.ClassName
	attributeName = format.AttributeName
)

// nameWithin returns the name of an attribute without that of its group.
func nameWithin(name, group string) string {
	if g, value, found := strings.Cut(name, "::"); found && g == group {
		return format.Spaced(value)
	}
	return attributeName(name)
}

// title returns the name of a group for people.
func (g Group) title() string {
	if g.Strongest == nil {
		return attributeName(g.Name)
	}
	var names []string
	for _, name := range g.Strongest {
		names = append(names, attributeName(name))
	}
	return fmt.Sprintf("group %s (%s)", g.Name, strings.Join(names, ", "))
}

// fold removes case, spaces and punctuation, so that spellings can be compared.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) || r == '+' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// findClass returns the candidate with a name, as spelled in the data set or by people.
func findClass(c candidates.Set, name string) (int, error) {
	if z := slices.Index(c.Names, name); z >= 0 {
		return z, nil
	}
	var matches, names []string
	for _, other := range c.Names {
		names = append(names, className(other))
		if fold(other) == fold(name) || fold(className(other)) == fold(name) {
			matches = append(matches, other)
		}
	}
	if len(matches) == 1 {
		return slices.Index(c.Names, matches[0]), nil
	}
	e := &invalid.Error{
		Where: "--against", Want: fmt.Sprintf("one of the %d %s", len(c.Names), c.What), Got: strconv.Quote(name),
		Hint: invalid.DidYouMean(name, names),
	}
	if len(matches) > 1 {
		e.Hint = `Choose one of "` + strings.Join(matches, `", "`) + `".`
	}
	return 0, e
}

// odds returns log odds as a ratio.
func odds(logOdds float64) string {
	ratio := math.Exp(math.Abs(logOdds))
	if ratio >= 1e6 {
		return "over a million to 1"
	}
	return fmt.Sprintf("%.1f to 1", ratio)
}

// times compares two probabilities in words.
func times(logOdds float64) string {
	switch ratio := math.Exp(logOdds); {
	case ratio >= 1e6:
		return "over a million times as likely as"
	case ratio < 1.05:
		return "about as likely as"
	default:
		return fmt.Sprintf("%.1f times as likely as", ratio)
	}
}

func probability(p float64) string { return fmt.Sprintf("%.3f", p) }
func fixed(v float64) string       { return fmt.Sprintf("%.2f", v) }

// optional returns a number with two digits, or other for nil.
func optional(p *float64, other string) string {
	if p == nil {
		return other
	}
	return fixed(*p)
}
