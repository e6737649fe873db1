package dataset

import (
	"fmt"
	"iter"
	"math"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Subset is one of the three sets of classes of a split.
type Subset struct {
	Name    string // "train", "val" or "test"
	Classes []int
}

// Subsets returns train, val and test in this order.
func (s Split) Subsets() []Subset {
	return []Subset{{"train", s.Train}, {"val", s.Val}, {"test", s.Test}}
}

// classesOfSplit goes over the known classes of every part.
func (d *Dataset) classesOfSplit() iter.Seq2[Subset, int] {
	return func(yield func(Subset, int) bool) {
		for _, part := range d.Split.Subsets() {
			for _, z := range part.Classes {
				if d.hasClass(z) && !yield(part, z) {
					return
				}
			}
		}
	}
}

func splitInRange(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		for _, part := range d.Split.Subsets() {
			for i, z := range part.Classes {
				if d.hasClass(z) {
					continue
				}
				if !yield(invalid.Error{
					Field: fmt.Sprintf("%s class %d of the split", part.Name, i),
					Want:  fmt.Sprintf("a class from 0 to %d", len(d.Classes)-1),
					Got:   fmt.Sprint(z),
				}) {
					return
				}
			}
		}
	}
}

func partsNotEmpty(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		for _, part := range d.Split.Subsets() {
			if len(part.Classes) == 0 && !yield(invalid.Error{Field: part.Name + " classes", Want: "at least one", Got: "none"}) {
				return
			}
		}
	}
}

func partsDisjoint(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		partOf := make(map[int]string)
		for part, z := range d.classesOfSplit() {
			other, taken := partOf[z]
			partOf[z] = part.Name
			if taken && !yield(invalid.Error{
				Field: fmt.Sprintf("class %q of the split", d.Classes[z]),
				Want:  "one mention in one of train, val and test",
				Got:   fmt.Sprintf("it in %s and again in %s", other, part.Name),
			}) {
				return
			}
		}
	}
}

func partsOrdered(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		for _, part := range d.Split.Subsets() {
			for i := 1; i < len(part.Classes); i++ {
				before, z := part.Classes[i-1], part.Classes[i]
				if before > z && !yield(invalid.Error{
					Field: part.Name + " classes",
					Want:  "ascending order",
					Got:   fmt.Sprintf("%d after %d", z, before),
				}) {
					return
				}
			}
		}
	}
}

func testSeenOfSeenClasses(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		seen := make([]bool, len(d.Classes))
		for _, z := range d.Split.Seen() {
			if d.hasClass(z) {
				seen[z] = true
			}
		}
		before := -1
		for place, i := range d.TestSeen {
			e := invalid.Error{Field: fmt.Sprintf("test_seen, entry %d", place), Got: fmt.Sprint(i)}
			switch {
			case i < 0 || i >= len(d.Labels):
				e.Want = fmt.Sprintf("a sample from 0 to %d", len(d.Labels)-1)
			case i <= before:
				e.Want = "samples in ascending order"
				e.Got = fmt.Sprintf("%d after %d", i, before)
			case d.hasClass(d.Labels[i]) && !seen[d.Labels[i]]:
				e.Want = "a sample of a train or val class"
				e.Got = fmt.Sprintf("sample %d, of class %q", i, d.Classes[d.Labels[i]])
			default:
				before = i
				continue
			}
			if !yield(e) {
				return
			}
		}
	}
}

func classesHaveSamples(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		n := d.SamplesPerClass()
		for part, z := range d.classesOfSplit() {
			if n[z] == 0 && !yield(invalid.Error{
				Field: fmt.Sprintf("%s class %q", part.Name, d.Classes[z]),
				Want:  "at least one sample",
				Got:   "none",
			}) {
				return
			}
		}
	}
}

func classesDescribed(d *Dataset) iter.Seq[invalid.Error] {
	return func(yield func(invalid.Error) bool) {
		for part, z := range d.classesOfSplit() {
			if described(d.Descriptions.Row(z)) == 0 && !yield(invalid.Error{
				Field: fmt.Sprintf("description of %s class %q", part.Name, d.Classes[z]),
				Want:  "at least one attribute described",
				Got:   "none",
			}) {
				return
			}
		}
	}
}

// described counts the attributes that a description gives a value for.
func described(u []float64) int {
	n := 0
	for _, p := range u {
		if !math.IsNaN(p) {
			n++
		}
	}
	return n
}
