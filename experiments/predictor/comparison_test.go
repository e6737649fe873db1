package predictor

import (
	"math"
	"testing"
)

// The reason is the attribute that adds most to the class that the group favours, weighted by its
// detection, otherwise one that the other class has and that was not detected, otherwise the group.
func TestReason(t *testing.T) {
	term := func(name string, p, class, against float64) Term {
		return Term{
			Attribute: "has_color::" + name, Gamma: 1, Detected: p, Used: Pair{class, against}, Described: Described{&class, &against}, Term: Pair{class * p, against * p},
		}
	}
	brown, buff, weak := term("brown", 0.43, 0.9, 0.2), term("buff", 0.69, 0.7, 0.2), term("white", 0.43, 0.9, 0)
	grey, gone, blue := term("grey", 0.61, 0, 0.6), term("green", 0.1, 0, 0.6), term("blue", 0.1, 0, 0.09)
	unknown, nothing := buff, gone // what is imputed is no reason
	unknown.Described.Class, nothing.Described.Against = nil, nil
	for _, c := range []struct {
		contribution float64
		none         float64 // the difference of the none-of-group terms
		terms        []Term
		want         string
	}{
		{1, 0, []Term{brown, buff, blue, grey}, "color: buff"}, // 0.30 from brown and 0.35 from buff
		{1, 0, []Term{weak}, "color: white (detection only 0.43)"},
		{-1, 0, []Term{buff, grey, blue}, "color: grey"},
		{1, 0.2, []Term{blue, gone}, "color: green (not detected)"},
		{1, 0.4, []Term{buff, gone}, "color: green (not detected)"}, // none of the group adds more than buff
		{1, 0.4, []Term{grey, blue}, "color"},                       // grey was detected
		{1, 0.2, []Term{blue, blue}, "color (none of its attributes detected)"},
		{1, 0.2, []Term{blue}, "color (not detected)"},
		{1, 0, nil, "color"},
		{1, 0, []Term{unknown, weak}, "color: white (detection only 0.43)"},
		{1, 0, []Term{unknown, grey}, "color (imputed)"},
		{1, 0.2, []Term{nothing, grey}, "color"},
	} {
		g := Group{Name: "has_color", Contribution: c.contribution, Terms: c.terms, None: None{Term: Pair{Class: c.none}}}
		if got := g.reason(); got != c.want {
			t.Errorf("%+v: %q, expected %q", c.terms, got, c.want)
		}
	}
}

func TestSentence(t *testing.T) {
	c := Comparison{Class: "wren", Against: "gull", Reason: RunnerUp, Groups: []Group{
		{Name: "size", Contribution: 0.9}, {Name: "bill", Contribution: -0.4}, {Name: "crown", Contribution: 0.2}, {Name: "tail", Contribution: 0.004},
	}}
	for logOdds, want := range map[float64]string{math.Log(2): "2.0 times as", 0.01: "about as", 30: "over a million times as"} {
		c.LogOdds = logOdds
		want = "wren is " + want + " likely as gull, the runner-up, mainly because of size and crown; bill favours gull most."
		if c.Sentence() != want {
			t.Errorf("found %q, expected %q", c.Sentence(), want)
		}
	}
	c.LogOdds, c.Correction = 0.02, 0.3
	const want = "wren is about as likely as gull, the runner-up, because of the correction by seen classes: the groups alone favour gull by 0.28."
	if c.Sentence() != want {
		t.Errorf("found %q, expected %q", c.Sentence(), want)
	}
}
