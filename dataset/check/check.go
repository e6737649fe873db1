// Package check finds what is wrong with a data set: what would make training fail or mislead, and what makes
// its results worth less, such as classes that their descriptions do not distinguish and samples that are in
// two subsets. Each check is one function, and an entry in one of the lists below; what it finds is an
// *invalid.Error, which says where, what is wrong and what to do. The readers of data sets see to sizes,
// labels, names, groups, probabilities and the places of classes.
//
// It does not know which classes the network that computed the features was trained on.
package check

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

// The checks in order. Those of warnings take a data set without errors.
var (
	errorChecks = []func(*checker){
		(*checker).split, (*checker).testSeen, (*checker).features, (*checker).mostLabels,
	}
	allChecks = []func(*checker){
		(*checker).confusable, (*checker).unused, (*checker).scales, (*checker).few, (*checker).drafts,
	}
	useChecks = []func(*checker){
		(*checker).undescribed, (*checker).attributes,
		(*checker).someLabels, (*checker).order, (*checker).samples, (*checker).leaks,
	}
)

// Errors reports everything that would make training on d fail or mislead. The error joins the problems, each
// an *invalid.Error; of one kind it has the first few and the number of the others.
func Errors(d *dataset.Dataset) error { return run(d, errorChecks) }

// Empty reports descriptions of which no cell says no, though some are empty: a list of what classes have,
// by which a model could tell none apart. It is an error until it is said what the empty cells mean.
func Empty(d *dataset.Dataset) error { return run(d, []func(*checker){(*checker).onlyYes}) }

// Warnings reports what makes results on d worth less, in the form of Errors, which must have found none.
func Warnings(d *dataset.Dataset) error {
	return run(d, slices.Concat(allChecks, useChecks))
}

// Scales reports features that are of very different scales, or far from zero.
func Scales(d *dataset.Dataset) error { return run(d, []func(*checker){(*checker).scales}) }

// Use returns those of the findings of Warnings that a command tells which uses d. Scales are of
// interest where a model learns from the features without standardising them.
func Use(d *dataset.Dataset, scales bool) []Finding {
	checks := useChecks
	if scales {
		checks = slices.Insert(slices.Clone(checks), 0, (*checker).scales)
	}
	return Findings(Warning, run(d, checks))
}

// Unchecked reports descriptions of d that no person has checked.
func Unchecked(d *dataset.Dataset) []Finding {
	return Findings(Warning, run(d, []func(*checker){(*checker).drafts}))
}

// Severity says what a finding means.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // training would fail or mislead
	Warning Severity = "warning" // results are worth less
)

// Finding is one thing that is wrong with a data set. Its JSON keys are stable.
type Finding struct {
	File     string   `json:"file"`     // path, or the name of the data set
	Field    string   `json:"field"`    // line, column or variable; empty for a file as a whole
	Expected string   `json:"expected"` // may be empty
	Found    string   `json:"found"`    // what is there instead
	Hint     string   `json:"hint"`     // what to do; may be empty
	Severity Severity `json:"severity"` // error or warning
}

func (f Finding) String() string {
	e := &invalid.Error{Where: f.File, Field: f.Field, Want: f.Expected, Got: f.Found, Hint: f.Hint}
	if f.Expected == "" {
		e.Got, e.Err = "", errors.New(f.Found)
	}
	return e.Error()
}

// Findings lists the errors that err joins, in their order.
func Findings(severity Severity, err error) []Finding {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []Finding
		for _, e := range joined.Unwrap() {
			all = append(all, Findings(severity, e)...)
		}
		return all
	}
	e := (*invalid.Error)(nil)
	if !errors.As(err, &e) {
		return []Finding{{Found: err.Error(), Severity: severity}}
	}
	found, want := e.Got, e.Want
	if cause := e.Cause(); cause != "" {
		found = strings.TrimPrefix(found+": "+cause, ": ")
	}
	return []Finding{{e.Where, e.Field, want, found, e.Hint, severity}}
}

