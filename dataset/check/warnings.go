package check

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

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

// Leak is a pair of classes or samples of different subsets, one of which gives away what a model must not
// know of the other: classes whose names differ only in case, punctuation or a leading number such as "001.",
// classes with the same description, and samples that are in two subsets. Its JSON keys are stable.
type Leak struct {
	Kind   string `json:"kind"`   // "name", "description", "sample" or "test_seen"
	First  string `json:"first"`  // class and subset
	Second string `json:"second"` // class and subset
	Reason string `json:"reason"` // as a sentence
}

func (l Leak) String() string { return fmt.Sprintf("%s and %s: %s", l.First, l.Second, l.Reason) }

// Leaks returns what leaks between the subsets of a split of d, and between the held-out
// samples of seen classes (d.TestSeen) and those trained on. Of similar classes it reports
// one pair for each two subsets, and of two classes the first samples that are the same.
func Leaks(d *dataset.Dataset, s dataset.Split) []Leak { return leaks(d, s, samplesByFeatures(d)) }

func leaks(d *dataset.Dataset, s dataset.Split, samples [][]int) (found []Leak) {
	subsetOf := subsets(d, s)
	class := func(z int) string { return fmt.Sprintf("class %q (%s)", d.Classes[z], subsetOf[z]) }
	known := make(map[Leak]bool) // without reasons, in the order of the classes
	for _, set := range similarities(d, samples) {
		first := map[string]int{} // places of the first classes of the subsets
		for i, z := range slices.Backward(set.classes) {
			if subsetOf[z] != "" {
				first[subsetOf[z]] = i
			}
		}
		places := slices.Sorted(maps.Values(first))
		for n, j := range places {
			for _, i := range places[:n] {
				a, b := set.classes[i], set.classes[j]
				key := Leak{Kind: set.kind, First: class(min(a, b)), Second: class(max(a, b))}
				if known[key] {
					continue
				}
				known[key] = true
				reason := set.reason
				if set.kind == bySample {
					reason = fmt.Sprintf("samples %d and %d have the same features", set.samples[i],
						set.samples[j])
				}
				found = append(found, Leak{set.kind, class(a), class(b), reason})
			}
		}
	}
	return append(found, heldOutLeaks(d, subsetOf, samples)...)
}

// heldOutLeaks returns the first held-out sample of each set of the same features of which others are
// trained on.
func heldOutLeaks(d *dataset.Dataset, subsetOf []string, samples [][]int) (found []Leak) {
	sample := func(i int, use string) string {
		return fmt.Sprintf("sample %d of %q (%s)", i, d.Classes[d.Labels[i]], use)
	}
	for _, set := range samples {
		held, trained := -1, -1 // the first of the seen classes
		for _, i := range slices.Backward(set) {
			subset := subsetOf[d.Labels[i]]
			switch _, isHeld := slices.BinarySearch(d.TestSeen, i); {
			case isZero(d.Features.Row(i)), subset != "train" && subset != "val":
			case isHeld:
				held = i
			default:
				trained = i
			}
		}
		if held >= 0 && trained >= 0 {
			const reason = "they have the same features"
			found = append(found, Leak{
				heldOut, sample(held, "held out"), sample(trained, "trained on"), reason,
			})
		}
	}
	return found
}

// isZero reports whether the features of a sample are zeros, which say nothing of its class.
func isZero(x []float32) bool { return !slices.ContainsFunc(x, func(v float32) bool { return v != 0 }) }

// leaks reports what leaks between the subsets, but for the same descriptions, which another check
// reports whatever the split.
func (c *checker) leaks() {
	for _, l := range leaks(c.Dataset, c.Split, c.byFeatures()) {
		if l.Kind != byDescription {
			c.report("leak "+l.Kind, l.First+" and "+l.Second, "nothing in common", l.Reason)
		}
	}
}

