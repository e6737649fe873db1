package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

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

// scales reports features from which methods learn little as they are: of very different scales, with
// one column that outweighs all others, or far from zero. With random scales and offsets of docs/example,
// standardised features were recognised better from about these figures on, and worse below them. A common
// mean was added to features of cub127: they were recognised better standardised from about 2.5 on.
func (c *checker) scales() {
	const leastColumns, mostRatio, mostShare, mostOffset, mostCommon = 10, 300, 0.9, 5, 2.5
	mean, variance := moments(c.Features, c.Features.AllRows())
	var sd, offset []float64 // of the columns that vary
	weight, sum, heaviest, varied := make([]float64, len(mean)), 0., 0, 0.
	for j, v := range variance {
		varied += v
		weight[j] = mean[j]*mean[j] + v
		if sum += weight[j]; weight[j] > weight[heaviest] {
			heaviest = j
		}
		if v > 1e-12*weight[j] { // above rounding
			sd, offset = append(sd, math.Sqrt(v)), append(offset, math.Abs(mean[j])/math.Sqrt(v))
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

// moments returns the mean and the variance of each column over some rows.
func moments(x dataset.Matrix[float32], rows []int) (mean, variance []float64) {
	mean, variance = make([]float64, x.Cols), make([]float64, x.Cols)
	for _, i := range rows {
		for j, v := range x.Row(i) {
			mean[j] += float64(v) / float64(len(rows))
		}
	}
	for _, i := range rows {
		for j, v := range x.Row(i) {
			d := float64(v) - mean[j]
			variance[j] += d * d / float64(len(rows))
		}
	}
	return mean, variance
}

// order reports features that do not tell the training classes apart, as in another order than the labels: if
// the class with the nearest mean of half of its samples is right for the others no more often than by
// chance.
func (c *checker) order() {
	const mostClasses, mostOfClass, leastClasses, leastEvaluated = 50, 10, 3, 40
	samplesOf := map[int][]int{}
	for i, z := range c.Labels {
		samplesOf[z] = append(samplesOf[z], i)
	}
	classes := slices.Clone(c.Split.Train)
	classes = slices.DeleteFunc(classes, func(z int) bool { return len(samplesOf[z]) < 2 })
	classes = spread(classes, mostClasses)
	var rows []int
	for _, z := range classes {
		rows = append(rows, spread(samplesOf[z], 2*mostOfClass)...)
	}
	known, evaluated := c.Divide(rows, func(_, n int) bool { return n%2 == 1 })
	if len(classes) < leastClasses || len(evaluated) < leastEvaluated {
		return
	}
	right := c.nearestMean(classes, known, evaluated)
	n, chance := float64(len(evaluated)), 1/float64(len(classes))
	if float64(right) > n*chance+2*math.Sqrt(n*chance*(1-chance)) {
		return
	}
	c.report("order", "features", "values that tell training classes apart",
		fmt.Sprintf("%s of %s right by the nearest class mean of %d classes (chance: %s; half of the "+
			"samples of each class give its mean)", format.Percent(float64(right)/n),
			format.Count(len(evaluated), "sample"), len(classes), format.Percent(chance)),
		"Are the lines of labels.csv in the order of the features?")
}

// spread returns at most n of a list, evenly.
func spread(list []int, n int) []int {
	if len(list) <= n {
		return list
	}
	some := make([]int, n)
	for k := range some {
		some[k] = list[k*len(list)/n]
	}
	return some
}

// nearestMean returns the number of evaluated samples whose class has the nearest mean over the known
// samples, in standard deviations of the features.
func (c *checker) nearestMean(classes, known, evaluated []int) (right int) {
	means, count := map[int][]float64{}, map[int]float64{}
	for _, z := range classes {
		means[z] = make([]float64, c.Features.Cols)
	}
	for _, i := range known {
		z := c.Labels[i]
		count[z]++
		mean, n := means[z], count[z]
		for j, v := range c.Features.Row(i) {
			mean[j] += (float64(v) - mean[j]) / n
		}
	}
	_, variance := moments(c.Features, known)
	for _, i := range evaluated {
		nearest, least := 0, math.Inf(1)
		for _, z := range classes {
			mean, distance := means[z], 0.0
			for j, v := range c.Features.Row(i) {
				if d := float64(v) - mean[j]; variance[j] > 0 {
					distance += d * d / variance[j]
				}
			}
			if distance < least {
				nearest, least = z, distance
			}
		}
		if nearest == c.Labels[i] {
			right++
		}
	}
	return right
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
		if isZero(c.Features.Row(set[0])) {
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
	pairs := func(list [][2]int, want, another, hint string) {
		if len(list) > 0 {
			c.report(another, "features", want, fmt.Sprintf("%s with the features of %s, the first %s, as %s",
				format.Count(len(list), "sample"), another, class(list[0][1]), class(list[0][0])), hint)
		}
	}
	pairs(others, "each sample in one class", "one of another class",
		"Is a photograph in the folders of two classes?")
	pairs(repeats, "different samples", "another one of the class", "Is a photograph twice in the folder?")
}
