package studies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/evaluation"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// baselines are all methods except LAGO.
var baselines = methods.Names()[1:]

// compareAll compares LAGO, one of its variants and every baseline, each with its defaults.
func compareAll(l *lab.Lab) Comparison {
	c := testlab.Config(l, config.DevThenTest, model.SemanticHard)
	c.Preprocess = preprocess.None
	return Comparison{
		Methods: append([]string{methods.LAGO, string(model.Singletons)}, baselines...),
		LAGO:    testlab.Full(l, model.Singletons, model.SemanticHard), Common: c,
	}
}

func askComparison(t *testing.T, l *lab.Lab, c Comparison) *ComparedMethods {
	t.Helper()
	r := testlab.Request(c.Common, c.LAGO...)
	r.RotateSeed = c.RotateSeed
	return testlab.Ask[*ComparedMethods](t, l, &c, r)
}

func TestCompare(t *testing.T) {
	l := testlab.New(t)
	c := compareAll(l)
	c.Methods = slices.Insert(c.Methods, 2, string(model.SemanticHard))
	r := askComparison(t, l, c)
	testkit.Equal(t, "rows and missing", []int{len(r.Methods), len(r.Missing)}, []int{len(c.Methods), 0})
	for i, m := range r.Methods {
		seeds := 2
		if e, err := methods.Find(m.Name); err == nil && !e.Seeded {
			seeds = 1
		}
		testkit.Equal(t, "row", m.Name, c.Methods[i])
		testkit.Equal(t, m.Name+": seeds and folders", []int{len(m.Val.PerClass.Values), len(m.Test.PerClass.Values), len(m.RunDirs)}, []int{seeds, seeds, 2 * seeds})
		if p := m.Parts[0]; len(m.Parts) != 1 || p.Epochs < 1 || p.Epochs > 4 || p.Settings["preprocess"] == nil || p.Settings["hold_out"] != nil {
			t.Errorf("%s: %+v", m.Name, m.Parts)
		}
	}
	// LAGO is the variant with the best validation accuracy. It, and not the other rows of LAGO,
	// is compared with every baseline.
	chosen, singletons := r.Methods[0], r.Methods[1]
	better := chosen.Val.PerClass.Mean >= singletons.Val.PerClass.Mean
	testkit.Equal(t, "tried, at least as accurate as singletons, differences", []any{chosen.Tried, better, len(r.Differences)}, []any{2, true, len(baselines)})
	var p []float64
	for i, d := range r.Differences {
		m := r.Methods[i+3]
		testkit.Near(t, m.Name, d.Mean, chosen.Test.PerClass.Mean-m.Test.PerClass.Mean, 1e-12)
		testkit.Equal(t, "methods", []string{d.Reference, d.Method}, []string{"lago", m.Name})
		p = append(p, d.P)
	}
	for i, holm := range metrics.Holm(p) {
		testkit.Near(t, "p by Holm", r.Differences[i].Holm, holm, 0)
	}
	testkit.Equal(t, "figures, of methods and differences", len(testkit.Must(r.Figures(""))(t)), 2)
	l.OnRun = func(r lab.Run) { t.Errorf("%s is trained again", r.Dir) }
	testkit.Equal(t, "again", string(testkit.Must(json.Marshal(askComparison(t, l, c)))(t)), string(testkit.Must(json.Marshal(r))(t)))
}

// The variant with the best validation accuracy is compared with all baselines; without baselines with the
// other variants, and without LAGO the first baseline with the others.
func TestReferenceOfTheDifferences(t *testing.T) {
	rows := map[rune]results.Method{'s': {Variant: "singletons", RunDirs: []string{"s"}}, 'h': {Variant: "semantic-hard", RunDirs: []string{"h"}}, 'e': {RunDirs: []string{"e"}}, 'd': {RunDirs: []string{"d"}}}
	for kind, accuracy := range map[rune]float64{'s': 0.4, 'h': 0.5, 'e': 0.6} {
		row := rows[kind]
		row.Val.PerClass.Mean = accuracy
		rows[kind] = row
	}
	for methods, want := range map[string][][2]int{"hshed": {{0, 3}, {0, 4}}, "esd": {{1, 0}, {1, 2}}, "hsh": {{0, 1}}, "des": {{2, 0}, {2, 1}}, "de": {{0, 1}}} {
		r := &ComparedMethods{}
		for _, kind := range methods {
			r.Methods = append(r.Methods, rows[kind])
		}
		testkit.Equal(t, methods, r.pairs(), want)
	}
}

