package explain

import (
	"encoding/json"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/lago"
	"github.com/lago-train/lago-train/train/methods"
)

// birds is a model whose detector of each attribute reads one feature, for three classes
// described by six attributes in three groups.
func birds(c model.Config) *train.Saved {
	semantic := []int{0, 0, 0, 1, 1, 2}
	k := map[model.Variant]int{model.Singletons: 6, model.SemanticHard: 3, model.SemanticSoft: 3, model.KSoft: c.K}[c.Variant]
	p := &model.Parameters[float32]{W: dataset.NewMatrix[float32](6, 6), B: make([]float32, 6), V: dataset.NewMatrix[float32](6, k)}
	for m := range 6 {
		p.W.Row(m)[m] = 1
		switch {
		case c.Variant.Semantic():
			p.V.Row(m)[semantic[m]] = 1
		case c.Variant == model.Singletons:
			p.V.Row(m)[m] = 1
		default: // learned
			p.V.Row(m)[m%k] = 0.1
		}
	}
	return &train.Saved{
		Method: methods.Spec{Name: methods.LAGO, Settings: &lago.Settings{Config: c}}, Dataset: "birds", Dims: 6,
		Pipeline: &model.Pipeline{
			Transform:  &preprocess.Transform{Chain: preprocess.None},
			Classifier: lago.Model{LAGO: &model.LAGO{Config: c, Semantic: semantic, Params: p}},
		},
		Attributes: []string{
			"has_primary_color::brown", "has_primary_color::white", "has_primary_color::yellow",
			"has_breast_pattern::solid", "has_breast_pattern::striped", "size::small_(5_-_9_in)",
		},
		Groups: []string{"has_primary_color", "has_breast_pattern", "size"}, Semantic: semantic,
		Classes: []string{"031.Black_billed_Cuckoo", "094.White_breasted_Nuthatch", "177.Prothonotary_Warbler"},
		Descriptions: dataset.Matrix[float64]{Rows: 3, Cols: 6, Data: []float64{
			0.6, 0.5, 0, 0.9, 0.1, 0.9,
			0.1, 0.4, 0, 0.6, 0.3, 0.4,
			0, 0.1, 0.9, 0.2, 0.7, math.NaN(),
		}},
		Split: dataset.Split{Train: []int{2}, Test: []int{0, 1}},
	}
}

// hard has groups that are exactly one-hot.
var hard = model.Config{Variant: model.SemanticHard, Prior: model.Uniform, Complement: model.DeMorgan, Zeta: 1000}

// cuckoo are the detections of the paper's example: not brown, but white.
var cuckoo = []float64{0.1, 0.7, 0.2, 0.6, 0.1, 0.9}

// detected asks about a sample with these detections among all classes. Its features are
// the logits, since the detectors of the model are the identity.
func detected(m *train.Saved, detections []float64, label string) Question {
	q := Question{
		Sample: Sample{Index: 7, From: "birds"}, X: dataset.NewMatrix[float32](2, len(detections)), Row: 1,
		Candidates: candidates.Set{What: "classes", Names: m.Classes, U: m.Descriptions}, Top: 3,
	}
	if label != "" {
		q.Sample.Label = &label
	}
	for i, p := range detections {
		q.X.Row(1)[i] = float32(math.Log(p / (1 - p)))
	}
	return q
}

func explained(t *testing.T, m *train.Saved, q Question) *Result {
	t.Helper()
	return testkit.Must(Explain(m, q))(t)
}

// random returns a model with random descriptions and groups, and a question about it.
func random(c model.Config, seed uint64) (*train.Saved, Question) {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := birds(c)
	for i := range m.Descriptions.Data {
		m.Descriptions.Data[i] = rng.Float64()
	}
	if l, _ := m.LAGO(); c.Variant.Learned() {
		for i := range l.Params.V.Data {
			l.Params.V.Data[i] += float32(rng.Float64() * 0.2)
		}
	}
	a := make([]float64, 6)
	for i := range a {
		a[i] = 0.02 + 0.96*rng.Float64()
	}
	return m, detected(m, a, "")
}

