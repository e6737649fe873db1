package check

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Contradictions are labels of samples whose names, such as the paths of their photographs, name another
// class.
type Contradictions struct {
	Samples []int // ascending
	Named   int   // samples whose names name a class
	Class   int   // that the name of the first one names
}

// Contradict compares labels, indices of classes, with the names of the samples. Few names of classes are
// taken for a coincidence: there are no contradictions then.
func Contradict(ids []string, labels []int, classes []string) (c Contradictions) {
	index := make(map[string]int, len(classes))
	for z, name := range classes {
		if f := fold(name); strings.ContainsFunc(f, unicode.IsLetter) {
			index[f] = z
		}
	}
	named, labelled := map[int]bool{}, map[int]bool{}
	for i, id := range ids {
		found := namedBy(id, index)
		z := labels[i]
		labelled[z] = true
		if len(found) == 0 {
			continue
		}
		c.Named++
		named[found[0]] = true
		if z >= 0 &&
			!slices.ContainsFunc(found, func(y int) bool { return fold(classes[y]) == fold(classes[z]) }) {
			if c.Samples == nil {
				c.Class = found[0]
			}
			c.Samples = append(c.Samples, i)
		}
	}
	if len(named) < 2 || 2*len(named) < len(labelled) || 2*c.Named < len(ids) {
		return Contradictions{}
	}
	return c
}

// SortedHint says what to do about labels most of which contradict the names of their samples.
const SortedHint = "Were the lines of labels.csv sorted? Bring them back into the order of the features, " +
	"which is that of images.csv if dataset extract wrote it, or extract the features again as a new data " +
	"set. If labels.csv is right, the names of the samples (its column id, or images.csv) must not name " +
	"classes."

// Most reports whether most of the labels contradict the names.
func (c Contradictions) Most() bool { return 2*len(c.Samples) > c.Named }

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
	found := Contradict(c.IDs, c.Labels, c.Classes)
	if len(found.Samples) == 0 || found.Most() != most {
		return
	}
	i := found.Samples[0]
	hint := "Are they right?"
	if most {
		hint = SortedHint
	}
	c.report("labels", "labels", "the classes that the names of the samples say",
		fmt.Sprintf("another class for %d of %d, the first sample %d, %s, of class %s", len(found.Samples),
			found.Named, i, format.Printable(c.IDs[i]), invalid.Quote(c.Classes[c.Labels[i]])), hint)
}

// order reports features that do not tell the training classes apart, as in another order than the labels: if
// the class with the nearest mean of half of its samples is right for the others no more often than by
// chance.
func (c *checker) order() {
	const mostClasses, mostOfClass, leastClasses, leastEvaluated = 50, 10, 3, 40
	of := map[int][]int{}
	for i, z := range c.Labels {
		of[z] = append(of[z], i)
	}
	classes := slices.DeleteFunc(slices.Clone(c.Split.Train), func(z int) bool { return len(of[z]) < 2 })
	classes = spread(classes, mostClasses)
	var rows []int
	for _, z := range classes {
		rows = append(rows, spread(of[z], 2*mostOfClass)...)
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
		fmt.Sprintf("%s of %s right by the "+
			"nearest class mean of %d classes (chance: %s; half of the samples of each class give its mean)",
			format.Percent(float64(right)/n), format.Count(len(evaluated), "sample"), len(classes),
			format.Percent(chance)),
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
	place := make(map[int]int, len(classes))
	for k, z := range classes {
		place[z] = k
	}
	means, count := dataset.NewMatrix[float64](len(classes), c.Features.Cols), make([]float64, len(classes))
	mean, weight := make([]float64, c.Features.Cols), make([]float64, c.Features.Cols)
	for _, i := range known {
		k := place[c.Labels[i]]
		count[k]++
		for j, v := range c.Features.Row(i) {
			means.Row(k)[j] += (float64(v) - means.Row(k)[j]) / count[k]
			mean[j] += float64(v) / float64(len(known))
		}
	}
	for _, i := range known {
		for j, v := range c.Features.Row(i) {
			weight[j] += (float64(v) - mean[j]) * (float64(v) - mean[j])
		}
	}
	for _, i := range evaluated {
		nearest, least := 0, math.Inf(1)
		for k, z := range classes {
			var distance float64
			for j, v := range c.Features.Row(i) {
				if d := float64(v) - means.Row(k)[j]; weight[j] > 0 {
					distance += d * d / weight[j]
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
