// Package check finds what is wrong with a data set: what would make training fail or mislead, and what makes
// its results worth less, such as classes that their descriptions do not distinguish and samples that are in
// two subsets. Each check is one function, and an entry in one of the lists below; what it finds is an
// *invalid.Error, which says where, what is wrong and what to do.
//
// It does not know which classes the network that computed the features was trained on.
package check

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

// The checks in order. Those of warnings take a data set without errors.
var (
	errorChecks = []func(*checker){
		(*checker).names, (*checker).split, (*checker).testSeen, (*checker).probabilities,
		(*checker).features, (*checker).mostLabels,
	}
	descriptionChecks = []func(*checker){(*checker).sameDescriptions, (*checker).confusable}
	useChecks         = []func(*checker){
		(*checker).drafts, (*checker).undescribed, (*checker).attributes, (*checker).someLabels,
		(*checker).order, (*checker).samples, (*checker).leaks,
	}
)

// Errors reports everything that would make training on d fail or mislead, as far as the readers of data sets
// leave it possible: they see to sizes, labels, groups and the places of classes. The error joins the
// problems, each an *invalid.Error; of one kind it has the first few and the number of the others.
func Errors(d *dataset.Dataset) error { return run(d, errorChecks) }

// Warnings reports what makes results on d worth less, in the form of Errors, which must have found none.
func Warnings(d *dataset.Dataset) error {
	return run(d, slices.Concat(descriptionChecks, []func(*checker){
		(*checker).unused, (*checker).scales, (*checker).few,
	}, useChecks))
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
	if f.Expected == "" {
		return (&invalid.Error{Where: f.File, Field: f.Field, Err: errors.New(f.Found), Hint: f.Hint}).Error()
	}
	return (&invalid.Error{Where: f.File, Field: f.Field, Want: f.Expected, Got: f.Found, Hint: f.Hint}).
		Error()
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
	c := &checker{
		Dataset: d, subsetOf: subsets(d, d.Split),
		byFeatures: sync.OnceValue(func() [][]int { return samplesByFeatures(d) }),
	}
	for _, check := range checks {
		check(c)
	}
	return c.problems.Err()
}

// report adds a problem of a kind, as invalid.List.Add does.
func (c *checker) report(kind, field, want string, got any, hint ...string) {
	c.problems.Add(kind, &invalid.Error{
		Where: c.Name, Field: field, Want: want, Got: fmt.Sprint(got), Hint: strings.Join(hint, " "),
	})
}

// split checks the classes of the split, which must have samples and a description.
func (c *checker) split() {
	samples := c.SamplesPerClass()
	for _, subset := range c.Split.Subsets() {
		if len(subset.Classes) == 0 && subset.Name != "val" {
			c.report("empty", subset.Name+" classes", "at least one", "none")
		}
		for _, z := range subset.Classes {
			name := invalid.Quote(c.Classes[z])
			if other := c.subsetOf[z]; other != subset.Name {
				c.report("overlap", "class "+name, "one place in train, val or test",
					fmt.Sprintf("it in %s and in %s", subset.Name, other))
			}
			if samples[z] == 0 {
				c.report("samples", subset.Name+" class "+name, "at least one sample", "none")
			}
			if dataset.Described(c.Descriptions.Row(z)) == 0 {
				c.report("described", fmt.Sprintf("description of %s class %s", subset.Name, name),
					"at least one described attribute", "none")
			}
		}
	}
}

