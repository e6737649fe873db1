package render

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/testkit"
)

// The reason is the attribute that adds most to the class that the group favours, weighted by its
// detection, otherwise one that the other class has and that was not detected, otherwise the group.
func TestReason(t *testing.T) {
	term := func(name string, p, class, against float64) predictor.Term {
		return predictor.Term{
			Attribute: "has_color::" + name, Gamma: 1, Detected: p,
			Used:      predictor.Pair{Class: class, Against: against},
			Described: predictor.Described{Class: &class, Against: &against},
			Term:      predictor.Pair{Class: class * p, Against: against * p},
		}
	}
	brown, buff, weak := term("brown", 0.43, 0.9, 0.2), term("buff", 0.69, 0.7, 0.2), term("white", 0.43, 0.9, 0)
	grey, gone, blue := term("grey", 0.61, 0, 0.6), term("green", 0.1, 0, 0.6), term("blue", 0.1, 0, 0.09)
	unknown, nothing := buff, gone // what is imputed is no reason
	unknown.Described.Class, nothing.Described.Against = nil, nil
	highWhite, lowBuff, usualGreen, highGreen := weak, buff, gone, gone
	highWhite.Above, lowBuff.Above, usualGreen.Above, highGreen.Above = new(0.95), new(0.15), new(0.5), new(0.8)
	for _, x := range []struct {
		contribution float64
		none         float64 // the difference of the none-of-group terms
		terms        []predictor.Term
		want         string
	}{
		{1, 0, []predictor.Term{brown, buff, blue, grey}, "buff"}, // 0.30 from brown and 0.35 from buff
		{1, 0, []predictor.Term{weak}, "white (weakly detected)"},
		{-1, 0, []predictor.Term{buff, grey, blue}, "grey"},
		{1, 0.2, []predictor.Term{blue, gone}, "green (not detected)"},
		{1, 0.4, []predictor.Term{buff, gone}, "green (not detected)"}, // none of the group adds more than buff
		{1, 0.4, []predictor.Term{grey, blue}, ""},                     // grey was detected
		{1, 0.2, []predictor.Term{blue, blue}, "(without a detected attribute)"},
		{1, 0.2, []predictor.Term{blue}, "(not detected)"},
		{1, 0, nil, ""},
		{1, 0, []predictor.Term{unknown, weak}, "white (weakly detected)"},
		{1, 0, []predictor.Term{unknown, grey}, "(by an imputed entry)"},
		{1, 0.2, []predictor.Term{nothing, grey}, ""},
		{1, 0, []predictor.Term{highWhite}, "white"},
		{1, 0, []predictor.Term{lowBuff}, "buff (weakly detected)"},
		{1, 0.2, []predictor.Term{usualGreen}, "green (not detected)"},
		{1, 0.2, []predictor.Term{highGreen}, ""}, // high for the model: not absent
	} {
		c := predictor.Comparison{Groups: []predictor.Group{
			{Name: "has_color", Contribution: x.contribution, Terms: x.terms, None: predictor.None{Term: predictor.Pair{Class: x.none}}},
		}}
		p := Parts(&c, 1)[0]
		testkit.Equal(t, fmt.Sprintf("%+v", c.Groups[0].Terms), p.Name+" "+p.Why(), "color "+x.want)
	}
}