type checker struct {
	*dataset.Dataset
	subsetOf []string // of each class, empty if the split leaves it out
	// byFeatures returns the samplesByFeatures, which take most of the time: their digests are computed once.
	byFeatures func() [][]int
	problems   invalid.List
}

func run(d *dataset.Dataset, checks []func(*checker)) error {
	c := &checker{
		Dataset: d, subsetOf: subsets(d, d.Split),
		byFeatures: sync.OnceValue(func() [][]int { return samplesByFeatures(d) }),
	}
	for _, check := range checks {
		check(c)
	}
	return c.problems.Err()
}

func (c *checker) report(kind, field, want string, got any, hint ...string) {
	c.problems.Add(kind, &invalid.Error{
		Where: c.Name, Field: field, Want: want, Got: fmt.Sprint(got), Hint: strings.Join(hint, " "),
	})
}

func (c *checker) split() {
	samples := c.SamplesPerClass()
	for _, subset := range c.Split.Subsets() {
		for _, z := range subset.Classes {
			class := subset.Name + " class " + invalid.Quote(c.Classes[z])
			if samples[z] == 0 {
				c.report("samples", class, "at least one sample", "none")
			}
			if dataset.Described(c.Descriptions.Row(z)) == 0 {
				c.report("described", "description of "+class, "at least one described attribute", "none")
			}
		}
	}
}

func (c *checker) testSeen() {
	trained := c.SamplesPerClass()
	for place, i := range c.TestSeen {
		z := c.Labels[i]
		name := invalid.Quote(c.Classes[z])
		if subset := c.subsetOf[z]; subset != "train" && subset != "val" {
			c.report("test_seen", fmt.Sprintf("test_seen, entry %d", place),
				"a sample of a train or val class", fmt.Sprintf("sample %d, of class %s", i, name))
		} else if trained[z]--; trained[z] == 0 {
			c.report("all held out", "class "+name, "at least one sample to train on",
				fmt.Sprintf("all %d held out (test_seen)", c.SamplesPerClass()[z]))
		}
	}
}

// features reports the first value of each sample that is NaN or infinite and, if there is none,
// columns that are no features.
func (c *checker) features() {
	if c.Features.Cols == 0 {
		c.report("dimensions", "features", "at least one dimension", "none")
	}
	before := c.problems.Len()
	places := make([]int, c.Features.Rows)
	parallel.For(len(places), rowsAtOnce, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			places[i] = matrix.NotFinite(c.Features.Row(i))
		}
	})
	for i, j := range places {
		if j >= 0 {
			c.report("finite", fmt.Sprintf("feature %d of sample %d", j, i), "a finite number",
				c.Features.Row(i)[j], "--missing nan (or inf) puts the mean of the column in its place.")
		}
	}
	if c.problems.Len() == before {
		c.columns()
	}
}

// columns reports columns of the features that number the samples or say their classes. They
// hold whole numbers.
func (c *checker) columns() {
	x := c.Features
	if x.Cols < 2 || x.Rows < 3 {
		return
	}
	column := make([]float32, x.Rows)
	for j := range x.Cols {
		whole := true
		for i := range column {
			column[i] = x.Row(i)[j]
			if whole = column[i] == float32(math.Trunc(float64(column[i]))); !whole {
				break
			}
		}
		got := ""
		switch {
		case !whole:
		case matrix.CountUp(column):
			got = fmt.Sprintf("whole numbers that count up, from %v to %v", column[0], column[x.Rows-1])
		case c.numberClasses(column):
			got = "one whole number for each class"
		}
		if got != "" {
			c.report("column", fmt.Sprintf("features, column %d", j+1), "a feature", got,
				"Ids or labels of the samples? Take the column out of the features: "+
					"labels.csv has classes and ids.")
		}
	}
}

// numberClasses reports whether all samples of a class have the same value, which no other class has.
func (c *checker) numberClasses(column []float32) bool {
	valueOf, classOf := make(map[int]float32), make(map[float32]int)
	for i, z := range c.Labels {
		value, known := valueOf[z]
		class, taken := classOf[column[i]]
		if known && value != column[i] || taken && class != z {
			return false
		}
		valueOf[z], classOf[column[i]] = column[i], z
	}
	return len(valueOf) > 2 && 2*len(valueOf) <= len(c.Labels)
}