// unused names classes with samples and without a part.
func (c *checker) unused() {
	for z, n := range c.SamplesPerClass() {
		if n > 0 && c.subsetOf[z] == "" {
			c.report("unused", "class "+invalid.Quote(c.Classes[z]), "a part, train, val or test",
				"none: its "+format.Count(n, "sample")+" will not be used")
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

func (c *checker) probabilities() {
	for z, name := range c.Classes {
		for m, p := range c.Descriptions.Row(z) {
			if !math.IsNaN(p) && !(p >= 0 && p <= 1) {
				c.report("probability", fmt.Sprintf("description of class %s, attribute %s",
					invalid.Quote(name), invalid.Quote(c.Attributes[m].Name)),
					"a probability from 0 to 1, or NaN if it is not described", p)
			}
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
				c.Features.Row(i)[j])
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
	fraction := make([]bool, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			fraction[j] = fraction[j] || v != float32(math.Trunc(float64(v)))
		}
		if !slices.Contains(fraction, false) {
			return
		}
	}
	for j := range x.Cols {
		if fraction[j] {
			continue
		}
		column := make([]float32, x.Rows)
		for i := range column {
			column[i] = x.Row(i)[j]
		}
		got := ""
		switch {
		case matrix.CountUp(column):
			got = fmt.Sprintf("whole numbers that count up, from %v to %v", column[0], column[x.Rows-1])
		case c.numberClasses(column):
			got = "one whole number for each class"
		default:
			continue
		}
		c.report("column", fmt.Sprintf("features, column %d", j+1), "a feature", got,
			"Ids or labels of the samples? Take the column out of the features: "+
				"labels.csv has classes and ids.")
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

// scales reports features from which methods learn little as they are: of very different scales, with
// one column that outweighs all others, or far from zero. With random scales and offsets of docs/example,
// standardised features were recognised better from about these figures on, and worse below them. A common
// mean was added to features of cub127: they were recognised better standardised from about 2.5 on.
func (c *checker) scales() {
	const leastColumns, mostRatio, mostShare, mostOffset, mostCommon = 10, 300, 0.9, 5, 2.5
	x := c.Features
	mean, square := make([]float64, x.Cols), make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			mean[j] += float64(v) / float64(x.Rows)
		}
	}
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			d := float64(v) - mean[j]
			square[j] += d * d / float64(x.Rows)
		}
	}
	var sd, offset []float64 // of the columns that vary
	weight, sum, heaviest, varied := make([]float64, x.Cols), 0., 0, 0.
	for j, s := range square {
		varied += s
		weight[j] = mean[j]*mean[j] + s
		if sum += weight[j]; weight[j] > weight[heaviest] {
			heaviest = j
		}
		if s > 1e-12*weight[j] { // above rounding
			sd, offset = append(sd, math.Sqrt(s)), append(offset, math.Abs(mean[j])/math.Sqrt(s))
		}
	}
	if len(sd) < 2 {
		return
	}
	slices.Sort(sd)
	slices.Sort(offset)
	const hint = "To bring them to mean 0 and standard deviation 1: --preprocess standardize,l2,whiten"
	share := weight[heaviest] / sum
	if small, large := sd[len(sd)/10], sd[len(sd)-1]; large > mostRatio*small {
		c.report("scale", "features", "similar scales",
			fmt.Sprintf("standard deviations from %.3g (the lowest tenth) to %.3g", small, large), hint)
	} else if share > mostShare && len(sd) >= leastColumns {
		got := fmt.Sprintf("%s of the squares of all in this one, with a mean of %.3g", format.Percent(share),
			mean[heaviest])
		c.report("share", fmt.Sprintf("features, column %d", heaviest+1), "columns of similar size", got,
			hint)
	}
	// root mean square over the columns, by their variance: 2.5 is a cosine of 0.86 between samples
	common := math.Sqrt((sum - varied) / varied)
	if median := offset[len(offset)/2]; median > mostOffset || common > mostCommon && share <= mostShare {
		c.report("offset", "features", "values around zero", fmt.Sprintf("means that are %.3g standard "+
			"deviations from it (median; %.3g by root mean square)", median, common), hint)
	}
}

// samples reports samples that nothing distinguishes: of zeros alone, or the same as another one, of their
// class or of another class. For those in two subsets see leaks.
func (c *checker) samples() {
	class := func(i int) string {
		name := ""
		if c.IDs != nil {
			name = ", " + format.Printable(c.IDs[i])
		}
		return fmt.Sprintf("sample %d%s, of class %s", i, name, invalid.Quote(c.Classes[c.Labels[i]]))
	}
	zeros, repeats, others := []int{}, [][2]int{}, [][2]int{}
	for _, set := range c.byFeatures() {
		if !slices.ContainsFunc(c.Features.Row(set[0]), func(v float32) bool { return v != 0 }) {
			zeros = set
			continue
		}
		first := make(map[int]int) // of each class
		for _, i := range set {
			if other, known := first[c.Labels[i]]; known {
				repeats = append(repeats, [2]int{other, i})
			} else {
				first[c.Labels[i]] = i
			}
			if z, other := c.Labels[i], c.Labels[set[0]]; z != other && c.subsetOf[z] == c.subsetOf[other] {
				others = append(others, [2]int{set[0], i})
			}
		}
	}
	if len(zeros) > 0 {
		c.report("zeros", "features", "values other than 0", fmt.Sprintf("%s of zeros alone, the first %s",
			format.Count(len(zeros), "sample"), class(zeros[0])))
	}
	if len(others) > 0 {
		found := format.Count(len(others), "sample") +
			" with the features of one of another class, the first "
		found += class(others[0][1]) + ", as " + class(others[0][0])
		c.report("two classes", "features", "each sample in one class", found,
			"Is a photograph in the folders of two classes?")
	}
	if len(repeats) > 0 {
		c.report("repeated", "features", "different samples",
			fmt.Sprintf("%s with the features of another one of the class, the first %s, as sample %d",
				format.Count(len(repeats),
					"sample"), class(repeats[0][1]), repeats[0][0]), "Is a photograph twice in the folder?")
	}
}