// In a rotation every class is unseen once, and the CSV has a line for each.
func TestCompareByRotation(t *testing.T) {
	l := testlab.New(t)
	testkit.NoError(t, l.Rotate(4, 3, false))
	c := compareAll(l)
	c.Methods, c.LAGO = []string{methods.LAGO, "eszsl"}, c.LAGO[1:]
	r := askComparison(t, l, c)
	testkit.Equal(t, "parts, classes, methods, differences", []int{r.Parts, len(r.Classes), len(r.Methods), len(r.Differences)}, []int{4, 16, 2, 1})
	for j, m := range r.Methods {
		var sum float64
		for _, c := range r.Classes {
			sum += c.Accuracy[j]
		}
		testkit.Near(t, m.Name, sum/16, m.Test.PerClass.Mean, 1e-12)
	}
	var byPart float64
	for i, by := range r.Differences[0].By {
		for _, c := range r.Classes {
			if c.Part == i+1 {
				byPart += (c.Accuracy[0] - c.Accuracy[1]) / 16
			}
		}
		if i == 0 {
			testkit.Near(t, "difference in the first part", by, 4*byPart, 1e-12)
		}
	}
	testkit.Near(t, "mean of the parts", byPart, r.Differences[0].Mean, 1e-12)
	var b bytes.Buffer
	testkit.NoError(t, r.WriteCSV(&b))
	lines := strings.Split(b.String(), "\n")
	first := r.Classes[0]
	want := fmt.Sprintf("%s,1,%d,%v,%v", first.Class, first.Samples, first.Accuracy[0], first.Accuracy[1])
	testkit.Equal(t, "lines of "+strings.Join(lines, " "), []any{len(lines), lines[0], lines[1]}, []any{18, "class,part,samples,lago,eszsl", want})
	testkit.WantText(t, testlab.Text(r.Tables()), "per-class accuracy, each class unseen in one of 4 parts, ", r.Methods[0].Chosen(), "lr 0.01")
}

// Where no method has a result, what is stored says why.
func TestIncompleteComparisons(t *testing.T) {
	l := testlab.New(t)
	c := compareAll(l)
	c.Methods = []string{"k-soft"}
	c.LAGO = []config.Config{testlab.Config(l, config.DevThenTest, model.KSoft).With("k", 400)}
	r := askComparison(t, l, c)
	testkit.WantText(t, testlab.Text(r.Tables()), "k: expected at most the number of attributes")
	testkit.Equal(t, "figures", len(testkit.Must(r.Figures(""))(t)), 0)
	r.Methods, r.Classes = make([]results.Method, 2), make([]ClassAccuracy, 1)
	text, _ := r.Headline()
	testkit.Equal(t, "headline of 1 class", text, "")
}

// A difference that may be chance ranks no method.
func TestVerdictsOfDifferences(t *testing.T) {
	r := &ComparedMethods{MethodTable: results.MethodTable{Methods: []results.Method{{Name: methods.LAGO, Variant: "k-soft"}, {Name: "eszsl", Title: "ESZSL"}}}}
	for want, d := range map[string]struct{ mean, holm float64 }{
		"LAGO (k-soft) is less accurate than: ESZSL\n":                              {-0.125, 0.04},
		"LAGO (k-soft) is more accurate than: ESZSL\n":                              {0.125, 0.04},
		"LAGO (k-soft) cannot be ranked (p by Holm at least 0.05) against: ESZSL\n": {-0.125, 0.05},
	} {
		r.Differences = []MethodDifference{{"lago", "eszsl", metrics.Difference{Mean: d.mean}, d.holm, []float64{d.mean}}}
		testkit.WantText(t, testlab.Text(r.Tables()), want, fmt.Sprintf(" %+.1f │", 100*d.mean))
	}
}

// compareWithChance reports a method whose mean test accuracy exceeds chance by more than the slack, if the
// descriptions of the test classes are permuted so that none keeps its own: test data would leak into it.
func compareWithChance(t *testing.T, d *dataset.Dataset, slack float64, config func(*lab.Lab) Comparison) {
	t.Helper()
	const shuffles = 2
	mean := map[string]float64{}
	test := d.Split.Test
	for seed := range uint64(shuffles) {
		s := *d
		s.Descriptions = dataset.Matrix[float64]{Rows: d.Descriptions.Rows, Cols: d.Descriptions.Cols, Data: slices.Clone(d.Descriptions.Data)}
		order := rand.New(rand.NewPCG(seed, 0)).Perm(len(test)) // a cycle through all of them
		for i, z := range order {
			copy(s.Descriptions.Row(test[z]), d.Descriptions.Row(test[order[(i+1)%len(order)]]))
		}
		l := lab.New(&s, t.TempDir())
		for _, m := range askComparison(t, l, config(l)).Methods {
			mean[m.Name] += m.Test.PerClass.Mean / shuffles
		}
	}
	for name, accuracy := range mean {
		if chance := 1 / float64(len(test)); math.IsNaN(accuracy) || accuracy > chance+slack {
			t.Errorf("%s: %.1f %% by the descriptions of other classes, expected about %.1f %%", name, 100*accuracy, 100*chance)
		}
	}
}

