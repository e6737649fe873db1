package split

import (
	"fmt"

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