func TestSentence(t *testing.T) {
	for _, x := range []struct {
		logOdds, correction, tail float64
		reason                    predictor.Reason
		want                      string
	}{
		{0.69, 0, -0.007, predictor.RunnerUp, "For wren: size (+0.90), crown (+0.20). Against wren: bill (-0.40), tail (-0.01). Log odds: +0.69."},
		{8.7, 8, 0, predictor.TrueClass, "For wren over gull, the true class: the correction of the scores (+8.00), size (+0.90), crown (+0.20). Against wren: bill (-0.40). Log odds: +8.70."},
		{0.001, -0.7, 0, predictor.RunnerUp, "Against wren: the correction of the scores (-0.70), bill (-0.40). wren and gull are equally likely. Log odds: +0.00."},
		{0.02, 0.52, -1.2, predictor.RunnerUp, "Against wren: tail (-1.20), bill (-0.40). The groups alone favour gull. Log odds: +0.02."},
		{0.02, 0.023, -0.703, predictor.Requested, "For wren over gull: size (+0.90), crown (+0.20), the correction of the scores (+0.02). Against wren: tail (-0.70), bill (-0.40). The groups alone favour neither class. Log odds: +0.02."},
	} {
		c := predictor.Comparison{Class: "wren", Against: "gull", Reason: x.reason, LogOdds: x.logOdds, Correction: x.correction, Groups: []predictor.Group{
			{Name: "size", Contribution: 0.9}, {Name: "bill", Contribution: -0.4}, {Name: "crown", Contribution: 0.2}, {Name: "tail", Contribution: x.tail},
		}}
		predictor.SortBy(c.Groups, func(g predictor.Group) float64 { return math.Abs(g.Contribution) })
		testkit.WantText(t, Sentence(&c, ShownGroups), x.want)
	}
	// Learned groups with the same reason are one, and other groups are named if they weigh more than any.
	learned := func(name string, by, term float64) predictor.Group {
		given := 1.0
		return predictor.Group{Name: name, Strongest: []string{"has_bill::hooked"}, Contribution: by, Terms: []predictor.Term{{
			Attribute: "has_bill::hooked", Detected: 0.6, Described: predictor.Described{Class: &given}, Term: predictor.Pair{Class: term},
		}}}
	}
	c := predictor.Comparison{Class: "wren", Against: "gull", LogOdds: 2.4, Groups: []predictor.Group{
		learned("7", 0.5, 1), learned("2", 0.4, 1), learned("5", -0.3, 0), learned("4", 0.9, 0), learned("1", 0.9, 0),
	}}
	testkit.Equal(t, "sentence", Sentence(&c, 3), "For wren over gull: bill hooked in groups 7 and 2 (+0.90), 2 other groups together (+1.80). "+
		"Against wren: group 5 of bill hooked (-0.30). Log odds: +2.40.")
	testkit.Equal(t, "short", Short(&c), "rather than gull: bill hooked in groups 7 and 2 (+0.90), group 4 of bill hooked (+0.90)")
	testkit.Equal(t, "short without a reason", Short(&predictor.Comparison{Against: "gull"}), "rather than gull")
}

// Of many random groups: every name and number of a sentence is in the chart below it, on the side of its sign,
// the largest part first, and it says where the correction decides.
func TestSentenceProperty(t *testing.T) {
	number := regexp.MustCompile(`[-+]\d+\.\d\d`)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		x, most := randomComparison(r), 1+r.IntN(8)
		sentence := Sentence(x, most)
		steps := newChart(x, most).Steps
		favour, against, _ := strings.Cut(sentence, "Against ")
		for sign, text := range map[float64]string{1: favour, -1: against} {
			text, _, _ = strings.Cut(text, " Log odds")
			largest := Part{}
			var shown []string
			for _, p := range steps[:len(steps)-1] {
				if shown = append(shown, signed(p.LogOdds)); sign*p.LogOdds > sign*largest.LogOdds {
					largest = p.Part
				}
			}
			if !negligible(largest.LogOdds) {
				testkit.WantText(t, text, largest.text()+" ("+signed(largest.LogOdds)+")")
			}
			for _, n := range number.FindAllString(text, -1) {
				if !slices.Contains(shown, n) || (n[0] == '+') != (sign > 0) {
					t.Errorf("%s of %q is not in the chart %q", n, sentence, shown)
				}
			}
		}
		testkit.WantText(t, sentence, " Log odds: "+signed(x.LogOdds)+".")
		decides := x.LogOdds-x.Correction < -0.005 && !negligible(x.LogOdds)
		testkit.Equal(t, sentence, strings.Contains(sentence, "The groups alone favour gull"), decides)
	}
}

// randomComparison has many groups.
func randomComparison(r *rand.Rand) *predictor.Comparison {
	x := &predictor.Comparison{Class: "wren", Against: "gull", Correction: float64(r.IntN(2)) * r.NormFloat64()}
	x.LogOdds = x.Correction
	for k := range 1 + r.IntN(30) {
		by := r.NormFloat64() / float64(1+r.IntN(4))
		x.Groups = append(x.Groups, predictor.Group{Name: fmt.Sprint("g", k), Contribution: by})
		x.LogOdds += by
	}
	if x.LogOdds < 0 { // the other class is the predicted one
		x.LogOdds, x.Correction = -x.LogOdds, -x.Correction
		for k := range x.Groups {
			x.Groups[k].Contribution *= -1
		}
	}
	predictor.SortBy(x.Groups, func(g predictor.Group) float64 { return math.Abs(g.Contribution) })
	return x
}
