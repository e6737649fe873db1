package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
)

// unused names classes with samples and without a part.
func (c *checker) unused() {
	for z, n := range c.SamplesPerClass() {
		if n > 0 && c.subsetOf[z] == "" {
			c.report("unused", "class "+invalid.Quote(c.Classes[z]), "a part, train, val or test",
				"none: its "+format.Count(n, "sample")+" will not be used")
		}
	}
}

// FewVal is the number of validation classes below which they choose no number of epochs: any seems right.
// From FewSeen seen classes on, parts of as many of these do, in turn. FewTest is the least number of test
// classes that are proposed where there are twice as many classes.
const (
	FewVal  = 4
	FewSeen = 2 * FewVal
	FewTest = 3
)

// few reports too few test classes to measure an accuracy, and too few validation classes.
func (c *checker) few() {
	if len(c.Split.Test) == 1 {
		c.report("one", "test classes", "at least 2, between which a prediction can be wrong", "1",
			"No accuracy can be measured.")
	}
	if n := len(c.Split.Val); n > 0 && n < FewVal {
		seen, hint := len(c.Split.Seen()),
			"The number of epochs is chosen by parts of the %d seen classes in turn."
		if seen < FewSeen {
			hint = "The number of epochs is fixed, since only %d classes are seen."
		}
		c.report("few", "val classes", fmt.Sprintf("at least %d", FewVal), n, fmt.Sprintf(hint, seen))
	}
}

// Uncovered returns the attributes that a val or test class has with a probability of at
// least 0.5 and no train class has. A model cannot learn what they look like.
func Uncovered(d *dataset.Dataset, s dataset.Split) []int {
	const has = 0.5
	var uncovered []int
	for m := range d.Attributes {
		described := func(z int) bool { return d.Descriptions.Row(z)[m] >= has }
		if !slices.ContainsFunc(s.Train, described) &&
			(slices.ContainsFunc(s.Val, described) || slices.ContainsFunc(s.Test, described)) {
			uncovered = append(uncovered, m)
		}
	}
	return uncovered
}

// SplitReport describes a split. Its JSON keys are stable.
type SplitReport struct {
	Name      string   `json:"name"`
	Samples   int      `json:"samples"`   // of all subsets
	Subsets   []Subset `json:"subsets"`   // train, val, test
	LeftOut   []string `json:"left_out"`  // classes in no subset
	Leaks     []Leak   `json:"leaks"`     // what train, validation and test classes share
	Uncovered []string `json:"uncovered"` // attributes of val or test classes that no train class has
	// held-out samples of seen classes (test_seen) whose classes are test classes by this split
	HeldOutUnseen int `json:"held_out_unseen"`
}

// Subset describes the train, val or test classes.
type Subset struct {
	Name    string   `json:"name"`
	Classes []string `json:"classes"`
	Samples int      `json:"samples"`
}

// Split checks a split of d.
func Split(d *dataset.Dataset, s dataset.Split) SplitReport {
	r := SplitReport{
		Name: d.Name, LeftOut: []string{}, Leaks: append([]Leak{}, Leaks(d, s)...), Uncovered: []string{},
	}
	for _, subset := range s.Subsets() {
		p := Subset{subset.Name, []string{}, len(d.SamplesOf(subset.Classes))}
		for _, z := range subset.Classes {
			p.Classes = append(p.Classes, d.Classes[z])
		}
		r.Samples += p.Samples
		r.Subsets = append(r.Subsets, p)
	}
	subsetOf := subsets(d, s)
	for z, subset := range subsetOf {
		if subset == "" {
			r.LeftOut = append(r.LeftOut, d.Classes[z])
		}
	}
	for _, m := range Uncovered(d, s) {
		r.Uncovered = append(r.Uncovered, d.Attributes[m].Name)
	}
	for _, i := range d.TestSeen {
		if subsetOf[d.Labels[i]] == "test" {
			r.HeldOutUnseen++
		}
	}
	return r
}

// Table has the subsets, and the leaks as notes. What few val or test classes mean is said by Warnings.
func (r SplitReport) Table() *table.Table {
	const mostLeaks = 20 // that are printed; JSON has all
	t := table.New("", "subset", "classes", "samples", "share of classes", "share of samples").Right(4, 5)
	classes := 0
	for _, p := range r.Subsets {
		classes += len(p.Classes)
	}
	share := func(n, total int) string { return format.Percent(float64(n) / float64(max(total, 1))) }
	for _, p := range r.Subsets {
		t.Row(p.Name, len(p.Classes), p.Samples, share(len(p.Classes), classes), share(p.Samples, r.Samples))
	}
	if len(r.LeftOut) > 0 {
		t.Note("in no subset: %s", strings.Join(r.LeftOut, ", "))
	}
	if len(r.Leaks) == 0 {
		t.Note("leaks: none found")
	} else {
		t.Note("leaks: %d", len(r.Leaks))
	}
	for _, l := range r.Leaks[:min(len(r.Leaks), mostLeaks)] {
		t.Note("  %s: %s", l.Kind, l)
	}
	if more := len(r.Leaks) - mostLeaks; more > 0 {
		t.Note("  %d more", more)
	}
	if len(r.Uncovered) > 0 {
		t.Note("attributes of val or test classes that no train class has: %s",
			strings.Join(r.Uncovered, ", "))
	}
	if r.HeldOutUnseen > 0 {
		t.Note("%s of test classes held out as samples of seen classes: change test_seen in labels.csv, or "+
			"leave these classes seen", format.Count(r.HeldOutUnseen, "sample"))
	}
	return t.Note("not checked: whether the network that computed the features was trained on test classes " +
		"(most networks know those of ImageNet)")
}
