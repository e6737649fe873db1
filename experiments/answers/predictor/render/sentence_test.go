package render

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
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
		{1, 0, []predictor.Term{weak}, "white (detection 0.43)"},
		{-1, 0, []predictor.Term{buff, grey, blue}, "grey"},
		{1, 0.2, []predictor.Term{blue, gone}, "absence of green"},
		{1, 0.4, []predictor.Term{buff, gone}, "absence of green"}, // none of the group adds more than buff
		{1, 0.4, []predictor.Term{grey, blue}, ""},                 // grey was detected
		{1, 0.2, []predictor.Term{blue, blue}, "(none of its attributes detected)"},
		{1, 0.2, []predictor.Term{blue}, "(not detected)"},
		{1, 0, nil, ""},
		{1, 0, []predictor.Term{unknown, weak}, "white (detection 0.43)"},
		{1, 0, []predictor.Term{unknown, grey}, "(imputed)"},
		{1, 0.2, []predictor.Term{nothing, grey}, ""},
		{1, 0, []predictor.Term{highWhite}, "white (detection 0.43, high)"},
		{1, 0, []predictor.Term{lowBuff}, "buff (detection 0.69, low)"},
		{1, 0.2, []predictor.Term{usualGreen}, "absence of green"},
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
		want                      string
	}{
		{
			math.Log(2), 0, -0.007,
			"wren is 2.0 times as likely as gull, the runner-up, mainly because of size (+0.90) and crown (+0.20); bill (-0.40) favours gull most. Log odds: +0.69.",
		},
		{8.7, 8, 0, "wren is far more likely than gull, the runner-up, mainly because of the correction by seen classes (+8.00), size (+0.90) and crown (+0.20);"},
		{0.02, -0.68, 0, "wren is about as likely as gull, the runner-up, mainly because of size (+0.90) and crown (+0.20); the correction by seen classes (-0.68) favours gull most."},
		{0.02, 0.52, -1.2, "because of the correction by seen classes: the groups alone favour gull by 0.50. Log odds: +0.02."},
		{0.02, 0.023, -0.703, "because of the correction by seen classes: the groups alone favour neither class. Log odds: "},
	} {
		c := predictor.Comparison{Class: "wren", Against: "gull", Reason: predictor.RunnerUp, LogOdds: x.logOdds, Correction: x.correction, Groups: []predictor.Group{
			{Name: "size", Contribution: 0.9}, {Name: "bill", Contribution: -0.4}, {Name: "crown", Contribution: 0.2}, {Name: "tail", Contribution: x.tail},
		}}
		predictor.SortBy(c.Groups, func(g predictor.Group) float64 { return math.Abs(g.Contribution) })
		testkit.WantText(t, Sentence(&c, ShownGroups), x.want)
	}
	// Where the groups that could be named do not outweigh the others, none of them is a reason.
	c := predictor.Comparison{Class: "wren", Against: "gull", LogOdds: 0.9, Correction: -0.9}
	for i, by := range []float64{-0.8, 0.7, 0.1, 0.1, -0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1} {
		c.Groups = append(c.Groups, predictor.Group{Name: fmt.Sprint("g", i), Contribution: by})
	}
	testkit.Equal(t, "sentence", Sentence(&c, 5), "wren is 2.5 times as likely as gull. No single group decides: "+
		"the strongest, g0, favours gull by 0.80. Log odds: +0.90.")
}

// Of many random groups: every name and number of a sentence is in the chart below it, what it names as the main
// reason outweighs the rest, and it says that the correction decides where the groups alone favour the other class.
func TestSentenceProperty(t *testing.T) {
	number := regexp.MustCompile(`[-+]?\d+\.\d\d`)
	forms := map[string]int{}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		x, most := randomComparison(r), 1+r.IntN(8)
		sentence := Sentence(x, most)
		var shown []string
		for _, p := range newChart(x, most).Steps {
			shown = append(shown, fixed(math.Abs(p.LogOdds)), fixed(math.Abs(p.Sum)), p.Name)
		}
		for _, n := range number.FindAllString(sentence, -1) {
			if !slices.Contains(shown, strings.TrimLeft(n, "+-")) {
				t.Errorf("%s of %q is not in the chart %q", n, sentence, shown)
			}
		}
		_, because, mainly := strings.Cut(sentence, ", mainly because of ")
		switch {
		case strings.Contains(sentence, ": the groups alone favour "):
			if forms["correction"]++; x.LogOdds > x.Correction+1e-9 {
				t.Errorf("log odds %g, correction %g: %s", x.LogOdds, x.Correction, sentence)
			}
		case mainly:
			forms["mainly"]++
			because, _, _ = strings.Cut(because, ". Log odds")
			total := 0.0
			for _, n := range number.FindAllString(because, -1) {
				total += testkit.Must(strconv.ParseFloat(n, 64))(t)
			}
			if total < math.Abs(x.LogOdds-total)-0.05 {
				t.Errorf("%g of %g: %s", total, x.LogOdds, sentence)
			}
		default:
			forms["none"]++
			testkit.WantText(t, sentence, ". No single group decides: ", " favours ")
		}
	}
	testkit.Equal(t, "forms", len(forms), 3)
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
