package model_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// designs lists configurations of every kind of score.
func designs() []model.Config {
	var list []model.Config
	for _, v := range model.Variants {
		for _, p := range model.Priors {
			for _, c := range model.Complements {
				for _, zeta := range []float64{1, 10, 1000} { // soft groups, nearly hard and exactly hard ones
					list = append(list, model.Config{Variant: v, Prior: p, Complement: c, Zeta: zeta})
				}
			}
		}
	}
	return list
}

func designName(c model.Config) string {
	return fmt.Sprintf("%s %s %s zeta %g", c.Variant, c.Prior, c.Complement, c.Zeta)
}

// parts are the terms of the score of group k for class z, its complement and Ac,
// written as in the paper: Gamma U/p A and (Uc/pc) Ac.
func (tr trial[T]) parts(gamma dataset.Matrix[float64], a []float64, k, z int) (terms []float64, complement, ac float64) {
	u, p := tr.Classes.U.Row(z), tr.prior()
	uc, pc := 1.0, 1.0
	if tr.Config.Complement != model.NoComplement {
		ac = 1
	}
	for m := range a {
		g := gamma.Row(m)[k]
		ratio := 0.0
		if p[m] > 0 {
			ratio = u[m] / p[m]
		}
		terms = append(terms, g*ratio*a[m])
		uc *= 1 - g*u[m]
		pc *= 1 - g*p[m]
		if tr.Config.Complement == model.DeMorgan {
			ac *= 1 - g*a[m]
		}
	}
	if pc == 0 {
		return terms, 0, ac
	}
	return terms, uc / pc * ac, ac
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

// logScore is the log of a score clipped to the bounds of soft AND.
func logScore(s float64) float64 { return math.Log(min(max(s, 1e-30), 1e30)) }

// explained returns a random trial of four classes with its explainer. Some entries of
// descriptions and detections are 0, 1 or missing; for odd seeds one attribute is missing in
// all classes.
func explained(t rapid.TB, c model.Config, seed uint64) (tr trial[float64], e *model.Explainer, a []float64) {
	t.Helper()
	tr = newTrial(t, c, sizes{n: 1, d: 3, m: 5, k: 3, z: 4}, seed)
	rng := newRand(seed + 1000)
	a = uniform(rng, 1, 5, 0, 1).Data
	for _, special := range []float64{0, 1, math.NaN()} {
		tr.described.Data[rng.IntN(len(tr.described.Data))] = special
	}
	if seed%2 == 1 {
		setColumn(tr.described, rng.IntN(5), math.NaN())
	}
	a[rng.IntN(len(a))] = 0
	a[rng.IntN(len(a))] = 1
	tr = tr.describe(t)
	e, err := model.NewExplainer(tr.Config, tr.Classes, tr.params.V)
	if err != nil {
		t.Fatal(err)
	}
	return tr, e, a
}

// The parts of an explanation agree with the equations and sum to the log odds of the
// classifier.
func TestExplanationAddsUp(t *testing.T) {
	for _, c := range designs() {
		t.Run(designName(c), func(t *testing.T) {
			for seed := range uint64(4) {
				tr, e, a := explained(t, c, seed)
				x, err := e.Explain(a, 1, 3)
				if err != nil {
					t.Fatal(err)
				}
				l := tr.classify(t, a)
				same(t, "log odds", []float64{x.LogOdds}, []float64{l[1] - l[3]})
				var contributions []float64
				for k, g := range x.Groups {
					contributions = append(contributions, g.Contribution)
					logs := make([]float64, 2)
					for i, s := range []model.GroupScore{g.Class, g.Against} {
						terms, complement, none := tr.parts(e.Gamma(), a, k, []int{1, 3}[i])
						same(t, fmt.Sprint("terms of group ", k), s.Terms, terms)
						same(t, fmt.Sprint("complement of group ", k), []float64{s.None, g.None}, []float64{complement, none})
						same(t, fmt.Sprint("score of group ", k), []float64{s.Score}, []float64{sum(terms) + complement})
						logs[i] = logScore(sum(terms) + complement)
					}
					same(t, fmt.Sprint("contribution of group ", k), []float64{g.Contribution}, []float64{logs[0] - logs[1]})
				}
				same(t, "sum of the contributions", []float64{sum(contributions)}, []float64{x.LogOdds})
			}
		})
	}
}

// The golden cases have G of every group, from an independent implementation.
func TestExplanationOfGoldenCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden cases in testdata/golden (%v)", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c goldenCase
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		config := c.config()
		classes, err := config.Describe(matrix(c.U), c.Groups)
		if err != nil {
			t.Fatal(err)
		}
		e, err := model.NewExplainer(config, classes, matrix(c.V))
		if err != nil {
			t.Fatal(err)
		}
		for n, a := range c.A {
			x, err := e.Explain(a, 0, len(c.U)-1)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "log odds", []float64{x.LogOdds}, []float64{c.LogP[n][0] - c.LogP[n][len(c.U)-1]})
			for k, scores := range c.G[n] {
				same(t, "contribution", []float64{x.Groups[k].Contribution}, []float64{logScore(scores[0]) - logScore(scores[len(scores)-1])})
			}
		}
	}
}

