package render

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
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
	for _, c := range []struct {
		contribution float64
		none         float64 // the difference of the none-of-group terms
		terms        []predictor.Term
		want         string
	}{
		{1, 0, []predictor.Term{brown, buff, blue, grey}, "color: buff"}, // 0.30 from brown and 0.35 from buff
		{1, 0, []predictor.Term{weak}, "color: white (detection 0.43)"},
		{-1, 0, []predictor.Term{buff, grey, blue}, "color: grey"},
		{1, 0.2, []predictor.Term{blue, gone}, "the absence of color: green"},
		{1, 0.4, []predictor.Term{buff, gone}, "the absence of color: green"}, // none of the group adds more than buff
		{1, 0.4, []predictor.Term{grey, blue}, "color"},                       // grey was detected
		{1, 0.2, []predictor.Term{blue, blue}, "color (none of its attributes detected)"},
		{1, 0.2, []predictor.Term{blue}, "color (not detected)"},
		{1, 0, nil, "color"},
		{1, 0, []predictor.Term{unknown, weak}, "color: white (detection 0.43)"},
		{1, 0, []predictor.Term{unknown, grey}, "color (imputed)"},
		{1, 0.2, []predictor.Term{nothing, grey}, "color"},
		{1, 0, []predictor.Term{highWhite}, "color: white (detection 0.43, high)"},
		{1, 0, []predictor.Term{lowBuff}, "color: buff (detection 0.69, low)"},
		{1, 0.2, []predictor.Term{usualGreen}, "the absence of color: green"},
		{1, 0.2, []predictor.Term{highGreen}, "color"}, // high for the model: not absent
	} {
		g := predictor.Group{Name: "has_color", Contribution: c.contribution, Terms: c.terms, None: predictor.None{Term: predictor.Pair{Class: c.none}}}
		testkit.Equal(t, fmt.Sprintf("%+v", c.terms), reason(g), c.want)
	}
}

func TestSentence(t *testing.T) {
	for _, x := range []struct {
		logOdds, correction, tail float64
		want                      string
	}{
		{math.Log(2), 0, -0.007, "is 2.0 times as likely as gull, the runner-up, mainly because of size and crown; bill favours gull most. " +
			"Log odds: +0.70 from 3 named groups, -0.01 from 1 other group, together +0.69."},
		{0.7, 0, 0.001, "mainly because of size and crown; bill favours gull most. Log odds: +0.70 from 3 named groups, +0.00 from 1 other group, together +0.70."},
		{8.7, 8, 0, "is over 1000 times as likely as gull, the runner-up, mainly because of the correction by seen classes, size and crown; bill favours gull most."},
		{0.02, -0.68, 0, "is about as likely as gull, the runner-up, mainly because of size and crown; the correction by seen classes favours gull most. " +
			"Log odds: +1.10 from 2 named groups, -0.40 from 2 other groups, -0.68 from the correction, together +0.02."},
		{0.02, 0.52, -1.2, "because of the correction by seen classes: the groups alone favour gull by 0.50, most of all tail. Log odds: "},
		{0.02, 0.023, -0.703, "because of the correction by seen classes: the groups alone favour neither class, most of all "},
	} {
		c := predictor.Comparison{Class: "wren", Against: "gull", Reason: predictor.RunnerUp, LogOdds: x.logOdds, Correction: x.correction, Groups: []predictor.Group{
			{Name: "size", Contribution: 0.9}, {Name: "bill", Contribution: -0.4}, {Name: "crown", Contribution: 0.2}, {Name: "tail", Contribution: x.tail},
		}}
		predictor.SortBy(c.Groups, func(g predictor.Group) float64 { return math.Abs(g.Contribution) })
		testkit.WantText(t, Sentence(&c), x.want)
	}
	c := predictor.Comparison{Class: "wren", Against: "gull", LogOdds: 1}
	for range 10 {
		c.Groups = append(c.Groups, predictor.Group{Name: "g" + string(rune('0'+len(c.Groups))), Contribution: 0.1})
	}
	testkit.WantText(t, Sentence(&c), "because of 10 groups together, most of all g0, g1 and g2. Log odds: +0.30 from 3 named groups, +0.70 from 7 other groups, together +1.00.")
}

