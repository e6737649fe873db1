package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Descriptions says what descriptions lack, and which classes they hardly distinguish.
type Descriptions struct {
	Pairs      []Pair   `json:"pairs"`      // the 1,000 most confused ones, first those
	Number     int      `json:"number"`     // of all pairs
	Separating string   `json:"separating"` // attribute that most of the pairs lack, "" for none
	Of         int      `json:"of"`         // number of these
	Constant   []string `json:"constant"`   // attributes that are the same for all classes
	Missing    Missing  `json:"missing"`
}

// Pair is two classes whose descriptions are similar.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Confusion is the expected share of their samples, half of each, that are taken for the other
	// class if every attribute is detected without error: at most sum_a sqrt(p(a|A) p(a|B)) / 2 over
	// all combinations of independent attributes, the Bhattacharyya bound. Real detectors confuse more.
	Confusion float64  `json:"confusion"`
	Missing   []string `json:"missing"` // attributes that one or both lack
	Differ    []string `json:"differ"`  // those that differ, the most first
	same      bool     // one is described as the other
}

// Missing counts the entries that are missing in the descriptions. Its JSON keys are stable.
type Missing struct {
	Entries    int     `json:"entries"`
	Of         int     `json:"of"`         // classes times attributes
	Classes    []Count `json:"classes"`    // those with missing entries, the most first
	Attributes []Count `json:"attributes"` // those with missing entries, the most first
}

// Count is a number of missing entries.
type Count struct {
	Name    string `json:"name"`
	Entries int    `json:"entries"`
}

// undescribed reports attributes of which no class has an entry, such as those whose column was deleted.
func (c *checker) undescribed() {
	u := c.Descriptions
	for m, name := range c.Attributes {
		described := false
		for z := range u.Rows {
			described = described || !math.IsNaN(u.Row(z)[m])
		}
		if !described && dataset.Described(u.Data) > 0 {
			c.report("undescribed", "attribute "+invalid.Quote(name.Name), "entries of some classes", "none",
				"It has no effect. Restore its column in classes.csv, or delete its line of attributes.csv.")
		}
	}
}

// Drafts counts the drafts of some classes, and names the other classes that have some, in order: those
// that another program renamed.
func Drafts(drafts map[dataset.Draft]bool, classes []string) (open int, unknown []string) {
	known := make(map[string]bool, len(classes))
	for _, name := range classes {
		known[name] = true
	}
	for d := range drafts {
		if known[d.Class] {
			open++
		} else {
			unknown = append(unknown, d.Class)
		}
	}
	slices.Sort(unknown)
	return open, slices.Compact(unknown)
}

func (c *checker) drafts() {
	open, unknown := Drafts(c.Drafts, c.Classes)
	if open > 0 {
		c.report("drafts", descriptions.DraftsFile, "descriptions that a person has checked",
			format.Count(open, "group")+" of classes that nobody has checked",
			"They can be checked on the page of lago-train serve.")
	}
	if len(unknown) > 0 {
		c.report("drafts", descriptions.DraftsFile, "classes of the data set", invalid.Quote(unknown[0]),
			"If it was renamed, its drafts count as checked: rename it there too, or remove its lines.")
	}
}

// LeastConfusion is the expected confusion from which pairs are listed.
const LeastConfusion = 0.05

const (
	mostPairs       = 1000 // that are listed, and of one class
	comparedClasses = 5000 // at most, in Warnings; the same descriptions are found among any number
)

// Describe finds out what the descriptions of a table lack, and which pairs of classes have an
// expected confusion of at least LeastConfusion. Attributes that one of two classes lacks do not
// distinguish them. Classes without any value are in no pair.
func Describe(t *descriptions.Table) Descriptions {
	u := t.Values()
	d := Descriptions{Pairs: []Pair{}, Constant: []string{}, Missing: CountMissing(t)}
	var similar []similarPair
	similar, d.Number = confusable(u)
	lack := make([]int, u.Cols) // pairs that lack an attribute
	for _, p := range similar {
		a, b := u.Row(p.a), u.Row(p.b)
		pair := Pair{
			A: t.Classes[p.a], B: t.Classes[p.b], Confusion: p.confusion, Missing: []string{},
			Differ: []string{}, same: true,
		}
		var differ []int
		for m := range a {
			switch d := math.Abs(a[m] - b[m]); {
			case math.IsNaN(d):
				pair.Missing = append(pair.Missing, t.Attributes[m].Name)
				lack[m]++
				pair.same = pair.same && math.IsNaN(a[m]) && math.IsNaN(b[m])
			case d > 0:
				differ = append(differ, m)
			}
		}
		pair.same = pair.same && len(differ) == 0
		slices.SortStableFunc(differ, func(i, j int) int {
			return cmp.Compare(math.Abs(a[j]-b[j]), math.Abs(a[i]-b[i]))
		})
		for _, m := range differ {
			pair.Differ = append(pair.Differ, t.Attributes[m].Name)
		}
		d.Pairs = append(d.Pairs, pair)
	}
	for m, n := range lack {
		if n > d.Of {
			d.Separating, d.Of = t.Attributes[m].Name, n
		}
	}
	for m, attribute := range t.Attributes {
		least, most := math.Inf(1), math.Inf(-1)
		for z := range u.Rows {
			if p := u.Row(z)[m]; !math.IsNaN(p) {
				least, most = min(least, p), max(most, p)
			}
		}
		if least >= most {
			d.Constant = append(d.Constant, attribute.Name)
		}
	}
	return d
}

