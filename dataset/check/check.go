// Package check finds what is wrong with a data set: what would make training fail or mislead, and
// what makes its results worth less, such as classes that their descriptions do not distinguish
// and samples that are in two subsets. Each check is one function, and an entry in one of the
// lists below; what it finds is an *invalid.Error, which says where, what is wrong and what
// to do.
//
// It does not know which classes the network that computed the features was trained on.
package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/numeric"
)

// The checks in order. Those of errors index by the sizes, and those of warnings take a data set
// without errors.
var (
	sizeChecks    = []func(*checker){(*checker).sizes}
	errorChecks   = []func(*checker){(*checker).names, (*checker).labels, (*checker).split, (*checker).testSeen, (*checker).descriptions, (*checker).groups, (*checker).features}
	warningChecks = []func(*checker){(*checker).sameDescriptions, (*checker).confusable, (*checker).leaks}
)

// Errors reports everything that would make training on d fail or mislead. The error joins the
// problems, each an *invalid.Error; of one kind it has the first few and the number of the
// others.
func Errors(d *dataset.Dataset) error {
	c := newChecker(d)
	if err := c.run(sizeChecks); err != nil {
		return err
	}
	return c.run(errorChecks)
}

// Warnings reports what makes results on d worth less, in the form of Errors, which must have
// found none.
func Warnings(d *dataset.Dataset) error { return newChecker(d).run(warningChecks) }

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
	return (&invalid.Error{Where: f.File, Field: f.Field, Want: f.Expected, Got: f.Found, Hint: f.Hint}).Error()
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
	if errors.Is(e.Err, fs.ErrNotExist) {
		want = cmp.Or(want, "a file that can be read")
	}
	if e.Err != nil {
		found = strings.TrimPrefix(found+": "+e.Err.Error(), ": ")
	}
	return []Finding{{e.Where, e.Field, want, found, e.Hint, severity}}
}

// checker collects the problems of a data set.
type checker struct {
	*dataset.Dataset
	subsetOf []string // of each class, empty if the split leaves it out
	problems invalid.List
}

func newChecker(d *dataset.Dataset) *checker {
	return &checker{Dataset: d, subsetOf: make([]string, len(d.Classes))}
}

func (c *checker) run(checks []func(*checker)) error {
	for _, check := range checks {
		check(c)
	}
	return c.problems.Err()
}

// report adds a problem of a kind, as invalid.List.Add does.
func (c *checker) report(kind, field, want string, got any, hint ...string) {
	c.problems.Add(kind, &invalid.Error{Where: c.Name, Field: field, Want: want, Got: fmt.Sprint(got), Hint: strings.Join(hint, " ")})
}

func (c *checker) hasClass(z int) bool { return z >= 0 && z < len(c.Classes) }

func (c *checker) sizes() {
	exact := func(field string, must int, what string, got int) {
		if got != must {
			c.report("size", field, fmt.Sprintf("%d %s", must, what), got)
		}
	}
	x, u, samples := c.Features, c.Descriptions, len(c.Labels)
	exact("features", x.Rows*x.Cols, "values for samples x dimensions", len(x.Data))
	exact("features", samples, "samples, one for each label", x.Rows)
	if c.IDs != nil {
		exact("ids", samples, "names, one for each label or none", len(c.IDs))
	}
	exact("descriptions", u.Rows*u.Cols, "values for classes x attributes", len(u.Data))
	exact("descriptions", len(c.Classes), "rows, one for each class", u.Rows)
	exact("descriptions", len(c.Attributes), "columns, one for each attribute", u.Cols)
	some := func(field string, n int) {
		if n < 1 {
			c.report("size", field, "at least one", n)
		}
	}
	some("samples", x.Rows)
	some("dimensions of the features", x.Cols)
	some("classes", len(c.Classes))
	some("attributes", len(c.Attributes))
}

func (c *checker) names() {
	first := make(map[string]int, len(c.Classes))
	for z, name := range c.Classes {
		other, repeated := first[name]
		switch field := fmt.Sprintf("class %d", z); {
		case name == "":
			c.report("class name", field, "a unique name", "an empty name")
		case repeated:
			c.report("class name", field, "a unique name", fmt.Sprintf("%s, which is also class %d", invalid.Quote(name), other))
		default:
			first[name] = z
		}
		c.control("class", z, name)
	}
	for m, a := range c.Attributes {
		c.control("attribute", m, a.Name)
	}
	for k, name := range c.Groups {
		c.control("group", k, name)
	}
}