// Over random models with missing entries, the numbers of a sentence add up to the log odds; it says that
// the correction decides where the groups alone favour the other class; and the attributes that it names
// are described for the class that they favour, or by which another one is absent.
func TestSentenceProperty(t *testing.T) {
	number := regexp.MustCompile(`[-+]\d+\.\d\d`)
	decided := 0
	rapid.Check(t, func(t *rapid.T) {
		c := model.Config{
			Variant: rapid.SampledFrom(model.Variants).Draw(t, "variant"), Prior: rapid.SampledFrom(model.Priors).Draw(t, "prior"),
			Complement: rapid.SampledFrom(model.Complements).Draw(t, "complement"), Zeta: 10,
		}
		if c.Variant == model.KSoft {
			c.K = 2
		}
		m, detections := testlab.RandomBirds(c, rapid.Uint64().Draw(t, "seed"))
		for i := range m.Descriptions.Data {
			if rapid.IntRange(0, 3).Draw(t, "missing") == 0 {
				m.Descriptions.Data[i] = math.NaN()
			}
		}
		m.Correction = model.Correction{Kind: rapid.SampledFrom([]model.CorrectionKind{model.NoCorrection, model.Subtract, model.Standardise}).Draw(t, "correction"), Omega: 1}
		m.Stored.Detections = dataset.Matrix[float32]{Rows: 2, Cols: 6, Data: []float32{0.1, 0.9, 0.4, 0.3, 0.6, 0.2, 0.6, 0.1, 0.2, 0.8, 0.3, 0.5}}
		if rapid.Bool().Draw(t, "deciles") {
			m.Stored.Deciles = dataset.NewMatrix[float32](9, 6)
			for i := range m.Stored.Deciles.Data {
				m.Stored.Deciles.Data[i] = float32(i/6+1) / 10
			}
		}
		if rapid.Bool().Draw(t, "stacking") {
			m.Learned, m.Generalised = []int{2}, &train.Remedy{Correction: m.Correction, Gamma: rapid.Float64Range(-3, 3).Draw(t, "gamma")}
		}
		p := testkit.Must((&predictor.Model{Saved: m}).Predictor(predictor.Candidates{What: "classes", Names: m.Classes, U: m.Descriptions}, predictor.Options{}))(t)
		a := testkit.Must(p.Answer(testlab.BirdFeatures(detections), 1))(t)
		x := testkit.Must(a.Compare(predictor.Other{Class: a.Order[1], Reason: predictor.RunnerUp}))(t)
		var groups float64
		for _, g := range x.Groups {
			groups += g.Contribution
			sign, reason := g.Contribution, reason(g)
			for _, term := range g.Terms {
				described := term.Described.Class
				if (sign < 0) != strings.Contains(reason, "absence") {
					described = term.Described.Against
				}
				if strings.Contains(reason, format.AttributeName(term.Attribute)) && term.Attribute != g.Name && g.Strongest == nil && described == nil {
					t.Errorf("%q is a reason, but it is not described", reason)
				}
			}
		}
		sentence := Sentence(x)
		_, sums, _ := strings.Cut(sentence, "Log odds: ")
		numbers, sum := number.FindAllString(sums, -1), 0.0
		for i, text := range numbers {
			v := testkit.Must(strconv.ParseFloat(text, 64))(t)
			if i == len(numbers)-1 {
				testkit.Near(t, "sum of the numbers", sum, v, 0.005*float64(len(numbers)))
				testkit.Near(t, "the last number", v, x.LogOdds, 0.005+1e-9)
			}
			sum += v
		}
		says := strings.Contains(sentence, ": the groups alone favour ")
		if decides := groups < 0 && x.LogOdds > 0; says != decides && math.Abs(groups) > 1e-9 {
			t.Errorf("groups %g, log odds %g: %s", groups, x.LogOdds, sentence)
		} else if says {
			decided++
		}
	})
	if decided == 0 {
		t.Error("the correction decided nowhere")
	}
}
