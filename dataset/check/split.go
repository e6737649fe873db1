package check

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/table"
)

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

// subsets returns the subset of each class, "" for none.
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

// LeakKinds are the kinds of leaks.
var LeakKinds = []string{byName, byDescription, bySample, heldOut}

// similar is a set of classes that should not be in different subsets.
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

// repeated returns the sets of two or more.
func repeated[K comparable](keys []K) [][]int {
	return slices.DeleteFunc(groups(keys), func(set []int) bool { return len(set) < 2 })
}

// number is a number or a WordNet ID before the name of a class, as in "001.Black_footed Albatross" and
// "n02123045 tabby". The numbers of "20_speed_limit" and "1.5 litres" belong to the name.
var number = regexp.MustCompile(`^(?:n\d{8}[.\s_-]+|\d+\.\s*)(\pL)`)

// fold removes what spellings of one name differ in. Names of one letter, and of digits and
// signs alone, are kept as they are: they may be the names of characters or versions.
func fold(name string) string {
	folded := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, number.ReplaceAllString(name, "$1"))
	if utf8.RuneCountInString(folded) < 2 || !strings.ContainsFunc(folded, unicode.IsLetter) {
		return name
	}
	return folded
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

// Table has the subsets, and the leaks as notes.
func (r SplitReport) Table() *table.Table {
	const mostLeaks = 10 // of one kind that are printed
	t := table.New("", "subset", "classes", "samples", "share of classes", "share of samples").Right(4, 5)
	classes := 0
	for _, p := range r.Subsets {
		classes += len(p.Classes)
	}
	share := func(n, total int) string { return format.Percent(float64(n) / float64(max(total, 1))) }
	for _, p := range r.Subsets {
		t.Row(p.Name, len(p.Classes), p.Samples, share(len(p.Classes), classes), share(p.Samples, r.Samples))
	}
	val, test := len(r.Subsets[1].Classes), len(r.Subsets[2].Classes)
	if seen := classes - test; val < FewVal && seen < FewSeen {
		t.Note("val: %s, of %d seen: too few to choose a number of epochs, so that run fixes it",
			format.Count(val, "class"), seen)
	} else if val < FewVal {
		t.Note("val: %s: run chooses the number of epochs by parts of the %d seen classes",
			format.Count(val, "class"), seen)
	}
	if test == 1 {
		t.Note("test: 1 class, on which no accuracy can be measured")
	} else if test < FewTest && classes >= 2*FewTest {
		t.Note("test: %s, since similar classes, and those with photographs in common, stay together",
			format.Count(test, "class"))
	}
	if len(r.LeftOut) > 0 {
		t.Note("in no subset: %s", strings.Join(r.LeftOut, ", "))
	}
	if len(r.Leaks) == 0 {
		t.Note("leaks: none found")
	} else {
		t.Note("leaks: %d", len(r.Leaks))
	}
	byKind := make(map[string]int)
	for _, l := range r.Leaks {
		if byKind[l.Kind]++; byKind[l.Kind] <= mostLeaks {
			t.Note("  %s: %s", l.Kind, l)
		}
	}
	for _, kind := range LeakKinds {
		if more := byKind[kind] - mostLeaks; more > 0 {
			t.Note("  %s: %d more", kind, more)
		}
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