func subsets(d *dataset.Dataset, s dataset.Split) []string {
	subsetOf := make([]string, len(d.Classes))
	for _, subset := range s.Subsets() {
		for _, z := range subset.Classes {
			subsetOf[z] = subset.Name
		}
	}
	return subsetOf
}

// The kinds of leaks.
const (
	byName        = "name"
	byDescription = "description"
	bySample      = "sample"
	heldOut       = "test_seen" // between samples of seen classes
)

type similar struct {
	kind    string
	classes []int // at least two
	reason  string
	samples []int // for bySample: samples with the same features
}

// Similar returns the sets of classes of d that should not be in different subsets, each of at least
// two classes: those of like names, descriptions or samples.
func Similar(d *dataset.Dataset) (sets [][]int) {
	for _, s := range similarities(d, samplesByFeatures(d)) {
		sets = append(sets, s.classes)
	}
	return sets
}

// similarities returns all sets of similar classes: by name, then by description, then by
// sample, of which samples are the samplesByFeatures.
func similarities(d *dataset.Dataset, samples [][]int) (found []similar) {
	names := make([]string, len(d.Classes))
	for z, name := range d.Classes {
		names[z] = fold(name)
	}
	const reason = "their names differ only in case, punctuation or a leading number"
	for _, classes := range repeated(names) {
		found = append(found, similar{kind: byName, classes: classes, reason: reason})
	}
	for _, classes := range repeated(digests(d.Descriptions)) {
		if dataset.Described(d.Descriptions.Row(classes[0])) > 0 {
			found = append(found, similar{
				kind: byDescription, classes: classes, reason: "they have the same description",
			})
		}
	}
	for _, set := range samples {
		if len(set) < 2 || isZero(d.Features.Row(set[0])) {
			continue
		}
		s := similar{kind: bySample, samples: set}
		for _, i := range set {
			s.classes = append(s.classes, d.Labels[i])
		}
		found = append(found, s)
	}
	return found
}

// samplesByFeatures returns the sets of samples with the same features, most of them of one sample.
func samplesByFeatures(d *dataset.Dataset) [][]int { return groups(digests(d.Features)) }

// rowsAtOnce is the least number of rows that are worth a goroutine.
const rowsAtOnce = 256

func digests[T float32 | float64](x dataset.Matrix[T]) [][sha256.Size]byte {
	sums := make([][sha256.Size]byte, x.Rows)
	parallel.For(x.Rows, rowsAtOnce, func(lo, hi int) {
		row := make([]T, x.Cols)
		for i := lo; i < hi; i++ {
			for j, v := range x.Row(i) {
				row[j] = v + 0 // -0 becomes 0
			}
			sums[i] = sha256.Sum256(matrix.Memory(row))
		}
	})
	return sums
}

// groups returns the sets of indices of equal keys, in the order of the first index of each.
func groups[K comparable](keys []K) (sets [][]int) {
	place := make(map[K]int, len(keys))
	for i, key := range keys {
		k, found := place[key]
		if !found {
			k, sets = len(sets), append(sets, nil)
			place[key] = k
		}
		sets[k] = append(sets[k], i)
	}
	return sets
}

func repeated[K comparable](keys []K) [][]int {
	return slices.DeleteFunc(groups(keys), func(set []int) bool { return len(set) < 2 })
}

// number is a number or a WordNet ID before the name of a class, as in "001.Black_footed Albatross" and
// "n02123045 tabby". The numbers of "20_speed_limit" and "1.5 litres" belong to the name.
var number = regexp.MustCompile(`^(?:n\d{8}[.\s_-]+|\d+\.\s*)(\pL)`)

// fold removes what spellings of one name differ in. Names of one letter, and of digits and
// signs alone, are kept as they are: they may be the names of characters or versions.
func fold(name string) string {
	folded := descriptions.FoldName(number.ReplaceAllString(name, "$1"))
	if utf8.RuneCountInString(folded) < 2 || !strings.ContainsFunc(folded, unicode.IsLetter) {
		return name
	}
	return folded
}
