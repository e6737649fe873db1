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
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The checks in order. Those of warnings take a data set without errors.
var (
	errorChecks       = []func(*checker){(*checker).names, (*checker).split, (*checker).testSeen, (*checker).probabilities, (*checker).features}
	descriptionChecks = []func(*checker){(*checker).sameDescriptions, (*checker).confusable}
	useChecks         = []func(*checker){(*checker).attributes, (*checker).samples, (*checker).leaks}
)

// Errors reports everything that would make training on d fail or mislead, as far as the readers of
// data sets leave it possible: they see to sizes, labels, groups and the places of classes. The
// error joins the problems, each an *invalid.Error; of one kind it has the first few and the number
// of the others.
func Errors(d *dataset.Dataset) error { return run(d, errorChecks) }

// Warnings reports what makes results on d worth less, in the form of Errors, which must have
// found none.
func Warnings(d *dataset.Dataset) error {
	return run(d, slices.Concat(descriptionChecks, []func(*checker){(*checker).scales}, useChecks))
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
	// byFeatures returns the samplesByFeatures, which take most of the time: their digests are computed once.
	byFeatures func() [][]int
	problems   invalid.List
}

func run(d *dataset.Dataset, checks []func(*checker)) error {
	c := &checker{Dataset: d, subsetOf: subsets(d, d.Split), byFeatures: sync.OnceValue(func() [][]int { return samplesByFeatures(d) })}
	for _, check := range checks {
		check(c)
	}
	return c.problems.Err()
}

// report adds a problem of a kind, as invalid.List.Add does.
func (c *checker) report(kind, field, want string, got any, hint ...string) {
	c.problems.Add(kind, &invalid.Error{Where: c.Name, Field: field, Want: want, Got: fmt.Sprint(got), Hint: strings.Join(hint, " ")})
}

func (c *checker) names() {
	first := make(map[string]int, len(c.Classes))
	for z, name := range c.Classes {
		field := fmt.Sprintf("class %d", z)
		if name == "" {
			c.report("class name", field, "a unique name", "an empty name")
		} else if other, repeated := first[name]; repeated {
			c.report("class name", field, "a unique name", fmt.Sprintf("%s, which is also class %d", invalid.Quote(name), other))
		} else {
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

// attributes reports attributes that their names do not tell apart.
func (c *checker) attributes() {
	first := make(map[string]int, len(c.Attributes))
	for m, a := range c.Attributes {
		if other, repeated := first[a.Name]; repeated {
			c.report("attribute name", fmt.Sprintf("attribute %d", m+1), "a name that no other attribute has", fmt.Sprintf("%s, as attribute %d", invalid.Quote(a.Name), other+1),
				"Descriptions of new classes cannot name it.")
		} else {
			first[a.Name] = m
		}
	}
}

func (c *checker) control(what string, i int, name string) {
	if invalid.HasControl(name) {
		c.report("control", fmt.Sprintf("%s %d", what, i), "a name without control characters", invalid.Quote(name))
	}
}

// split checks the classes of the split, which must have samples and a description.
func (c *checker) split() {
	samples := c.SamplesPerClass()
	for _, subset := range c.Split.Subsets() {
		if len(subset.Classes) == 0 {
			c.report("empty", subset.Name+" classes", "at least one", "none")
		}
		for _, z := range subset.Classes {
			name := invalid.Quote(c.Classes[z])
			if other := c.subsetOf[z]; other != subset.Name {
				c.report("overlap", "class "+name, "one place in train, val or test", fmt.Sprintf("it in %s and in %s", subset.Name, other))
			}
			if samples[z] == 0 {
				c.report("samples", subset.Name+" class "+name, "at least one sample", "none")
			}
			if dataset.Described(c.Descriptions.Row(z)) == 0 {
				c.report("described", fmt.Sprintf("description of %s class %s", subset.Name, name), "at least one described attribute", "none")
			}
		}
	}
}

// testSeen checks the held-out samples.
func (c *checker) testSeen() {
	trained := c.SamplesPerClass()
	for place, i := range c.TestSeen {
		z := c.Labels[i]
		name := invalid.Quote(c.Classes[z])
		if subset := c.subsetOf[z]; subset != "train" && subset != "val" {
			c.report("test_seen", fmt.Sprintf("test_seen, entry %d", place), "a sample of a train or val class", fmt.Sprintf("sample %d, of class %s", i, name))
		} else if trained[z]--; trained[z] == 0 {
			c.report("all held out", "class "+name, "at least one sample to train on", fmt.Sprintf("all %d held out (test_seen)", c.SamplesPerClass()[z]))
		}
	}
}

func (c *checker) probabilities() {
	for z, name := range c.Classes {
		for m, p := range c.Descriptions.Row(z) {
			if !math.IsNaN(p) && !(p >= 0 && p <= 1) {
				c.report("probability", fmt.Sprintf("description of class %s, attribute %s", invalid.Quote(name), invalid.Quote(c.Attributes[m].Name)),
					"a probability from 0 to 1, or NaN if it is not described", p)
			}
		}
	}
}