func TestShuffledDescriptionsLeaveChance(t *testing.T) {
	d := tiny.Simulate(tiny.Spec{
		Name: "simulated-chance", Samples: 400, Dims: 24, Attributes: 18, Groups: 4,
		TrainClasses: 16, ValClasses: 4, TestClasses: 20,
	})
	compareWithChance(t, d, 0.1, func(l *lab.Lab) Comparison {
		c := compareAll(l)
		c.LAGO, c.Common.Seeds, c.Common.Epochs = c.LAGO[:1], 1, 2
		return c
	})
}

// Methods that were trained without the held-out samples of seen classes are compared among all classes,
// too, each with its correction. In a rotation each class is both seen and unseen, and the accuracies are
// those over all parts. One method alone has its own, and where too few classes choose, a note says so.
func TestGeneralised(t *testing.T) {
	l := testlab.New(t)
	testkit.NoError(t, l.Rotate(4, 0, true))
	c := compareAll(l)
	c.Methods, c.Common.HoldOut, c.LAGO[0].HoldOut = []string{"singletons", "eszsl"}, true, true
	r := askComparison(t, l, c)
	within := func(x float64, i metrics.Interval) bool { return i.Low <= x && x <= i.High }
	lago, eszsl, d := r.Generalised.Methods[0], r.Generalised.Methods[1], r.Generalised.Differences[0]
	testkit.Equal(t, "difference", d.Mean, lago.Stacked.Mean-eszsl.Stacked.Mean)
	testkit.Equal(t, "difference within its interval, and p of one", []bool{within(d.Mean, d.Interval), d.Holm == d.P}, []bool{true, true})
	var area float64 // a mean over the parts, each as evaluate has it
	for _, o := range r.Methods[1].Outcomes {
		m := testkit.Must(evaluation.ReadModel(lab.ModelFiles(o.Test[:1])[0]))(t)
		e := testkit.Must(evaluation.Evaluate(t.Context(), evaluation.Request{Data: o.Part.Data, Model: m, Candidates: m.SelectedCandidates(l.Data, predictor.All)}))(t)
		area += e.Calibrated.AUSUC / float64(r.Parts)
	}
	testkit.Near(t, "area", eszsl.Stacked.AUSUC, area, 1e-12)
	var unseen float64 // with seen classes as candidates no class is recognised more often
	for _, c := range r.Classes {
		unseen += c.Accuracy[1] / float64(len(r.Classes))
	}
	if eszsl.Raw.Unseen > unseen || eszsl.Raw.Seen < eszsl.Raw.Unseen {
		t.Errorf("raw %+v, unseen classes alone %g", eszsl.Raw.Generalised, unseen)
	}
	testkit.Equal(t, "accuracy within its interval", within(eszsl.Corrected.Mean, eszsl.Corrected.Intervals.Mean), true)
	testkit.WantText(t, testlab.Text(r.Tables()), "first seed, over 4 parts", "│ raw ", "│ corrected ", "│ stacked ", "│ AUSUC ", "harmonic means of stacked scores:")

	c.Methods = c.Methods[1:]
	alone := askComparison(t, l, c)
	testkit.Equal(t, "of one method alone", alone.Generalised.Methods[0].Corrected.Mean, eszsl.Corrected.Mean)
	testkit.WantText(t, testlab.Text(alone.Tables()), "│ stacked ")
	few := lab.New(tiny.Simulate(tiny.Spec{
		Name: "few", Samples: 90, Dims: 16, Attributes: 9, Groups: 3, TrainClasses: 5, ValClasses: 2, TestClasses: 2,
	}), t.TempDir())
	testkit.NoError(t, few.Rotate(4, 0, true))
	testkit.WantText(t, testlab.Text(askComparison(t, few, c).Tables()), "seen and unseen classes together are not compared: ")
}
