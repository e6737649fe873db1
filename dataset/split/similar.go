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
// Albatross" and "n02123045 tabby".
var number = regexp.MustCompile(`^(n?\d+)[.\s_-]+`)

// fold removes what spellings of one name differ in. Names of one letter and of signs
// alone are kept as they are, because they may be the names of characters.
func fold(name string) string {
	folded := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, number.ReplaceAllString(name, ""))
	if utf8.RuneCountInString(folded) < 2 {
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