func (c *checker) control(what string, i int, name string) {
	if invalid.HasControl(name) {
		c.report("control", fmt.Sprintf("%s %d", what, i), "a name without control characters", invalid.Quote(name))
	}
}

func (c *checker) labels() {
	for i, z := range c.Labels {
		if !c.hasClass(z) {
			c.report("label", fmt.Sprintf("label of sample %d", i), fmt.Sprintf("a class from 0 to %d", len(c.Classes)-1), z)
		}
	}
}

// split checks the classes of the split, which must have samples and a description.
func (c *checker) split() {
	samples := c.SamplesPerClass()
	for _, subset := range c.Split.Subsets() {
		if len(subset.Classes) == 0 {
			c.report("empty", subset.Name+" classes", "at least one", "none")
		}
		if !slices.IsSorted(subset.Classes) {
			c.report("order", subset.Name+" classes", "ascending order", "another")
		}
		for i, z := range subset.Classes {
			if !c.hasClass(z) {
				c.report("split", fmt.Sprintf("%s class %d of the split", subset.Name, i), fmt.Sprintf("a class from 0 to %d", len(c.Classes)-1), z)
				continue
			}
			name := invalid.Quote(c.Classes[z])
			if other := c.subsetOf[z]; other != "" {
				c.report("overlap", "class "+name, "one place in train, val or test", fmt.Sprintf("it in %s and in %s", other, subset.Name))
			}
			c.subsetOf[z] = subset.Name
			if samples[z] == 0 {
				c.report("samples", subset.Name+" class "+name, "at least one sample", "none")
			}
			if dataset.Described(c.Descriptions.Row(z)) == 0 {
				c.report("described", fmt.Sprintf("description of %s class %s", subset.Name, name), "at least one described attribute", "none")
			}
		}
	}
}

// testSeen checks the held-out samples, after split.
func (c *checker) testSeen() {
	trained := c.SamplesPerClass()
	before := -1
	for place, i := range c.TestSeen {
		field := fmt.Sprintf("test_seen, entry %d", place)
		switch {
		case i < 0 || i >= len(c.Labels):
			c.report("test_seen", field, fmt.Sprintf("a sample from 0 to %d", len(c.Labels)-1), i)
			continue
		case i <= before:
			c.report("test_seen", field, "samples in ascending order", fmt.Sprintf("%d after %d", i, before))
			continue
		}
		before = i
		z := c.Labels[i]
		if !c.hasClass(z) {
			continue
		}
		if subset := c.subsetOf[z]; subset != "train" && subset != "val" {
			c.report("test_seen", field, "a sample of a train or val class", fmt.Sprintf("sample %d, of class %s", i, invalid.Quote(c.Classes[z])))
		} else if trained[z]--; trained[z] == 0 {
			c.report("all held out", "class "+invalid.Quote(c.Classes[z]), "at least one sample to train on", fmt.Sprintf("all %d held out (test_seen)", c.SamplesPerClass()[z]))
		}
	}
}

func (c *checker) descriptions() {
	for z, name := range c.Classes {
		for m, p := range c.Descriptions.Row(z) {
			if !math.IsNaN(p) && !(p >= 0 && p <= 1) {
				c.report("probability", fmt.Sprintf("description of class %s, attribute %s", invalid.Quote(name), invalid.Quote(c.Attributes[m].Name)),
					"a probability from 0 to 1, or NaN if it is not described", p)
			}
		}
	}
}

func (c *checker) groups() {
	want := "-1, because there are no groups"
	if c.Groups != nil {
		want = fmt.Sprintf("a group from 0 to %d", len(c.Groups)-1)
	}
	used := make([]bool, len(c.Groups))
	for m, a := range c.Attributes {
		switch {
		case a.Group >= 0 && a.Group < len(c.Groups):
			used[a.Group] = true
		case c.Groups != nil || a.Group != -1:
			c.report("group", fmt.Sprintf("group of attribute %d, %s", m, invalid.Quote(a.Name)), want, a.Group)
		}
	}
	for k, name := range c.Groups {
		if !used[k] {
			c.report("empty group", fmt.Sprintf("group %d, %s", k, invalid.Quote(name)), "at least one attribute", "none")
		}
	}
}

// features reports the first value of each sample that is NaN or infinite.
func (c *checker) features() {
	for i := range c.Features.Rows {
		row := c.Features.Row(i)
		if j := numeric.NotFinite(row); j >= 0 {
			c.report("finite", fmt.Sprintf("feature %d of sample %d", j, i), "a finite number", row[j])
		}
	}
}
