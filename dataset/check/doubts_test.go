package check_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/internal/testkit"
)

// Most of the N most doubtful entries are the N wrong ones, also among yes and no.
func TestDoubtsAreWrongEntries(t *testing.T) {
	sets := tables(t)
	for _, c := range []struct {
		name         string
		share, least float64
		yesNo        bool
	}{
		{"cub127", 0.01, 0.87, false},
		{"cub127", 0.05, 0.88, false},
		{"cub127", 0.01, 0.65, true},
		{"cub127", 0.05, 0.75, true},
		{"glyphs", 0.05, 0.4, false}, // letters say little of each other
	} {
		d := sets[c.name]
		if d == nil {
			continue // cub127 is not there
		}
		const seeds = 3
		mean := 0.0
		for seed := range uint64(seeds) {
			r, wrong := rand.New(rand.NewPCG(seed, 1)), map[int]bool{}
			i := -1
			table := change(d, func(_ int, p float64) float64 {
				if i++; c.yesNo {
					p = math.Round(p)
				}
				if r.Float64() < c.share {
					wrong[i] = true
					return 1 - math.Round(p)
				}
				return p
			})
			found := countWrong(table.Descriptions, len(wrong), func(z, m int) bool {
				return wrong[z*len(d.Attributes)+m]
			})
			mean += float64(found) / float64(len(wrong)) / seeds
		}
		if mean < c.least {
			t.Errorf("%.3f of the most doubtful entries are wrong, expected %+v", mean, c)
		}
	}
}

// countWrong counts the wrong ones of the n most doubtful entries.
func countWrong(u dataset.Matrix[float64], n int, wrong func(z, m int) bool) (count int) {
	for _, doubt := range impute.Doubts(u)[:n] {
		if wrong(doubt.Class, doubt.Attribute) {
			count++
		}
	}
	return count
}

// In a draft of 28 birds by a language model, 3.4 % of the entries are off by more than a half.
func TestDoubtsOfDraft(t *testing.T) {
	bench := tables(t)["cub127"]
	if bench == nil {
		t.Skip("cub127 is not there")
	}
	row, column, draft := map[string]int{}, map[string]int{}, &descriptions.Table{}
	for z, class := range bench.Classes {
		row[class] = z
	}
	for m, a := range bench.Attributes {
		column[a.Name] = m
	}
	testkit.Must(draft.AddTraits(t.Context(), "../descriptions/testdata/draft.csv", false))(t)
	u := draft.Values()
	found := countWrong(u, 100, func(z, m int) bool {
		right := bench.Descriptions.Row(row[draft.Classes[z]])[column[draft.Attributes[m].Name]]
		return math.Abs(u.Row(z)[m]-right) > 0.5
	})
	if found < 25 {
		t.Errorf("%d of the 100 most doubtful entries are wrong, expected 25", found)
	}
}

// The report names entries that are far from what is expected, and what similar classes have.
func TestFindDoubts(t *testing.T) {
	d := change(tables(t)["glyphs"], func(_ int, p float64) float64 { return p })
	before := check.FindDoubts(d)
	d.Descriptions.Row(3)[7] = 1 - d.Descriptions.Row(3)[7]
	after := check.FindDoubts(d)
	if after.Far < before.Far || len(after.Most) != min(after.Far, 5) || after.Given != 1 || !after.Whole {
		t.Errorf("found %+v, and %+v with a wrong entry", before, after)
	}
	text := check.Doubt{Class: "owl", Attribute: "fur", Value: 1, Expected: 0.031, Similar: 3}.String()
	testkit.Equal(t, "text", text, `class "owl", attribute "fur": yes, expected about 3 %: three similar classes have no`)
}

// With ten classes groups and attributes are ordered by what they tell; with fewer the order is the file's.
func TestQuestionnaire(t *testing.T) {
	d := tables(t)["glyphs"]
	table := descriptions.Of(d)
	q := check.NewQuestionnaire(table)
	if n := len(q.Groups); !q.Measured || n != len(d.Groups) || *q.Groups[0].Explained >= *q.Groups[n-1].Explained || *q.Groups[n-1].Explained < 0.99 {
		t.Errorf("found %+v, expected all groups, which explain more and more", q.Groups)
	}
	testkit.Equal(t, "lines of CSV", len(q.Rows()), 1+len(d.Groups)+len(d.Attributes))
	table.Classes, table.Cells = table.Classes[:9], table.Cells[:9]
	few := check.NewQuestionnaire(table)
	if few.Measured || few.Attributes[5].Name != d.Attributes[5].Name || few.Attributes[5].Explained != nil {
		t.Errorf("found %+v, expected the order of the file", few.Attributes[5])
	}
}