// For every design, contributions add up to the log odds, and terms to the scores.
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
						m, q := random(c, uint64(i))
						x := explained(t, m, q)
						checkSums(t, x)
						back := new(Result)
						testkit.NoError(t, json.Unmarshal([]byte(written(t, x, JSON, 1)), back))
						if diff := cmp.Diff(x, back); diff != "" {
							t.Errorf("JSON (-written +read):\n%s", diff)
						}
					})
				}
			}
		}
	}
}

func checkSums(t *testing.T, x *Result) {
	t.Helper()
	logP := map[string]float64{}
	for _, p := range x.Likely {
		logP[p.Class] = p.LogP
	}
	for _, c := range x.Comparisons {
		var together float64
		last := math.Inf(1)
		for _, g := range c.Groups {
			together += g.Contribution
			if math.Abs(g.Contribution) > last {
				t.Errorf("%s contributes more than the group above it", g.Name)
			}
			last = math.Abs(g.Contribution)
			score, share := g.Others.Term, g.Others.Share
			score.add(g.None.Term)
			share.add(g.None.Share)
			for _, term := range g.Terms {
				score.add(term.Term)
				share.add(term.Share)
				if term.Prior > 0 {
					testkit.Near(t, term.Attribute, term.Gamma*term.Used.Class/term.Prior*term.Detected, term.Term.Class, 1e-9)
				}
			}
			got, want := []float64{score.Class, score.Against, share.Class, share.Against}, []float64{g.Score.Class, g.Score.Against, 1, 1}
			testkit.NearAll(t, "scores and shares", got, want, 1e-9)
			if n := len(g.Terms) + g.Others.Count; n != x.Attributes {
				t.Errorf("%s has %d attributes, expected %d", g.Name, n, x.Attributes)
			}
		}
		testkit.Near(t, "sum of contributions", together, c.LogOdds, 1e-9)
		testkit.Near(t, "log odds", c.LogOdds, logP[c.Class]-logP[c.Against], 1e-9)
	}
}