// One group, "red or white", and one class of each colour, so that
// p(red) = p(white) = 1/2. Red is detected with 0.8 and white with 0.1. Then, with Gamma = 1,
//
//	G[red]   = 1/0.5 x 0.8 + 0/0.25 = 1.6
//	G[white] = 1/0.5 x 0.1 + 0/0.25 = 0.2
//
// and the log odds are log 8. With white detected (1), they would be log(1.6/2), and
// the prediction would change.
func TestExplanationByHand(t *testing.T) {
	c := model.Config{Variant: model.SemanticHard, Prior: model.PerAttribute, Complement: model.Const, Zeta: 1000}
	d, err := c.Describe(matrix([][]float64{{1, 0}, {0, 1}}), []int{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	e, err := model.NewExplainer(c, d, matrix([][]float64{{1}, {1}}))
	if err != nil {
		t.Fatal(err)
	}
	a := []float64{0.8, 0.1}
	x, err := e.Explain(a, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "log odds", []float64{x.LogOdds, x.Groups[0].Contribution}, []float64{math.Log(8), math.Log(8)})
	same(t, "terms", slices.Concat(x.Groups[0].Class.Terms, x.Groups[0].Against.Terms), []float64{1.6, 0, 0, 0.2})
	if x, err = e.Explain([]float64{0, 0.1}, 0, 1); err != nil {
		t.Fatal(err)
	}
	// A score of 0 is taken as 1e-30.
	same(t, "contribution of a score of 0", []float64{x.Groups[0].Contribution}, []float64{math.Log(1e-30 / 0.2)})

	changes, err := e.Changes(a, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Without red its score is 0, taken as 1e-30.
	want := []model.Counterfactual{
		{Attribute: 0, From: 0.8, To: 0, LogOdds: math.Log(1e-30 / 0.2), Predicted: 1},
		{Attribute: 1, From: 0.1, To: 0, LogOdds: math.Log(1.6 / 1e-30), Predicted: 0},
		{Attribute: 1, From: 0.1, To: 1, LogOdds: math.Log(1.6 / 2), Predicted: 1},
		{Attribute: 0, From: 0.8, To: 1, LogOdds: math.Log(2 / 0.2), Predicted: 0},
	}
	sameChanges(t, changes, want)
}

func sameChanges(t rapid.TB, got, want []model.Counterfactual) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d changes, expected %d: %+v", len(got), len(want), got)
	}
	for i, c := range got {
		same(t, fmt.Sprintf("log odds of change %d", i), []float64{c.LogOdds}, []float64{want[i].LogOdds})
		c.LogOdds = want[i].LogOdds
		if c != want[i] {
			t.Errorf("change %d is %+v, expected %+v", i, c, want[i])
		}
	}
}

// The explanation agrees with Score in both precisions.
func TestExplainerOfLAGO(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 3, d: 5, m: 6, k: 3, z: 4}, 1))
	l := lago(tr)
	e, err := l.Explainer(tr.described)
	if err != nil {
		t.Fatal(err)
	}
	want, err := model.Score(l, tr.x, []int{2}, tr.described)
	if err != nil {
		t.Fatal(err)
	}
	detected, err := l.Detect(tr.x, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.DetectOne(tr.x, 2)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "detections", 1e-6, a, floats(detected.Data))
	got, err := e.LogP(dataset.Matrix[float64]{Rows: 1, Cols: 6, Data: a})
	if err != nil {
		t.Fatal(err)
	}
	within(t, "log p(z|x)", 1e-5, got.Data, floats(want.Data))
	x, err := e.Explain(a, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "log odds", 1e-5, []float64{x.LogOdds}, []float64{float64(want.Data[0] - want.Data[2])})
}

func TestExplainErrors(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 3, d: 5, m: 6, k: 3, z: 4}, 1))
	l := lago(tr)
	_, err := l.Explainer(dataset.NewMatrix[float64](4, 0))
	names(t, err, "descriptions")
	_, err = l.DetectOne(dataset.NewMatrix[float32](3, 4), 0)
	names(t, err, "features")
	for _, row := range []int{-1, 3} {
		_, err = l.DetectOne(tr.x, row)
		names(t, err, "row of the features")
	}
	e, err := l.Explainer(tr.described)
	if err != nil {
		t.Fatal(err)
	}
	a := make([]float64, 6)
	for _, c := range []struct {
		a              []float64
		class, against int
		field          string
	}{
		{a, 0, 0, "classes"},
		{a, -1, 0, "class"},
		{a, 0, 4, "class"},
		{a[:5], 0, 1, "detections"},
		{[]float64{0, 0, 0, 0, 0, 1.5}, 0, 1, "detections"},
		{[]float64{0, 0, math.NaN(), 0, 0, 0}, 0, 1, "detections"},
	} {
		_, err := e.Explain(c.a, c.class, c.against)
		names(t, err, c.field)
		_, err = e.Changes(c.a, c.class, c.against)
		names(t, err, c.field)
		_, _, err = e.Flip(c.a, c.class, c.against, 3)
		names(t, err, c.field)
	}
}
