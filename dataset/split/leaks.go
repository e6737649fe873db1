package split

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lago-train/lago-train/dataset"
)

// heldOut is the kind of leaks between samples of seen classes.
const heldOut = "test_seen"

// Leak is a pair of classes or samples of different subsets, one of which gives the other
// away. Its JSON keys are stable.
type Leak struct {
	Kind   string `json:"kind"` // "name", "description", "sample" or "test_seen"
	First  string `json:"first"`
	Second string `json:"second"`
	Reason string `json:"reason"`
}

func (l Leak) String() string { return fmt.Sprintf("%s and %s: %s", l.First, l.Second, l.Reason) }

// Leaks returns what leaks between the subsets of a split of d, and between the held-out
// samples of seen classes (d.TestSeen) and those trained on. Of similar classes or samples
// it reports one pair for each two subsets. tolerance is the largest difference between
// descriptions that count as the same; a negative one compares none. The sizes of d must
// agree and its values be finite.
func Leaks(d *dataset.Dataset, s dataset.Split, tolerance float64) []Leak {
	subsetOf := subsets(d, s)
	named := func(z int) string { return fmt.Sprintf("class %q (%s)", d.Classes[z], subsetOf[z]) }
	var leaks []Leak
	place := make(map[[2]int]int) // of the leak by sample between two classes
	more := make(map[int]int)     // further pairs of samples of a leak
	for _, set := range similarities(d, tolerance) {
		for _, pair := range differing(set.classes, subsetOf) {
			a, b := set.classes[pair[0]], set.classes[pair[1]]
			reason := set.reason
			if set.kind == bySample {
				key := [2]int{min(a, b), max(a, b)}
				if at, known := place[key]; known {
					more[at]++
					continue
				}
				place[key] = len(leaks)
				reason = fmt.Sprintf("samples %d and %d have the same features", set.samples[pair[0]], set.samples[pair[1]])
			}
			leaks = append(leaks, Leak{set.kind, named(a), named(b), reason})
		}
	}
	for at, n := range more {
		leaks[at].Reason += fmt.Sprintf(" (one of %d such pairs)", n+1)
	}
	return append(leaks, heldOutLeaks(d, subsetOf)...)
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

// differing returns one pair of places in classes for each two subsets that have some of
// them.
func differing(classes []int, subsetOf []string) [][2]int {
	var first []int // place of the first class of each subset
	for i, z := range classes {
		known := subsetOf[z] == ""
		for _, j := range first {
			known = known || subsetOf[classes[j]] == subsetOf[z]
		}
		if !known {
			first = append(first, i)
		}
	}
	var pairs [][2]int
	for j := range first {
		for i := range j {
			pairs = append(pairs, [2]int{first[i], first[j]})
		}
	}
	return pairs
}

// heldOutLeaks returns the held-out samples of seen classes that are trained on as another
// sample.
func heldOutLeaks(d *dataset.Dataset, subsetOf []string) []Leak {
	held := make([]bool, len(d.Labels))
	for _, i := range d.TestSeen {
		held[i] = true
	}
	var leaks []Leak
	for _, samples := range sameSamples(d.Features) {
		out, trained := -1, -1
		for _, i := range samples {
			subset := subsetOf[d.Labels[i]]
			switch {
			case subset != "train" && subset != "val":
			case held[i] && out < 0:
				out = i
			case !held[i] && trained < 0:
				trained = i
			}
		}
		if out >= 0 && trained >= 0 {
			leaks = append(leaks, Leak{
				heldOut, fmt.Sprintf("sample %d of %q (held out)", out, d.Classes[d.Labels[out]]),
				fmt.Sprintf("sample %d of %q (trained on)", trained, d.Classes[d.Labels[trained]]), "they have the same features",
			})
		}
	}
	return leaks
}

// Tolerance is the default largest difference, over the attributes that two classes
// both describe, up to which their descriptions count as the same. The two most similar
// classes of CUB, AWA2 and SUN differ by 0.16, 0.36 and 0.1 in some attribute.
const Tolerance = 0.05

// The kinds of similarity.
const (
	byName        = "name"
	byDescription = "description"
	bySample      = "sample"
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
func similarities(d *dataset.Dataset, tolerance float64) []similar {
	found := append(sameNames(d), sameDescriptions(d, tolerance)...)
	for _, samples := range sameSamples(d.Features) {
		var classes []int
		for _, i := range samples {
			classes = append(classes, d.Labels[i])
		}
		found = append(found, similar{kind: bySample, classes: classes, samples: samples})
	}
	return found
}

func sameNames(d *dataset.Dataset) []similar {
	names := make([]string, len(d.Classes))
	for z, name := range d.Classes {
		names[z] = fold(name)
	}
	var found []similar
	for _, classes := range equal(names) {
		found = append(found, similar{kind: byName, classes: classes, reason: "their names differ only in case, punctuation or a leading number"})
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

// sameDescriptions compares pairs, because being similar is not transitive.
func sameDescriptions(d *dataset.Dataset, tolerance float64) []similar {
	var found []similar
	for b := range d.Classes {
		for a := range b {
			difference, ok := compare(d.Descriptions.Row(a), d.Descriptions.Row(b))
			if !ok || difference > tolerance {
				continue
			}
			reason := "they have the same description"
			if difference > 0 {
				reason = fmt.Sprintf("their descriptions differ by at most %.2g", difference)
			}
			found = append(found, similar{kind: byDescription, classes: []int{a, b}, reason: reason})
		}
	}
	return found
}

// compare returns the largest difference of two descriptions over the attributes that
// both have. It is not ok if these are less than half of those that either has.
func compare(u, v []float64) (difference float64, ok bool) {
	both, either := 0, 0
	for m, p := range u {
		q := v[m]
		if !math.IsNaN(p) || !math.IsNaN(q) {
			either++
		}
		if math.IsNaN(p) || math.IsNaN(q) {
			continue
		}
		both++
		difference = max(difference, math.Abs(p-q))
	}
	return difference, both > 0 && 2*both >= either
}

// sameSamples returns the sets of samples that have the same features.
func sameSamples(x dataset.Matrix[float32]) [][]int {
	sums := make([][sha256.Size]byte, x.Rows)
	row := make([]byte, 0, 4*x.Cols)
	for i := range sums {
		row = row[:0]
		for _, v := range x.Row(i) {
			row = binary.LittleEndian.AppendUint32(row, math.Float32bits(v+0)) // -0 becomes 0
		}
		sums[i] = sha256.Sum256(row)
	}
	return equal(sums)
}
