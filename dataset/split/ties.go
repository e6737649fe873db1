package split

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lago-train/lago-train/dataset"
)

// Tolerance is how far apart the values of two descriptions may be, in every attribute
// that both give one for, and still describe alike, where there is no reason for
// another one. The two classes of CUB, AWA2 and SUN that are most alike differ by
// 0.16, 0.36 and 0.1 in some attribute.
const Tolerance = 0.05

// The ways in which two classes are tied.
const (
	byName        = "name"
	byDescription = "description"
	bySample      = "sample"
)

// tie says that two classes must not be in different parts.
type tie struct {
	kind   string
	a, b   int // classes
	reason string
}

// ties returns what ties classes of d, names first, then descriptions and samples.
func ties(d *dataset.Dataset, tolerance float64) []tie {
	found := append(nameTies(d), descriptionTies(d, tolerance)...)
	return append(found, sampleTies(d)...)
}

func nameTies(d *dataset.Dataset) []tie {
	var found []tie
	first := make(map[string]int)
	for z, name := range d.Classes {
		key := fold(name)
		if other, taken := first[key]; taken {
			found = append(found, tie{byName, other, z, "names that differ in case, signs or a number before them alone"})
			continue
		}
		first[key] = z
	}
	return found
}

// number is what may stand before the name of a class: as in "001.Black_footed
// Albatross", or a WordNet ID as ImageNet has it, "n02123045 tabby".
var number = regexp.MustCompile(`^(n?\d+)[.\s_-]+`)

// fold forgets what two spellings of one name differ in. A name of one letter is left
// as it is, since it may be that of the letter, and so is one of signs.
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

func descriptionTies(d *dataset.Dataset, tolerance float64) []tie {
	var found []tie
	for b := range d.Classes {
		for a := range b {
			apart, ok := distance(d.Descriptions.Row(a), d.Descriptions.Row(b))
			switch {
			case !ok || apart > tolerance:
			case apart == 0:
				found = append(found, tie{byDescription, a, b, "the same description"})
			default:
				found = append(found, tie{byDescription, a, b, fmt.Sprintf("descriptions that differ by %.2g at most", apart)})
			}
		}
	}
	return found
}

// distance returns the largest difference of two descriptions in an attribute that
// both describe. It is not ok where these are less than half of what either does: then
// they have too little in common to be compared.
func distance(u, v []float64) (apart float64, ok bool) {
	common, either := 0, 0
	for m, p := range u {
		q := v[m]
		if !math.IsNaN(p) || !math.IsNaN(q) {
			either++
		}
		if math.IsNaN(p) || math.IsNaN(q) {
			continue
		}
		common++
		apart = max(apart, math.Abs(p-q))
	}
	return apart, common > 0 && 2*common >= either
}

// sampleTies ties classes by their first pair of samples that have the same features.
func sampleTies(d *dataset.Dataset) []tie {
	var found []tie
	tied := make(map[[2]int]int) // place in found, by classes
	count := make(map[int]int)
	for _, pair := range duplicates(d.Features) {
		a, b := d.Labels[pair.first], d.Labels[pair.again]
		if a == b {
			continue
		}
		key := [2]int{min(a, b), max(a, b)}
		at, known := tied[key]
		if !known {
			at = len(found)
			tied[key] = at
			found = append(found, tie{bySample, a, b, fmt.Sprintf("samples %d and %d have the same features", pair.first, pair.again)})
		}
		count[at]++
	}
	for at, n := range count {
		if n > 1 {
			found[at].reason += fmt.Sprintf(", and so have %d more pairs", n-1)
		}
	}
	return found
}
