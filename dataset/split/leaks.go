package split

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/table"
)

// Leak is a pair of classes or samples of different subsets, one of which gives the other
// away. Its JSON keys are stable.
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
// tolerance is the largest difference between descriptions that count as the same; a negative
// one compares none. The sizes of d must agree and its values be finite.
func Leaks(d *dataset.Dataset, s dataset.Split, tolerance float64) []Leak {
	subsetOf := subsets(d, s)
	class := func(z int) string { return fmt.Sprintf("class %q (%s)", d.Classes[z], subsetOf[z]) }
	sample := func(i int, use string) string {
		return fmt.Sprintf("sample %d of %q (%s)", i, d.Classes[d.Labels[i]], use)
	}
	var leaks, ofSeen []Leak
	known := make(map[[2]int]bool) // pairs of classes that share a sample
	for _, set := range similarities(d, tolerance) {
		first := firsts(set.classes, subsetOf)
		for j := range first {
			for i := range j {
				a, b := set.classes[first[i]], set.classes[first[j]]
				reason := set.reason
				if set.kind == bySample {
					key := [2]int{min(a, b), max(a, b)}
					if known[key] {
						continue
					}
					known[key] = true
					reason = fmt.Sprintf("samples %d and %d have the same features", set.samples[first[i]], set.samples[first[j]])
				}
				leaks = append(leaks, Leak{set.kind, class(a), class(b), reason})
			}
		}
		held, trained := -1, -1 // the first of the seen classes
		for _, i := range slices.Backward(set.samples) {
			if subset := subsetOf[d.Labels[i]]; subset != "train" && subset != "val" {
				continue
			}
			if _, found := slices.BinarySearch(d.TestSeen, i); found {
				held = i
			} else {
				trained = i
			}
		}
		if held >= 0 && trained >= 0 {
			ofSeen = append(ofSeen, Leak{heldOut, sample(held, "held out"), sample(trained, "trained on"), "they have the same features"})
		}
	}
	return append(leaks, ofSeen...)
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

// firsts returns the place of the first class of each subset.
func firsts(classes []int, subsetOf []string) (first []int) {
	known := map[string]bool{"": true}
	for i, z := range classes {
		if !known[subsetOf[z]] {
			known[subsetOf[z]] = true
			first = append(first, i)
		}
	}
	return first
}

// Tolerance is the default largest difference, over the attributes that two classes
// both describe, up to which their descriptions count as the same. The two most similar
// classes of CUB, AWA2 and SUN differ by 0.16, 0.36 and 0.1 in some attribute.
const Tolerance = 0.05

// The kinds of leaks.
const (
	byName        = "name"
	byDescription = "description"
	bySample      = "sample"
	heldOut       = "test_seen" // between samples of seen classes
)

// similar is a set of classes that should not be in different subsets.
type similar struct {
	kind    string
	classes []int // at least two
	reason  string
	samples []int // for bySample: samples with the same features
}

// similarities returns all sets of similar classes: by name, then by description, then by
// sample. A negative tolerance compares no descriptions.
func similarities(d *dataset.Dataset, tolerance float64) (found []similar) {
	names := make([]string, len(d.Classes))
	for z, name := range d.Classes {
		names[z] = fold(name)
	}
	for _, classes := range equal(names) {
		found = append(found, similar{kind: byName, classes: classes, reason: "their names differ only in case, punctuation or a leading number"})
	}
	// Pairs, because being similar is not transitive.
	pairs := make([][]similar, len(d.Classes))
	parallel.For(len(pairs), 1, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			for a := range b {
				difference, ok := compare(d.Descriptions.Row(a), d.Descriptions.Row(b), tolerance)
				if !ok {
					continue
				}
				reason := "they have the same description"
				if difference > 0 {
					reason = fmt.Sprintf("their descriptions differ by at most %.2g", difference)
				}
				pairs[b] = append(pairs[b], similar{kind: byDescription, classes: []int{a, b}, reason: reason})
			}
		}
	})
	found = slices.Concat(append([][]similar{found}, pairs...)...)
	sums := make([][sha256.Size]byte, d.Features.Rows)
	row := make([]byte, 0, 4*d.Features.Cols)
	for i := range sums {
		row = row[:0]
		for _, v := range d.Features.Row(i) {
			row = binary.LittleEndian.AppendUint32(row, math.Float32bits(v+0)) // -0 becomes 0
		}
		sums[i] = sha256.Sum256(row)
	}
	for _, samples := range equal(sums) {
		s := similar{kind: bySample, samples: samples}
		for _, i := range samples {
			s.classes = append(s.classes, d.Labels[i])
		}
		found = append(found, s)
	}
	return found
}

// equal returns the sets of indices of two or more equal keys, in the order of the first
// index of each.
func equal[K comparable](keys []K) [][]int {
	indices := make(map[K][]int, len(keys))
	for i, key := range keys {
		indices[key] = append(indices[key], i)
	}
	var sets [][]int
	for i, key := range keys {
		if set := indices[key]; len(set) > 1 && set[0] == i {
			sets = append(sets, set)
		}
	}
	return sets
}

// number is a number or a WordNet ID before the name of a class, as in "001.Black_footed
// Albatross" and "n02123045 tabby". The numbers of "20_speed_limit" and "1.5 litres" belong
// to the name.
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

// compare returns the largest difference of two descriptions over the attributes that
// both have. It is not ok if it exceeds the tolerance, or if these attributes are less than half
// of those that either has.
func compare(u, v []float64, tolerance float64) (difference float64, ok bool) {
	both := 0
	for m := range u {
		d := math.Abs(u[m] - v[m])
		if d > tolerance {
			return d, false
		}
		if d == d { // both have it
			both++
			difference = max(difference, d)
		}
	}
	either := dataset.Described(u) + dataset.Described(v) - both
	return difference, both > 0 && 2*both >= either
}

// Report describes a split. Its JSON keys are stable.
type Report struct {
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

// Describe returns the report of a split of d. tolerance is that of Leaks.
func Describe(d *dataset.Dataset, s dataset.Split, tolerance float64) Report {
	r := Report{Name: d.Name, LeftOut: []string{}, Leaks: append([]Leak{}, Leaks(d, s, tolerance)...), Uncovered: []string{}}
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

// Tables has the subsets, and the leaks as notes.
func (r Report) Tables() []*table.Table {
	const mostLeaks = 10 // of one kind that are printed
	t := table.New("", "subset", "classes", "samples", "share of classes", "share of samples").Right(4, 5)
	classes := 0
	for _, p := range r.Subsets {
		classes += len(p.Classes)
	}
	share := func(n, of int) string { return format.Percent(float64(n) / float64(max(of, 1))) }
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
	count := make(map[string]int)
	for _, l := range r.Leaks {
		if count[l.Kind]++; count[l.Kind] <= mostLeaks {
			t.Note("  %s: %s", l.Kind, l)
		}
	}
	for _, kind := range []string{byName, byDescription, bySample, heldOut} {
		if more := count[kind] - mostLeaks; more > 0 {
			t.Note("  %s: %d more", kind, more)
		}
	}
	if len(r.Uncovered) > 0 {
		t.Note("attributes of val or test classes that no train class has: %s", strings.Join(r.Uncovered, ", "))
	}
	if r.HeldOutUnseen > 0 {
		t.Note("%s of test classes held out as samples of seen classes: change test_seen in labels.csv, or leave these classes seen", format.Count(r.HeldOutUnseen, "sample"))
	}
	return []*table.Table{t.Note("not checked: whether the network that computed the features was trained on test classes (most networks know those of ImageNet)")}
}
