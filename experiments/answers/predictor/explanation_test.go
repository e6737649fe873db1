package predictor

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// detected asks about a sample with these detections among all classes.
func detected(m *train.Saved, detections []float64, label string) Question {
	p, err := (&Model{Saved: m}).Predictor(Candidates{What: "classes", Names: m.Classes, U: m.Descriptions}, Options{Adapt: m.Decision.Adaptation != nil})
	if err != nil {
		panic(err)
	}
	q := Question{Predictor: p, Sample: Sample{Index: 7, From: "birds"}, X: testlab.BirdFeatures(detections), Row: 1}
	if label != "" {
		q.Sample.Label = &label
	}
	return q
}

func explained(t *testing.T, q Question) *Explanation {
	t.Helper()
	return testkit.Must(Explain(q))(t)
}

func TestExplanationAsJSON(t *testing.T) {
	x, back := explained(t, detected(testlab.Birds(testlab.HardBirds), testlab.Cuckoo, "")), new(Explanation)
	testkit.NoError(t, json.Unmarshal(testkit.Must(json.Marshal(x))(t), back))
	testkit.Equal(t, "JSON", back, x)
}

// What is compared, by the true class and the class asked for.
func TestComparedClasses(t *testing.T) {
	m := testlab.Birds(testlab.HardBirds)
	first, second, third := m.Classes[0], m.Classes[1], m.Classes[2] // by log p of the testlab.Cuckoo
	for _, c := range []struct{ label, against, want string }{
		{"", "", second + " runner-up"},
		{first, "", second + " runner-up"},
		{second, "", second + " true class"},
		{third, "", second + " runner-up, " + third + " true class"},
		{"001.Dodo", "", second + " runner-up"},
		{second, "prothonotary-warbler", third + " requested"},
	} {
		q := detected(m, testlab.Cuckoo, c.label)
		q.Against = c.against
		x := explained(t, q)
		var got []string
		for _, comparison := range x.Comparisons {
			got = append(got, comparison.Against+" "+string(comparison.Reason))
		}
		testkit.Equal(t, fmt.Sprintf("%q against %q", c.label, c.against), strings.Join(got, ", "), c.want)
		if x.Correct != nil {
			testkit.Equal(t, "correct, for "+x.Label.Class, *x.Correct, c.label == first)
		}
	}
}

func TestExplainRefuses(t *testing.T) {
	m, other := testlab.Birds(testlab.HardBirds), testlab.Birds(testlab.HardBirds)
	other.Method, other.Classifier = methods.Named{Name: "eszsl", Method: new(eszsl.Settings)}, nil
	_, err := Explain(detected(other, testlab.Cuckoo, ""))
	testkit.WantError(t, err, "model: expected a LAGO model, found another method")
	q := detected(m, testlab.Cuckoo, "")
	for against, parts := range map[string][]string{
		"Black billed cuckoo":    {`"Black billed cuckoo"`, "another class than the predicted one"},
		"white breasted nuthach": {"3 candidates", `"white breasted nuthach"`, "Did you mean White breasted Nuthatch?"},
	} {
		q.Against = against
		_, err = Explain(q)
		testkit.WantError(t, err, append(parts, "against: ")...)
	}
	q.Predictor.Candidates.What, q.Predictor.Candidates.Names = "test classes", q.Predictor.Candidates.Names[:1]
	_, err = Explain(q)
	testkit.WantError(t, err, "test classes: ", "at least two", "found 1")
}

func TestFindSample(t *testing.T) {
	d := &dataset.Dataset{Name: "small", Features: dataset.NewMatrix[float32](3, 2), Labels: []int{1, 0, 1}, Classes: []string{"owl", "wren"}}
	testkit.Equal(t, "sample", testkit.Must(FindSample(d, "2"))(t), Sample{Index: 2, From: "small", Label: &d.Classes[1]})
	_, err := FindSample(d, "3")
	testkit.WantError(t, err, "sample: expected the index of a sample of small, 0 to 2, found ")
	d.IDs = []string{"a.png", "0", "b.png"} // an id comes before an index
	for name, want := range map[string]int{"b.png": 2, "0": 1, "2": 2} {
		testkit.Equal(t, "sample "+name, testkit.Must(FindSample(d, name))(t).Index, want)
	}
	_, err = FindSample(d, "c.png")
	testkit.WantError(t, err, "or its id", "Did you mean a.png")
}

// compared compares the cuckoo with the runner-up.
func compared(t *testing.T, m *train.Saved) Comparison {
	t.Helper()
	return explained(t, detected(m, testlab.Cuckoo, "")).Comparisons[0]
}

// For every design, contributions add up to the log odds, parts to them, and terms to the scores.
func TestPartsAddUp(t *testing.T) {
	for _, v := range model.Variants {
		for _, p := range model.Priors {
			for _, complement := range model.Complements {
				for i, zeta := range []float64{10, 10, 1000} {
					c := model.Config{Variant: v, Prior: p, Complement: complement, Zeta: zeta}
					if v.Info().HasK() {
						c.K = 2
					}
					t.Run(fmt.Sprint(v, " ", p, " ", complement, " ", i), func(t *testing.T) {
						m, detections := testlab.RandomBirds(c, uint64(i))
						m.Decision = model.Decision{Kind: model.Subtract, Scoring: model.Scoring{Omega: 0.5}}
						m.Reference.Detections = dataset.Matrix[float32]{Rows: 1, Cols: 6, Data: []float32{0.1, 0.9, 0.4, 0.3, 0.6, 0.2}}
						q := detected(m, detections, "")
						q.Predictor.Temperature = 2
						checkSums(t, explained(t, q))
					})
				}
			}
		}
	}
}

func checkSums(t *testing.T, x *Explanation) {
	t.Helper()
	c, last := x.Comparisons[0], math.Inf(1)
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
		testkit.Equal(t, "attributes of "+g.Name, len(g.Terms)+g.Others.Count, x.Attributes)
	}
	together := c.Correction
	for _, g := range c.Groups {
		together += g.Contribution
	}
	testkit.Near(t, "sum of contributions and correction", together, c.LogOdds, 1e-9)
	testkit.Near(t, "log odds", c.LogOdds, x.Likely[0].LogP-x.Likely[1].LogP, 1e-9)
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
	g := c.Groups[slices.IndexFunc(c.Groups, func(g Group) bool { return g.Name == m.Groups[0] })]
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
