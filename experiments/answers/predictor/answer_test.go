package predictor

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// answered predicts a sample with these detections as one of the classes of the model.
func answered(t *testing.T, m *train.Saved, detections []float64, o Options) *Answer {
	t.Helper()
	p := testkit.Must((&Model{Saved: m}).Predictor(Candidates{What: "classes", Names: m.Classes, U: m.Descriptions}, o))(t)
	return testkit.Must(p.Answer(testlab.BirdFeatures(detections), 1))(t)
}

// compared compares the cuckoo with the runner-up.
func compared(t *testing.T, m *train.Saved) *Comparison {
	t.Helper()
	a := answered(t, m, testlab.Cuckoo, Options{})
	return testkit.Must(a.Compare(Other{a.Order[1], RunnerUp}))(t)
}

// For every design, contributions add up to the log odds, parts to them, and terms to the scores.
func TestPartsAddUp(t *testing.T) {
	for _, v := range model.Variants {
		for _, p := range model.Priors {
			for _, complement := range model.Complements {
				for i, zeta := range []float64{10, 10, 1000} {
					c := model.Config{Variant: v, Prior: p, Complement: complement, Zeta: zeta}
					if v == model.KSoft {
						c.K = 2
					}
					t.Run(fmt.Sprint(v, " ", p, " ", complement, " ", i), func(t *testing.T) {
						m, detections := testlab.RandomBirds(c, uint64(i))
						m.Decision = model.Decision{Kind: model.Subtract, Scoring: model.Scoring{Omega: 0.5}}
						m.Reference.Detections = dataset.Matrix[float32]{Rows: 1, Cols: 6, Data: []float32{0.1, 0.9, 0.4, 0.3, 0.6, 0.2}}
						a := answered(t, m, detections, Options{Temperature: 2})
						checkSums(t, a, testkit.Must(a.Compare(Other{a.Order[1], RunnerUp}))(t), len(m.Attributes))
					})
				}
			}
		}
	}
}

func checkSums(t *testing.T, a *Answer, c *Comparison, attributes int) {
	t.Helper()
	last := math.Inf(1)
	for _, g := range c.Groups {
		if math.Abs(g.Contribution) > last {
			t.Errorf("%s contributes more than the group above it", g.Name)
		}
		last = math.Abs(g.Contribution)
		score, share := g.Others.Term, g.Others.Share
		score.Add(g.None.Term)
		share.Add(g.None.Share)
		for _, term := range g.Terms {
			score.Add(term.Term)
			share.Add(term.Share)
			if term.Prior > 0 {
				testkit.Near(t, term.Attribute, term.Gamma*term.Used.Class/term.Prior*term.Detected, term.Term.Class, 1e-9)
			}
		}
		got, want := []float64{score.Class, score.Against, share.Class, share.Against}, []float64{g.Score.Class, g.Score.Against, 1, 1}
		testkit.NearAll(t, "scores and shares", got, want, 1e-9)
		testkit.Equal(t, "attributes of "+g.Name, len(g.Terms)+g.Others.Count, attributes)
	}
	together := c.Correction
	for _, g := range c.Groups {
		together += g.Contribution
	}
	testkit.Near(t, "sum of contributions and correction", together, c.LogOdds, 1e-9)
	testkit.Near(t, "log odds", c.LogOdds, a.Class(1).LogP-a.Class(2).LogP, 1e-9)
}

// The paper's example of a soft OR, with a nuthatch for the runner-up. The cuckoo is
// described as brown (0.6) and white (0.5), which are scaled to 6/11 and 5/11; 0.1 and
// 0.7 are detected of them. With p for the uniform prior,
//
//	Ac          = 0.9 0.3 0.8
//	G[cuckoo]   = (6/11 0.1 + 5/11 0.7) / p + (5/11 6/11) / (1-p)^3 Ac
//	G[nuthatch] = (0.1 0.1 + 0.4 0.7) / p   + (0.9 0.6) / (1-p)^3 Ac
func TestExplainTheCuckoo(t *testing.T) {
	m := testlab.Birds(testlab.HardBirds)
	c := compared(t, m)
	testkit.Equal(t, "classes", []string{c.Class, c.Against}, m.Classes[:2])
	groups := c.Groups
	g := groups[slices.IndexFunc(groups, func(g Group) bool { return g.Name == m.Groups[0] })]
	p := g.Terms[0].Prior
	asDetected := func(p float64) float64 { return 1 / (1 + math.Exp(-float64(float32(math.Log(p/(1-p)))))) } // features are float32
	none := func(u ...float64) float64 {
		product := 1.0
		for i, v := range u {
			product *= (1 - v) / (1 - p) * (1 - asDetected(testlab.Cuckoo[i]))
		}
		return product
	}
	white := g.Terms[1]
	for what, c := range map[string][2]float64{
		"score of the cuckoo":   {g.Score.Class, (6./11*asDetected(0.1)+5./11*asDetected(0.7))/p + none(6./11, 5./11, 0)},
		"score of the nuthatch": {g.Score.Against, (0.1*asDetected(0.1)+0.4*asDetected(0.7))/p + none(0.1, 0.4, 0)},
		"contribution":          {g.Contribution, math.Log(g.Score.Class / g.Score.Against)},
		"white, detected":       {white.Detected, asDetected(0.7)},
		"white, described":      {*white.Described.Class, 0.5},
		"white, of the other":   {*white.Described.Against, 0.4},
		"white, as used":        {white.Used.Class, 5. / 11},
		"share of white":        {white.Share.Class, 5. / 11 * asDetected(0.7) / p / g.Score.Class},
	} {
		testkit.Near(t, what, c[0], c[1], 1e-9)
	}
	// Attributes are ordered by the difference of their terms: brown by (6/11 - 0.1) 0.1, white
	// by (5/11 - 0.4) 0.7, yellow, which neither is, by nothing.
	for i, name := range m.Attributes[:3] {
		testkit.Equal(t, fmt.Sprint("term ", i), g.Terms[i].Attribute, name)
	}
}

func TestNamesOfGroups(t *testing.T) {
	learned := [][]string{
		{"has_primary_color::brown", "has_primary_color::yellow", "has_breast_pattern::striped"},
		{"has_primary_color::white", "has_breast_pattern::solid", "size::small_(5_-_9_in)"},
	}
	for v, want := range map[model.Variant][]string{ // by k
		model.Singletons: testlab.Birds(testlab.HardBirds).Attributes, model.SemanticHard: testlab.Birds(testlab.HardBirds).Groups, model.SemanticSoft: testlab.Birds(testlab.HardBirds).Groups, model.KSoft: {"0", "1"},
	} {
		config := testlab.HardBirds
		config.Variant, config.K = v, 2
		m := testlab.Birds(config)
		for _, g := range compared(t, m).Groups {
			if g.Name != want[g.K] || v == model.KSoft && !slices.Equal(g.Strongest, learned[g.K]) || v != model.KSoft && g.Strongest != nil {
				t.Errorf("%s: group %d is %q with %q, expected %q", v, g.K, g.Name, g.Strongest, want[g.K])
			}
		}
	}
}
