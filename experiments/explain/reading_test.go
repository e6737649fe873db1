package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is named is the attribute that carried the group and the one that the other
// class would have needed; of a group that speaks for the other, the other way round.
func TestReason(t *testing.T) {
	term := func(name string, seen, class, against float64) Term {
		return Term{
			Attribute: "has_color::" + name, Gamma: 1, Seen: seen, Described: Described{&class, &against},
			Used: Pair{class, against}, Term: Pair{class * seen, against * seen},
		}
	}
	carries, helps := term("brown", 0.8, 0.9, 0.2), term("buff", 0.7, 0.3, 0.2)
	lacks, hardly := term("grey", 0.1, 0, 0.6), term("blue", 0.1, 0, 0.09)
	gap := term("red", 0.9, 0.5, 0)
	gap.Described.Class = nil
	for _, c := range []struct {
		name         string
		contribution float64
		terms        []Term
		want         string
	}{
		{"for the class", 1, []Term{helps, carries, hardly, lacks}, ": brown seen 0.80 (described 0.90 and 0.20); grey seen 0.10 (described 0.00 and 0.60)"},
		{"for the other", -1, []Term{helps, carries, hardly, lacks}, ": grey seen 0.10 (described 0.00 and 0.60); brown seen 0.80 (described 0.90 and 0.20)"},
		{"nothing that the other lacks by much", 1, []Term{carries, hardly}, ": brown seen 0.80 (described 0.90 and 0.20)"},
		{"nothing that carried", 1, []Term{lacks}, ": grey seen 0.10 (described 0.00 and 0.60)"},
		{"what is not described", 1, []Term{gap}, ": red seen 0.90 (described - and 0.00)"},
		{"nothing at all", 1, nil, ""},
	} {
		if got := (Group{Name: "has_color", Contribution: c.contribution, Terms: c.terms}).reason(); got != c.want {
			t.Errorf("%s: %q, expected %q", c.name, got, c.want)
		}
	}
}

// A bar reaches to the side of the class that a group speaks for.
func TestSideOfABar(t *testing.T) {
	for _, c := range []struct{ contribution, widest, left, right float64 }{
		{1, 2, 0, 50}, {-2, 2, 100, 0}, {0, 2, 0, 0}, {0, 0, 0, 0}, {0.12345, 1, 0, 12.3},
	} {
		got := Group{Name: "g", Contribution: c.contribution}.view(c.widest)
		if diff := cmp.Diff(groupView{"g", c.contribution, c.left, c.right}, got); diff != "" {
			t.Errorf("bar (-want +got):\n%s", diff)
		}
	}
	for _, c := range []struct {
		contribution float64
		want         string
	}{
		{1, "          │█████     "}, {-2, "██████████│          "}, {0, "          │          "},
	} {
		if got := bar(c.contribution, 2); got != c.want {
			t.Errorf("%g is %q, expected %q", c.contribution, got, c.want)
		}
	}
}

// Changes that flip come one after the other: each is told with what it adds to those
// before it.
func TestChangesThatFlipAddUp(t *testing.T) {
	m := birds(hard)
	q := seen(m, []float64{0.95, 0.9, 0.01, 0.99, 0.01, 0.99}, "")
	q.Against = m.Classes[2]
	c := explainOrFail(t, m, q).Comparisons[0]
	if len(c.Flip.Changes) < 2 {
		t.Fatalf("%+v, expected several changes", c.Flip)
	}
	odds := c.LogOdds
	for _, change := range c.Flip.Changes {
		odds += change.By
		closeTo(t, "log odds so far", change.LogOdds, odds)
	}
}
