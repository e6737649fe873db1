package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// For every design, contributions add up to the log odds, and terms to the scores.
func TestPartsAddUp(t *testing.T) {
	for _, v := range model.Variants {
		for _, p := range model.Priors {
			for _, complement := range model.Complements {
				for _, zeta := range []float64{10, 1000} {
					c := model.Config{Variant: v, Prior: p, Complement: complement, Zeta: zeta}
					if v == model.KSoft {
						c.K = 2
					}
					t.Run(fmt.Sprint(v, " ", p, " ", complement, " zeta ", zeta), func(t *testing.T) {
						for seed := range uint64(3) {
							m, q := random(c, seed)
							x := explainOrFail(t, m, q)
							checkSums(t, x)
							checkJSON(t, x)
						}
					})
				}
			}
		}
	}
}

func checkSums(t *testing.T, x *Result) {
	t.Helper()
	for _, c := range x.Comparisons {
		var together float64
		last := math.Inf(1)
		for _, g := range c.Groups {
			together += g.Contribution
			if math.Abs(g.Contribution) > last {
				t.Errorf("%s contributes more than the group above it", g.Name)
			}
			last = math.Abs(g.Contribution)
			score, share := addPairs(g.Others.Term, g.None.Term), addPairs(g.Others.Share, g.None.Share)
			for _, term := range g.Terms {
				score, share = addPairs(score, term.Term), addPairs(share, term.Share)
				if term.Prior > 0 {
					closeTo(t, term.Attribute, term.Gamma*term.Used.Class/term.Prior*term.Detected, term.Term.Class)
				}
			}
			closeTo(t, "score", score.Class, g.Score.Class)
			closeTo(t, "score of the other", score.Against, g.Score.Against)
			closeTo(t, "shares", share.Class, 1)
			closeTo(t, "shares of the other", share.Against, 1)
			if n := len(g.Terms) + g.Others.Count; n != x.Attributes {
				t.Errorf("%s has %d attributes, expected %d", g.Name, n, x.Attributes)
			}
		}
		closeTo(t, "sum of contributions", together, c.LogOdds)
		closeTo(t, "log odds", c.LogOdds, logP(x, c.Class)-logP(x, c.Against))
	}
}

func addPairs(a, b Pair) Pair { return Pair{a.Class + b.Class, a.Against + b.Against} }

func logP(x *Result, class string) float64 {
	i := slices.IndexFunc(x.Likely, func(o Probability) bool { return o.Class == class })
	return x.Likely[i].LogP
}