// contradict returns the samples whose names, such as the paths of their photographs, name another class than
// their labels, and the number of those that name a class. Few names of classes are taken for a coincidence.
func (c *checker) contradict() (samples []int, total int) {
	index := make(map[string]int, len(c.Classes))
	for z, name := range c.Classes {
		if f := fold(name); strings.ContainsFunc(f, unicode.IsLetter) {
			index[f] = z
		}
	}
	named, labelled := map[int]bool{}, map[int]bool{}
	for i, id := range c.IDs {
		found, z := namedBy(id, index), c.Labels[i]
		labelled[z] = true
		if len(found) == 0 {
			continue
		}
		total++
		named[found[0]] = true
		same := func(y int) bool { return fold(c.Classes[y]) == fold(c.Classes[z]) }
		if !slices.ContainsFunc(found, same) {
			samples = append(samples, i)
		}
	}
	if len(named) < 2 || 2*len(named) < len(labelled) || 2*total < len(c.IDs) {
		return nil, 0
	}
	return samples, total
}

// namedBy returns the classes that a name of a sample names, the deepest folder last but for its last part:
// its folders, and the beginning of the last part, up to a number or a sign.
func namedBy(id string, index map[string]int) (found []int) {
	folders, last := path.Split(strings.ReplaceAll(id, `\`, "/"))
	parts := strings.Split(strings.Trim(folders, "/"), "/")
	slices.Reverse(parts)
	for _, folder := range parts {
		if z, known := index[fold(folder)]; known {
			found = append(found, z)
		}
	}
	name := []rune(strings.TrimSuffix(last, path.Ext(last)))
	for n := len(name); n > 0; n-- {
		if n == len(name) || unicode.IsLetter(name[n]) != unicode.IsLetter(name[n-1]) {
			if z, known := index[fold(string(name[:n]))]; known {
				return append(found, z)
			}
		}
	}
	return found
}

// mostLabels reports labels most of which contradict the names of the samples, and someLabels others.
func (c *checker) mostLabels() { c.contradictions(true) }
func (c *checker) someLabels() { c.contradictions(false) }

func (c *checker) contradictions(most bool) {
	if len(c.IDs) != len(c.Labels) {
		return
	}
	found, named := c.contradict()
	if len(found) == 0 || 2*len(found) > named != most {
		return
	}
	hint := "Are they right?"
	if most {
		hint = "Were the lines of labels.csv sorted? Bring them back into the order of the features, that " +
			"of images.csv if dataset extract wrote it. If labels.csv is right, the names of the samples " +
			"(its column id, or images.csv) must not name classes."
	}
	c.report("labels", "labels", "the classes that the names of the samples say",
		fmt.Sprintf("another class for %d of %d, the first sample %d, %s, of class %s", len(found), named,
			found[0], format.Printable(c.IDs[found[0]]), invalid.Quote(c.Classes[c.Labels[found[0]]])), hint)
}

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
			"lago-train serve shows them. If you have checked them elsewhere, delete this file.")
	}
	if len(unknown) > 0 {
		c.report("drafts", descriptions.DraftsFile, "classes of the data set", invalid.Quote(unknown[0]),
			"If it was renamed, its drafts count as checked: rename it there too, or remove its lines.")
	}
}

// attributes reports attributes that their names do not tell apart.
func (c *checker) attributes() {
	first := make(map[string]int, len(c.Attributes))
	for m, a := range c.Attributes {
		if other, repeated := first[a.Name]; repeated {
			c.report("attribute name", fmt.Sprintf("attribute %d", m+1), "a name that no other attribute has",
				fmt.Sprintf("%s, as attribute %d", invalid.Quote(a.Name), other+1),
				"Descriptions of new classes cannot name it.")
		} else {
			first[a.Name] = m
		}
	}
}