// CountMissing counts the missing entries of a table.
func CountMissing(t *descriptions.Table) Missing {
	classes, attributes := make([]Count, len(t.Classes)), make([]Count, len(t.Attributes))
	missing := Missing{Of: len(classes) * len(attributes)}
	for z, name := range t.Classes {
		classes[z].Name = name
		for m, cell := range t.Cells[z] {
			if attributes[m].Name = t.Attributes[m].Name; cell == "" {
				classes[z].Entries++
				attributes[m].Entries++
				missing.Entries++
			}
		}
	}
	for _, list := range []*[]Count{&classes, &attributes} {
		*list = slices.DeleteFunc(*list, func(c Count) bool { return c.Entries == 0 })
		slices.SortStableFunc(*list, func(a, b Count) int { return b.Entries - a.Entries })
	}
	missing.Classes, missing.Attributes = classes, attributes
	return missing
}

// similarPair is two classes, a < b, whose descriptions are similar.
type similarPair struct {
	a, b      int
	confusion float64
}

// confusable returns the pairs of the descriptions u that are confused most, and the number of all.
func confusable(u dataset.Matrix[float64]) (list []similarPair, number int) {
	yes, no := dataset.NewMatrix[float64](u.Rows, u.Cols), dataset.NewMatrix[float64](u.Rows, u.Cols)
	for i, p := range u.Data {
		yes.Data[i], no.Data[i] = math.Sqrt(p), math.Sqrt(1-p)
	}
	confusion := func(a, b int) float64 {
		overlap, yesB, noA, noB := 1.0, yes.Row(b), no.Row(a), no.Row(b)
		for m, v := range yes.Row(a) {
			factor := v*yesB[m] + noA[m]*noB[m]
			if factor == factor { // no NaN
				overlap *= factor
			}
			if overlap < 2*LeastConfusion {
				return 0
			}
		}
		return min(overlap, 1) / 2
	}
	of, count := make([][]similarPair, u.Rows), make([]int, u.Rows)
	parallel.For(u.Rows, 1, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			for b := a + 1; b < u.Rows; b++ {
				if v := confusion(a, b); v > 0 && dataset.Described(u.Row(a)) > 0 &&
					dataset.Described(u.Row(b)) > 0 {
					if count[a]++; count[a] <= mostPairs {
						of[a] = append(of[a], similarPair{a, b, v})
					}
				}
			}
		}
	})
	for _, c := range count {
		number += c
	}
	list = slices.Concat(of...)
	slices.SortStableFunc(list, func(p, q similarPair) int { return cmp.Compare(q.confusion, p.confusion) })
	return list[:min(len(list), mostPairs)], number
}

// sameDescriptions reports classes that no method can tell apart.
func (c *checker) sameDescriptions() {
	for _, set := range groups(digests(c.Descriptions)) {
		for _, z := range set[1:] {
			c.report("description", c.classPair(c.Classes[set[0]], c.Classes[z]), "different descriptions",
				"the same", "No method can tell these classes apart.")
		}
	}
}

func (c *checker) classPair(a, b string) string {
	return fmt.Sprintf("classes %s and %s", invalid.Quote(a), invalid.Quote(b))
}

// confusable reports pairs of classes that the descriptions hardly distinguish, but for those that
// are the same, and the entry that would separate most of them.
func (c *checker) confusable() {
	if len(c.Classes) > comparedClasses {
		return
	}
	d := Describe(descriptions.Of(c.Dataset))
	for _, p := range d.Pairs {
		if p.same { // reported
			continue
		}
		hint := "Add an attribute on which they differ."
		if n := len(p.Missing); n > 0 {
			hint = fmt.Sprintf("One or both lack %s.", format.Count(n, "attribute"))
		}
		c.report("confusable", c.classPair(p.A, p.B), "a confusion below "+format.Percent(LeastConfusion),
			format.Percent(p.Confusion), hint)
	}
	if d.Of > 0 {
		c.report("separating", "attribute "+invalid.Quote(d.Separating),
			fmt.Sprintf("entries for the %s of classes above that lack it", format.Count(d.Of, "pair")),
			"none", "Fill it in first: no other missing attribute could separate more of these pairs.")
	}
}

// Empty reports descriptions of which no cell says no, though some are empty: a list of what classes have,
// by which a model could tell none apart. It is an error until it is said what the empty cells mean.
func Empty(d *dataset.Dataset) error { return run(d, []func(*checker){(*checker).onlyYes}) }

func (c *checker) onlyYes() {
	given := dataset.Described(c.Descriptions.Data)
	empty := len(c.Descriptions.Data) - given
	if c.EmptyUnknown || empty == 0 || given == 0 ||
		slices.ContainsFunc(c.Descriptions.Data, func(p float64) bool { return p < 0.5 }) {
		return
	}
	c.report("empty", "descriptions", "cells that say no", fmt.Sprintf("none below one half, and %d of %d "+
		"cells empty", empty, len(c.Descriptions.Data)),
		fmt.Sprintf("If an empty cell means that the class lacks the attribute: "+
			"lago-train dataset describe %s --empty no. If it means that nobody knows: --empty unknown. "+
			"Folders of .mat files become CSV files first: lago-train docs xlsa17.", c.Name))
}
