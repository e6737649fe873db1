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

// wrongEntries is a share of entries that are made wrong, and the least share of them that must be found.
type wrongEntries struct {
	name         string
	share, least float64
	yesNo        bool
}

var wrongShares = []wrongEntries{{"glyphs", 0.05, 0.4, false}} // letters say little of each other

// Most of the N most doubtful entries are the N wrong ones, also among yes and no.
func TestDoubtsAreWrongEntries(t *testing.T) {
	sets := tables(t)
	for _, c := range wrongShares {
		d := sets[c.name]
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
	table := descriptions.TableOf(d)
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
