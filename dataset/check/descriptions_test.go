package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

// The bound is exact for one attribute that is certain, and for equal descriptions.
func TestDescribe(t *testing.T) {
	table := &descriptions.Table{
		Attributes: []descriptions.Attribute{{Name: "x"}, {Name: "y"}, {Name: "z"}}, Classes: []string{"a", "b", "c", "d", "e"},
		Cells: [][]string{{"1", "0", "0.5"}, {"1", "0", "0.5"}, {"0", "0", "0.5"}, {"1", "", ""}, {"", "", ""}},
	}
	d := Describe(table)
	none := []string{}
	want := Descriptions{
		Pairs: []Pair{
			{A: "a", B: "b", Confusion: 0.5, Missing: none, Differ: none, same: true},
			{A: "a", B: "d", Confusion: 0.5, Missing: []string{"y", "z"}, Differ: none},
			{A: "b", B: "d", Confusion: 0.5, Missing: []string{"y", "z"}, Differ: none},
		},
		Number: 3, Separating: "y", Of: 2, Constant: []string{"y", "z"},
		Missing: Missing{5, 15, []Count{{"e", 3}, {"d", 2}}, []Count{{"y", 2}, {"z", 2}, {"x", 1}}},
	}
	testkit.Equal(t, "found", d, want, cmp.AllowUnexported(Pair{}), cmpopts.EquateApprox(0, 1e-12))
	table.Classes, table.Cells = table.Classes[:2], table.Cells[:2]
	if d := Describe(table); d.Of != 0 || d.Separating != "" {
		t.Errorf("attribute %q for %d pairs, expected none", d.Separating, d.Of)
	}
}

// No classifier of exact detections is better than the Bayes error, which the bound is not below.
func TestConfusionBoundsTheBayesError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := dataset.NewMatrix[float64](2, rapid.IntRange(1, 5).Draw(t, "attributes"))
		for i := range u.Data {
			u.Data[i] = rapid.Float64Range(0, 1).Draw(t, "p")
		}
		var bayes float64
		for bits := range 1 << u.Cols {
			p := [2]float64{1, 1}
			for z := range p {
				for m, v := range u.Row(z) {
					p[z] *= map[bool]float64{true: v, false: 1 - v}[bits>>m&1 == 1]
				}
			}
			bayes += min(p[0], p[1]) / 2
		}
		var found float64
		pairs, _ := confusable(u)
		for _, p := range pairs {
			found = p.confusion
		}
		if bound := max(found, LeastConfusion); bayes > bound+1e-12 {
			t.Fatalf("Bayes error %g, bound %g", bayes, bound)
		}
	})
}

// Drafts are counted wherever a data set is used; those of a class that another program renamed are named.
func TestDrafts(t *testing.T) {
	d := tiny.Sound()
	d.Drafts = map[dataset.Draft]bool{{Class: d.Classes[0], Group: "legs"}: true, {Class: d.Classes[1], Group: "legs"}: true, {Class: "gone"}: true}
	findings := Use(d, false)
	if len(findings) < 2 {
		t.Fatalf("found %v", findings)
	}
	testkit.WantText(t, findings[0].String(), "drafts.csv: expected descriptions that a person has checked, found 2 groups of classes that nobody has checked.")
	testkit.WantText(t, findings[1].String(), `drafts.csv: expected classes of the data set, found "gone".`)
}
