package split

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
)

// heldOut is the kind of a leak between samples of seen classes, whatever ties these.
const heldOut = "test_seen"

// Leak is something of one part that another part gives away. Its JSON keys are
// stable.
type Leak struct {
	Kind   string `json:"kind"` // "name", "description", "sample" or "test_seen"
	First  string `json:"first"`
	Second string `json:"second"`
	Reason string `json:"reason"`
}

func (l Leak) String() string { return fmt.Sprintf("%s and %s: %s", l.First, l.Second, l.Reason) }

// Leaks returns what leaks between the parts of a split of d, and, where samples of
// seen classes are held out, between these and the ones learned from. tolerance is
// how far apart descriptions may be that are alike, as Tolerance is; a negative one
// compares none. All values of d must be finite, and its sizes in agreement.
func Leaks(d *dataset.Dataset, s dataset.Split, tolerance float64) []Leak {
	partOf := parts(d, s)
	var leaks []Leak
	for _, t := range ties(d, tolerance) {
		if a, b := partOf[t.a], partOf[t.b]; a != b && a != "" && b != "" {
			leaks = append(leaks, Leak{t.kind, named(d, t.a, a), named(d, t.b, b), t.reason})
		}
	}
	return append(leaks, heldOutLeaks(d, partOf)...)
}

// parts returns the part of each class, "" for none.
func parts(d *dataset.Dataset, s dataset.Split) []string {
	partOf := make([]string, len(d.Classes))
	for _, part := range s.Subsets() {
		for _, z := range part.Classes {
			partOf[z] = part.Name
		}
	}
	return partOf
}

func named(d *dataset.Dataset, z int, part string) string {
	return fmt.Sprintf("class %q (%s)", d.Classes[z], part)
}

// heldOutLeaks returns the samples of seen classes that are held out and, by another
// name, learned from.
func heldOutLeaks(d *dataset.Dataset, partOf []string) []Leak {
	held := make([]bool, len(d.Labels))
	for _, i := range d.TestSeen {
		held[i] = true
	}
	seen := func(i int) bool { part := partOf[d.Labels[i]]; return part == "train" || part == "val" }
	var leaks []Leak
	for _, pair := range duplicates(d.Features) {
		if i, j := pair.first, pair.again; held[i] != held[j] && seen(i) && seen(j) {
			if held[j] {
				i, j = j, i
			}
			leaks = append(leaks, Leak{
				heldOut, fmt.Sprintf("sample %d of %q (held out)", i, d.Classes[d.Labels[i]]),
				fmt.Sprintf("sample %d of %q (learned from)", j, d.Classes[d.Labels[j]]), "they have the same features",
			})
		}
	}
	return leaks
}
