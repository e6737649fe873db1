package results

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// A value is shown for each part only where the parts differ.
func TestChosen(t *testing.T) {
	for want, parts := range map[string][]Part{
		"epochs 3; k-soft": {{Variant: "k-soft", Epochs: 3}, {Variant: "k-soft", Epochs: 3}},
		"epochs 3, 4; k-soft; alpha 0, default; lr 6.1e-05, 0.1": {
			{Variant: "k-soft", Epochs: 3, Changed: map[string]any{"lr": 6.103515625e-05, "alpha": 0}}, {Variant: "k-soft", Epochs: 4, Changed: map[string]any{"lr": 0.1}},
		},
	} {
		testkit.Equal(t, "chosen", Method{Name: methods.LAGO, Parts: parts}.Chosen(), want)
	}
}

// scored is a run with right samples, of 4, of each class.
func scored(part string, seed uint64, right ...int) lab.Run {
	var confusion metrics.Confusion
	var classes []string
	for z, n := range right {
		confusion = append(confusion, [3]int{z, z, n}, [3]int{z, (z + 1) % len(right), 4 - n})
		classes = append(classes, fmt.Sprint(part, z))
	}
	a := confusion.Accuracy()
	return lab.Run{
		Trial: train.Trial{Fingerprint: part, Seed: seed}, Result: &train.Result{Classes: classes},
		Evaluation: &train.Evaluation{PerClass: a.PerClass, PerSample: a.PerSample, Confusion: confusion},
	}
}

// The accuracy of a seed over several parts is the mean over all their classes. Seeds that lack
// a part, and runs without a result, are left out.
func TestMeasure(t *testing.T) {
	m := Measure([]lab.Run{scored("a", 0, 4, 2), scored("b", 0, 1, 1, 0), scored("a", 1, 4, 4), scored("b", 1, 1, 1, 2)})
	testkit.NearAll(t, "accuracies", m.PerClass.Values, []float64{8. / 20, 12. / 20}, 1e-12)
	testkit.NearAll(t, "by class", m.ByClass, []float64{1, 0.75, 0.25, 0.25, 0.25}, 1e-12)
	testkit.Equal(t, "classes, parts, chance", []any{m.Classes, m.Parts, m.Chance(), m.Interval}, []any{5, 2, 0.4, metrics.ClassInterval(m.ByClass)})
	failed := lab.Run{Trial: train.Trial{Fingerprint: "a", Seed: 7}, Missing: &lab.Missing{State: lab.Waiting}}
	for name, c := range map[string]struct {
		runs []lab.Run
		want int
	}{
		"a run has no result":         {[]lab.Run{scored("a", 0, 4, 2), failed}, 1},
		"a seed lacks a part":         {[]lab.Run{scored("a", 0, 4, 2), scored("b", 0, 1, 1, 0), scored("a", 1, 4, 4)}, 1},
		"each seed lacks one":         {[]lab.Run{scored("a", 0, 4, 2), scored("b", 1, 1, 1, 0)}, 0},
		"a part failed in every seed": {[]lab.Run{scored("a", 0, 4, 2), {Trial: train.Trial{Fingerprint: "b"}, Missing: &lab.Missing{State: lab.Waiting}}}, 0},
	} {
		testkit.Equal(t, name, len(Measure(c.runs).PerClass.Values), c.want)
	}
}

// The most accurate method comes first unless methods are ordered, and there is no column of published
// numbers without any.
func TestMethodsAreSortedByAccuracy(t *testing.T) {
	row := func(name string, accuracy float64) Method {
		return Method{Name: name, Title: name, Test: Measured{PerClass: lab.Summarise([]float64{accuracy})}}
	}
	c := &MethodTable{Methods: []Method{row("a", 0.2), row("b", 0.4), row("c", 0.3)}}
	order := regexp.MustCompile(`(?s)│ b .*│ c .*│ a `)
	if text := c.Tables()[0].Text(1000, 0); !order.MatchString(text) || strings.Contains(text, "published") {
		t.Errorf("found\n%s", text)
	}
	c.Methods[0].Published, c.Ordered = "51.3", true
	if text := c.Tables()[0].Text(1000, 0); order.MatchString(text) || !strings.Contains(text, "│      51.3 │") {
		t.Errorf("expected the methods in their order, and published numbers:\n%s", text)
	}
}

// Where too few classes are seen nothing is chosen, and a result without validation accuracies is shown.
func TestComparisonWithoutValidationClasses(t *testing.T) {
	m := Measured{Classes: 2, Parts: 1, PerClass: lab.Summarise([]float64{0.5}), PerSample: lab.Summarise([]float64{0.5})}
	c := MethodTable{Methods: []Method{{Name: "eszsl", Title: "ESZSL", Test: m}}}
	panels := c.Draw(func(Method) bool { return false })[0].Picture.(*plot.Dots).Panels
	testkit.Equal(t, "panels and chance", []float64{float64(len(panels)), panels[0].Chance}, []float64{1, 50})
	testkit.WantText(t, c.Tables()[0].Title, "for a fixed number of epochs")
}