// checkJSON fails unless the JSON holds the numbers in full precision.
func checkJSON(t *testing.T, x *Result) {
	t.Helper()
	var b strings.Builder
	if err := x.Write(&b, JSON, 1); err != nil {
		t.Fatal(err)
	}
	back := new(Result)
	if err := json.Unmarshal([]byte(b.String()), back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(x, back); diff != "" {
		t.Errorf("read back (-written +read):\n%s", diff)
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
	x := explainOrFail(t, m, detected(m, cuckoo, m.Classes[0]))
	if x.Predicted != m.Classes[0] || !*x.Correct || len(x.Comparisons) != 1 {
		t.Fatalf("predicted %s, correct %v, %d comparisons", x.Predicted, *x.Correct, len(x.Comparisons))
	}
	c := x.Comparisons[0]
	if c.Against != m.Classes[1] || c.Reason != RunnerUp {
		t.Errorf("against %s, %s; expected the nuthatch, the runner-up", c.Against, c.Reason)
	}
	g := c.group(m.Groups[0])
	p := g.Terms[0].Prior
	none := func(u ...float64) float64 {
		product := 1.0
		for i, v := range u {
			product *= (1 - v) / (1 - p) * (1 - asDetected(cuckoo[i]))
		}
		return product
	}
	closeTo(t, "score of the cuckoo", g.Score.Class, (6./11*asDetected(0.1)+5./11*asDetected(0.7))/p+none(6./11, 5./11, 0))
	closeTo(t, "score of the nuthatch", g.Score.Against, (0.1*asDetected(0.1)+0.4*asDetected(0.7))/p+none(0.1, 0.4, 0))
	closeTo(t, "contribution", g.Contribution, math.Log(g.Score.Class/g.Score.Against))

	// Attributes are ordered by the difference of their terms: brown by (6/11 - 0.1) 0.1, white
	// by (5/11 - 0.4) 0.7, yellow, which neither is, by nothing.
	var order []string
	for _, term := range g.Terms {
		order = append(order, term.Attribute)
	}
	if got := strings.Join(order, " "); got != "has_primary_color::brown has_primary_color::white has_primary_color::yellow" {
		t.Errorf("terms are of %s", got)
	}
	white := g.Terms[1]
	closeTo(t, "detected", white.Detected, asDetected(0.7))
	if *white.Described.Class != 0.5 || *white.Described.Against != 0.4 {
		t.Errorf("white is described with %g and %g, expected what the data set says", *white.Described.Class, *white.Described.Against)
	}
	closeTo(t, "white as used", white.Used.Class, 5./11)
	closeTo(t, "share", white.Share.Class, 5./11*asDetected(0.7)/p/g.Score.Class)
}

// asDetected returns a detection after its logit was rounded to float32.
func asDetected(p float64) float64 { return 1 / (1 + math.Exp(-float64(float32(math.Log(p/(1-p)))))) }

// If a described attribute is missed and another of its group is detected, the
// substitution is reported with the effect of detecting the missed one.
func TestSubstitutions(t *testing.T) {
	m := birds(hard)
	q := detected(m, cuckoo, "")
	q.Candidates.Names = []string{m.Classes[0], m.Classes[2]}
	q.Candidates.U = dataset.Matrix[float64]{Rows: 2, Cols: 6, Data: slices.Concat(m.Descriptions.Row(0), m.Descriptions.Row(2))}
	c := explainOrFail(t, m, q).Comparisons[0]
	brown, white := m.Attributes[0], m.Attributes[1]
	want := []Substitution{{Group: m.Groups[0], Missed: brown, Substitute: white}}
	if len(c.Substitutions) == 1 {
		want[0].Gain = c.Substitutions[0].Gain
	}
	if diff := cmp.Diff(want, c.Substitutions); diff != "" {
		t.Fatalf("soft OR (-want +got):\n%s", diff)
	}
	q2 := detected(m, []float64{1 - 1e-12, 0.7, 0.2, 0.6, 0.1, 0.9}, "")
	q2.Candidates = q.Candidates
	if both := explainOrFail(t, m, q2).Comparisons[0]; math.Abs(both.LogOdds-c.LogOdds-c.Substitutions[0].Gain) > 1e-6 {
		t.Errorf("seeing both gives %g more, reported %g", both.LogOdds-c.LogOdds, c.Substitutions[0].Gain)
	}
	// None if both are detected or neither is.
	for _, a := range [][]float64{{0.6, 0.7, 0.2, 0.6, 0.1, 0.9}, {0.1, 0.1, 0.2, 0.9, 0.1, 0.9}} {
		q := detected(m, a, "")
		if c := explainOrFail(t, m, q).Comparisons[0]; len(c.Substitutions) > 0 {
			t.Errorf("detected %v: %+v, expected no substitution", a, c.Substitutions)
		}
	}
}

func TestChanges(t *testing.T) {
	m := birds(hard)
	c := explainOrFail(t, m, detected(m, cuckoo, "")).Comparisons[0]
	if len(c.Changes) != 3 {
		t.Fatalf("%d changes, expected the 3 that were asked for", len(c.Changes))
	}
	for i, change := range c.Changes {
		closeTo(t, "by", change.By, change.LogOdds-c.LogOdds)
		if i > 0 && math.Abs(change.By) > math.Abs(c.Changes[i-1].By) {
			t.Errorf("change %d moves more than the one before it", i)
		}
		ahead := change.LogOdds > 0
		if ahead != (change.Predicted != c.Against) {
			t.Errorf("log odds of %g and a prediction of %s", change.LogOdds, change.Predicted)
		}
	}
	if !c.Flip.Found || len(c.Flip.Changes) == 0 || c.Flip.Changes[len(c.Flip.Changes)-1].LogOdds >= 0 {
		t.Errorf("%+v, expected changes that flip", c.Flip)
	}
	q := detected(m, cuckoo, "")
	q.Top = 0
	if c := explainOrFail(t, m, q).Comparisons[0]; len(c.Changes) != 0 || !c.Flip.Found {
		t.Errorf("%d changes and a flip %v, expected none and one", len(c.Changes), c.Flip.Found)
	}
}

func TestComparedClasses(t *testing.T) {
	m := birds(hard)
	first, second, third := m.Classes[0], m.Classes[1], m.Classes[2] // by log p of the cuckoo
	type compared struct {
		Against string
		Reason  Reason
	}
	no, yes := false, true
	for _, c := range []struct {
		name, label, against string
		correct              *bool
		want                 []compared
	}{
		{"true class not known", "", "", nil, []compared{{second, RunnerUp}}},
		{"correct", first, "", &yes, []compared{{second, RunnerUp}}},
		{"the true class is the runner-up", second, "", &no, []compared{{second, TrueClass}}},
		{"the true class is further behind", third, "", &no, []compared{{second, RunnerUp}, {third, TrueClass}}},
		{"not among the classes", "001.Dodo", "", nil, []compared{{second, RunnerUp}}},
		{"requested", second, "prothonotary warbler", &no, []compared{{third, Requested}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := detected(m, cuckoo, c.label)
			q.Against = c.against
			x := explainOrFail(t, m, q)
			var got []compared
			for _, comparison := range x.Comparisons {
				got = append(got, compared{comparison.Against, comparison.Reason})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("compared (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.correct, x.Correct); diff != "" {
				t.Errorf("correct (-want +got):\n%s", diff)
			}
			if (x.Label == nil) != (c.correct == nil) || x.Label != nil && x.Label.Class != c.label {
				t.Errorf("the true class is %+v", x.Label)
			}
		})
	}
}

func TestExplainRefuses(t *testing.T) {
	m := birds(hard)
	other := birds(hard)
	other.Method = "eszsl"
	other.Classifier = &model.Preprocessed{Classifier: &baseline.Bilinear{}, Transform: &preprocess.Transform{Chain: preprocess.None}}
	for _, c := range []struct {
		name   string
		model  *train.Saved
		change func(*Question)
		parts  []string
	}{
		{"a baseline", other, func(*Question) {}, []string{"explain", "LAGO", "eszsl"}},
		{"one class", m, func(q *Question) {
			q.Candidates.What, q.Candidates.Names = "test classes", q.Candidates.Names[:1]
		}, []string{"test classes", "at least two", "found 1"}},
		{"the predicted class", m, func(q *Question) { q.Against = "Black billed cuckoo" }, []string{"--against", `"031.Black_billed_Cuckoo"`, "runner-up is", `"094.White_breasted_Nuthatch"`}},
		{"no class", m, func(q *Question) {
			q.Against, q.Together = "white breasted nuthach", &Together{} // the model has no adaptation
		}, []string{"--against", "3 classes", `"white breasted nuthach"`, "Did you mean White breasted Nuthatch?"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := detected(m, cuckoo, "")
			c.change(&q)
			_, err := Explain(c.model, q)
			if err == nil {
				t.Fatal("expected an error, found none")
			}
			for _, part := range c.parts {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("expected an error with %q, found %v", part, err)
				}
			}
		})
	}
}

func TestNamesOfGroups(t *testing.T) {
	for _, c := range []struct {
		variant   model.Variant
		names     []string // by k
		strongest [][]string
	}{
		{model.Singletons, birds(hard).Attributes, make([][]string, 6)},
		{model.SemanticHard, birds(hard).Groups, make([][]string, 3)},
		{model.SemanticSoft, birds(hard).Groups, make([][]string, 3)},
		{model.KSoft, []string{"0", "1"}, [][]string{
			{"has_primary_color::brown", "has_primary_color::yellow", "has_breast_pattern::striped"},
			{"has_primary_color::white", "has_breast_pattern::solid", "size::small_(5_-_9_in)"},
		}},
	} {
		config := hard
		config.Variant = c.variant
		if c.variant == model.KSoft {
			config.K = 2
		}
		m := birds(config)
		x := explainOrFail(t, m, detected(m, cuckoo, ""))
		names, strongest := make([]string, len(c.names)), make([][]string, len(c.names))
		for _, g := range x.Comparisons[0].Groups {
			names[g.K], strongest[g.K] = g.Name, g.Strongest
		}
		if diff := cmp.Diff(c.names, names); diff != "" {
			t.Errorf("%s: names (-want +got):\n%s", c.variant, diff)
		}
		if diff := cmp.Diff(c.strongest, strongest); diff != "" {
			t.Errorf("%s: strongest (-want +got):\n%s", c.variant, diff)
		}
	}
}

func TestFindSample(t *testing.T) {
	d := &dataset.Dataset{Name: "small", Features: dataset.NewMatrix[float32](3, 2), Labels: []int{1, 0, 1}, Classes: []string{"owl", "wren"}}
	for _, row := range []string{"3", "-1", "wren/1.png"} {
		if _, err := FindSample(d, row); err == nil || !strings.HasPrefix(err.Error(), "--sample: expected the index of a sample of small, 0 to 2, found ") {
			t.Errorf("sample %s: %v", row, err)
		}
	}
	found, err := FindSample(d, "2")
	if diff := cmp.Diff(Sample{Index: 2, From: "small", Label: &d.Classes[1]}, found); diff != "" || err != nil {
		t.Errorf("%v, sample (-expected +found):\n%s", err, diff)
	}
	d.IDs = []string{"a.png", "0", "b.png"} // an id comes before an index
	for name, want := range map[string]int{"b.png": 2, "0": 1, "2": 2} {
		if found, err := FindSample(d, name); err != nil || found.Index != want || found.ID != d.IDs[want] {
			t.Errorf("sample %s: %+v, %v", name, found, err)
		}
	}
	if _, err := FindSample(d, "c.png"); err == nil || !strings.Contains(err.Error(), "or its id") {
		t.Errorf("an unknown id: %v", err)
	}
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
	q.Together = &Together{Rows: q.X.AllRows(), Picture: func(int) (image.Image, error) { return image.NewGray(image.Rect(0, 0, 4, 4)), nil }}
	changed := 0
	for q.Row = range q.X.Rows {
		q.Sample.Index = q.Row
		x := explainOrFail(t, m, q)
		a := x.Adapted
		if a == nil || a.Samples != 40 || a.Changed != (a.Predicted != x.Predicted) || !a.Changed && len(a.Neighbours) > 0 {
			t.Fatalf("%+v", a)
		}
		if !a.Changed {
			continue
		}
		changed++
		if a.LogOdds < 0 || len(a.Neighbours) != neighbours || a.Neighbours[0].LogOdds < a.Neighbours[4].LogOdds || a.Neighbours[0].Sample == q.Row {
			t.Errorf("%+v", a)
		}
		var text, html strings.Builder
		if err := errors.Join(x.Write(&text, Text, 2), x.Write(&html, HTML, 2)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), "the prediction changes to ") || strings.Count(html.String(), `width="96"`) != neighbours {
			t.Error(text.String())
		}
	}
	if changed == 0 {
		t.Error("no prediction changed")
	}

	listed := map[int]bool{} // numbers of neighbours
	q.Together = &Together{Rows: q.X.AllRows()[:6]}
	for q.Row = range 6 {
		a := explainOrFail(t, m, q).Adapted
		listed[len(a.Neighbours)] = a.Changed
		for _, n := range a.Neighbours {
			if n.LogOdds <= 0 {
				t.Errorf("sample %d does not favour %s: %+v", q.Row, a.Predicted, n)
			}
		}
	}
	if len(listed) < 2 {
		t.Errorf("no prediction changed: %v", listed)
	}
}