// The paper's example of a soft OR, with a nuthatch for the runner-up. The cuckoo is
// described as brown (0.6) and white (0.5), which are scaled to 6/11 and 5/11; 0.1 and
// 0.7 are detected of them. With p for the uniform prior,
//
//	Ac          = 0.9 0.3 0.8
//	G[cuckoo]   = (6/11 0.1 + 5/11 0.7) / p + (5/11 6/11) / (1-p)^3 Ac
//	G[nuthatch] = (0.1 0.1 + 0.4 0.7) / p   + (0.9 0.6) / (1-p)^3 Ac
func TestExplainTheCuckoo(t *testing.T) {
	m := birds(hard)
	x := explained(t, m, detected(m, cuckoo, m.Classes[0]))
	if x.Predicted != m.Classes[0] || !*x.Correct || len(x.Comparisons) != 1 || x.Comparisons[0].Against != m.Classes[1] {
		t.Fatalf("found %+v, expected the cuckoo, correct, against the nuthatch", x)
	}
	groups := x.Comparisons[0].Groups
	g := groups[slices.IndexFunc(groups, func(g Group) bool { return g.Name == m.Groups[0] })]
	p := g.Terms[0].Prior
	asDetected := func(p float64) float64 { return 1 / (1 + math.Exp(-float64(float32(math.Log(p/(1-p)))))) } // features are float32
	none := func(u ...float64) float64 {
		product := 1.0
		for i, v := range u {
			product *= (1 - v) / (1 - p) * (1 - asDetected(cuckoo[i]))
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
		if g.Terms[i].Attribute != name {
			t.Errorf("term %d is of %s, expected %s", i, g.Terms[i].Attribute, name)
		}
	}
}

// If a described attribute is missed and another of its group is detected, the
// substitution is reported with the effect of detecting the missed one.
func TestSubstitutions(t *testing.T) {
	m := birds(hard)
	ask := func(a ...float64) Comparison {
		q := detected(m, a, "")
		q.Candidates.Names = []string{m.Classes[0], m.Classes[2]}
		q.Candidates.U = m.Descriptions.Gather([]int{0, 2})
		return explained(t, m, q).Comparisons[0]
	}
	c, both := ask(cuckoo...), ask(1-1e-12, 0.7, 0.2, 0.6, 0.1, 0.9)
	if len(c.Substitutions) != 1 {
		t.Fatalf("%+v, expected one substitution", c.Substitutions)
	}
	s := c.Substitutions[0]
	if want := (Substitution{m.Groups[0], m.Attributes[0], m.Attributes[1], s.Gain}); s != want {
		t.Errorf("%+v, expected %+v", s, want)
	}
	testkit.Near(t, "gain of detecting both", s.Gain, both.LogOdds-c.LogOdds, 1e-6)
	// None if both are detected or neither is.
	for _, c := range []Comparison{ask(0.6, 0.7, 0.2, 0.6, 0.1, 0.9), ask(0.1, 0.1, 0.2, 0.9, 0.1, 0.9)} {
		if len(c.Substitutions) > 0 {
			t.Errorf("%+v, expected no substitution", c.Substitutions)
		}
	}
}

func TestChanges(t *testing.T) {
	m := birds(hard)
	q := detected(m, cuckoo, "")
	c := explained(t, m, q).Comparisons[0]
	if len(c.Changes) != 3 {
		t.Fatalf("%d changes, expected the 3 that were asked for", len(c.Changes))
	}
	for _, change := range c.Changes {
		testkit.Near(t, "by", change.By, change.LogOdds-c.LogOdds, 1e-9)
		if (change.LogOdds > 0) != (change.Predicted != c.Against) {
			t.Errorf("log odds of %g and a prediction of %s", change.LogOdds, change.Predicted)
		}
	}
	if n := len(c.Flip.Changes); !c.Flip.Found || n == 0 || c.Flip.Changes[n-1].LogOdds >= 0 {
		t.Errorf("%+v, expected changes that flip", c.Flip)
	}
	q.Top = 0
	if c := explained(t, m, q).Comparisons[0]; len(c.Changes) != 0 || !c.Flip.Found {
		t.Errorf("%d changes and a flip %v, expected none and one", len(c.Changes), c.Flip.Found)
	}
}

// The headline and what is compared, by the true class and the class asked for.
func TestComparedClasses(t *testing.T) {
	m := birds(hard)
	first, second, third := m.Classes[0], m.Classes[1], m.Classes[2] // by log p of the cuckoo
	const predicted = "sample 7 of birds is predicted as Black billed Cuckoo"
	for _, c := range []struct{ label, against, headline, want string }{
		{"", "", "", second + " runner-up"},
		{first, "", ", which is correct", second + " runner-up"},
		{second, "", ", which is wrong: the true class is White breasted Nuthatch, rank 2 with p = 0.271", second + " true class"},
		{third, "", ", which is wrong: the true class is Prothonotary Warbler, rank 3 with p = 0.132", second + " runner-up, " + third + " true class"},
		{"001.Dodo", "", "; its true class, Dodo, is not among the classes", second + " runner-up"},
		{second, "prothonotary-warbler", ", which is wrong: the true class is White breasted Nuthatch, rank 2 with p = 0.271", third + " requested"},
	} {
		q := detected(m, cuckoo, c.label)
		q.Against = c.against
		x := explained(t, m, q)
		var got []string
		for _, comparison := range x.Comparisons {
			got = append(got, comparison.Against+" "+string(comparison.Reason))
		}
		if strings.Join(got, ", ") != c.want || x.headline() != predicted+c.headline {
			t.Errorf("true class %q, against %q: compared with %q, %q", c.label, c.against, got, x.headline())
		}
		if x.Correct != nil && (x.Label.Class != c.label || *x.Correct != (c.label == first)) {
			t.Errorf("the true class is %+v, correct %v", x.Label, *x.Correct)
		}
	}
}

func TestExplainRefuses(t *testing.T) {
	m, other := birds(hard), birds(hard)
	other.Method = methods.Spec{Name: "eszsl", Settings: eszsl.New()}
	other.Classifier = nil
	q := detected(m, cuckoo, "")
	_, err := Explain(other, q)
	testkit.WantError(t, err, "model: expected a LAGO model, found another method")
	q.Against = "Black billed cuckoo"
	_, err = Explain(m, q)
	testkit.WantError(t, err, "against: ", `"Black billed cuckoo"`, "runner-up is", `"094.White_breasted_Nuthatch"`)
	q.Against, q.Together = "white breasted nuthach", &Together{} // the model has no adaptation
	_, err = Explain(m, q)
	testkit.WantError(t, err, "against: ", "3 classes", `"white breasted nuthach"`, "Did you mean White breasted Nuthatch?")
	q.Candidates.What, q.Candidates.Names = "test classes", q.Candidates.Names[:1]
	_, err = Explain(m, q)
	testkit.WantError(t, err, "test classes: ", "at least two", "found 1")
}

func TestNamesOfGroups(t *testing.T) {
	learned := [][]string{
		{"has_primary_color::brown", "has_primary_color::yellow", "has_breast_pattern::striped"},
		{"has_primary_color::white", "has_breast_pattern::solid", "size::small_(5_-_9_in)"},
	}
	for v, want := range map[model.Variant][]string{ // by k
		model.Singletons: birds(hard).Attributes, model.SemanticHard: birds(hard).Groups, model.SemanticSoft: birds(hard).Groups, model.KSoft: {"0", "1"},
	} {
		config := hard
		config.Variant, config.K = v, 2
		m := birds(config)
		for _, g := range explained(t, m, detected(m, cuckoo, "")).Comparisons[0].Groups {
			if g.Name != want[g.K] || v == model.KSoft && !slices.Equal(g.Strongest, learned[g.K]) || v != model.KSoft && g.Strongest != nil {
				t.Errorf("%s: group %d is %q with %q, expected %q", v, g.K, g.Name, g.Strongest, want[g.K])
			}
		}
	}
}

func TestFindSample(t *testing.T) {
	d := &dataset.Dataset{Name: "small", Features: dataset.NewMatrix[float32](3, 2), Labels: []int{1, 0, 1}, Classes: []string{"owl", "wren"}}
	if diff := cmp.Diff(Sample{Index: 2, From: "small", Label: &d.Classes[1]}, testkit.Must(FindSample(d, "2"))(t)); diff != "" {
		t.Errorf("sample (-expected +found):\n%s", diff)
	}
	_, err := FindSample(d, "3")
	testkit.WantError(t, err, "sample: expected the index of a sample of small, 0 to 2, found ")
	d.IDs = []string{"a.png", "0", "b.png"} // an id comes before an index
	for name, want := range map[string]int{"b.png": 2, "0": 1, "2": 2} {
		if found := testkit.Must(FindSample(d, name))(t); found.Index != want || found.ID != d.IDs[want] {
			t.Errorf("sample %s: %+v", name, found)
		}
	}
	_, err = FindSample(d, "c.png")
	testkit.WantError(t, err, "or its id", "Did you mean a.png")
}

// Where the batch changes a prediction, the samples that did so are listed, with pictures.
func TestAdapted(t *testing.T) {
	m, q := random(hard, 3)
	m.Adaptation = &train.Adaptation{Settings: adapt.Settings{Temperature: 2, Tau: 200}}
	r := rand.New(rand.NewPCG(5, 0))
	q.X = dataset.NewMatrix[float32](40, 6)
	for i := range q.X.Data {
		q.X.Data[i] = float32(3 * r.NormFloat64())
	}
	picture := func(int) (image.Image, error) { return image.NewGray(image.Rect(0, 0, 4, 4)), nil }
	q.Together = &Together{Rows: q.X.AllRows(), Picture: picture}
	changed := 0
	for _, q.Row = range q.Together.Rows {
		x := explained(t, m, q)
		a := x.Adapted
		if a.Samples != q.X.Rows || a.Changed != (a.Predicted != x.Predicted) || !a.Changed && len(a.Neighbours) > 0 || a.LogOdds < 0 {
			t.Fatalf("%+v", a)
		}
		last := math.Inf(1)
		for _, n := range a.Neighbours {
			if n.LogOdds <= 0 || n.LogOdds > last || n.Sample == q.Row {
				t.Errorf("sample %d: %+v", q.Row, n)
			}
			last = n.LogOdds
		}
		if !a.Changed {
			continue
		}
		changed++
		testkit.WantText(t, written(t, x, Text, 2), "the prediction changes to ", "Samples that favour ")
		if n := strings.Count(written(t, x, HTML, 2), "<figure>"); n != neighbours {
			t.Errorf("%d pictures, expected %d", n, neighbours)
		}
	}
	if changed == 0 {
		t.Error("no prediction changed")
	}
}
