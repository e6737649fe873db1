package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/xrash/smetrics"
)

var numbered = regexp.MustCompile(`^\d+\.(.+)$`) // of a class in CUB, "002.Laysan_Albatross"

// proseClass is the name of a class as people write it.
func proseClass(name string) string {
	if found := numbered.FindStringSubmatch(name); found != nil {
		name = found[1]
	}
	return prose(name)
}

// proseAttribute is the name of an attribute or a group as people write it:
// "has_wing_color::olive" is "wing color: olive".
func proseAttribute(name string) string {
	group, value, parted := strings.Cut(name, "::")
	if short, ok := strings.CutPrefix(group, "has_"); ok && short != "" {
		group = short
	}
	if !parted {
		return prose(group)
	}
	return prose(group) + ": " + prose(value)
}

// proseWithin is the name of an attribute below that of its group.
func proseWithin(name, group string) string {
	if g, value, parted := strings.Cut(name, "::"); parted && g == group {
		return prose(value)
	}
	return proseAttribute(name)
}

// prose parts words by spaces.
func prose(name string) string {
	return printable(strings.Map(func(r rune) rune {
		if r == '_' || r == '+' {
			return ' '
		}
		return r
	}, name))
}

// printable shows what could move the cursor of a terminal as a replacement.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, name)
}

// title is the name of a group as people write it.
func (g Group) title() string {
	if g.Strongest == nil {
		return proseAttribute(g.Name)
	}
	var names []string
	for _, name := range g.Strongest {
		names = append(names, proseAttribute(name))
	}
	return fmt.Sprintf("group %s (%s)", g.Name, strings.Join(names, ", "))
}

// quote writes a name for an error.
func quote(name string) string { return strconv.Quote(name) }

// fold forgets case, and what parts words.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) || r == '+' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// nearestNames is how many names an error suggests.
const nearestNames = 3

// findClass returns the candidate of a name: as the data set spells it or as people
// write it, whatever the case.
func findClass(c Candidates, name string) (int, error) {
	if z := slices.Index(c.Names, name); z >= 0 {
		return z, nil
	}
	var hits []int
	for z, other := range c.Names {
		if fold(other) == fold(name) || fold(proseClass(other)) == fold(name) {
			hits = append(hits, z)
		}
	}
	if len(hits) == 1 {
		return hits[0], nil
	}
	what := "the nearest are"
	if len(hits) > 1 {
		what = "which may be"
	} else {
		hits = nearest(c.Names, name)
	}
	var names []string
	for _, z := range hits {
		names = append(names, quote(c.Names[z]))
	}
	return 0, fmt.Errorf("explain: against: expected one of the %d %s, found %s; %s %s",
		len(c.Names), c.What, quote(name), what, strings.Join(names, ", "))
}

// nearest returns the places of the names that the fewest edits part from a name.
func nearest(names []string, name string) []int {
	order := make([]int, len(names))
	distance := make([]int, len(names))
	for z, other := range names {
		order[z] = z
		distance[z] = smetrics.WagnerFischer(fold(name), fold(proseClass(other)), 1, 1, 1)
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(distance[x], distance[y]) })
	return order[:min(nearestNames, len(order))]
}
