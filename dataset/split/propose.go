package split

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Options say how classes are to be split.
type Options struct {
	Val, Test int     // number of classes of each; the others are train classes
	Seed      uint64  // the same seed proposes the same split
	Tolerance float64 // as in Leaks
}

// attempts is the number of splits that are drawn. More improve the balance little: of
// 127 bird species with 41 to 60 pictures each, the best of 1000 is off by 0.3 % of the
// pictures.
const attempts = 1000

// Propose splits the classes of d that have samples and a description so that nothing
// leaks: similar classes are in one subset. Of many random splits it returns the one whose
// subsets' shares of the samples are nearest to their shares of the classes, and whose val
// and test classes have fewest attributes that no train class has. If sets of similar
// classes do not allow the sizes, they are approximated. The error is an *invalid.Error.
func Propose(d *dataset.Dataset, o Options) (dataset.Split, error) {
	usable := Usable(d)
	fail := func(want, got string) (dataset.Split, error) {
		return dataset.Split{}, &invalid.Error{Where: d.Name, Field: "classes", Want: want, Got: got}
	}
	if o.Val < 1 || o.Test < 1 || o.Val+o.Test >= len(usable) {
		return fail(fmt.Sprintf("at least 1 for each of train, val and test, of %d that have samples and a description", len(usable)),
			fmt.Sprintf("%d for val and %d for test", o.Val, o.Test))
	}
	sets := together(d, usable, o.Tolerance)
	if len(sets) < 3 {
		return fail("at least 3 sets of classes between which nothing leaks", fmt.Sprint(len(sets)))
	}
	random := rand.New(rand.NewPCG(o.Seed, 0))
	loss := newLoss(d, usable, o)
	var best dataset.Split
	least := math.Inf(1)
	for range attempts {
		random.Shuffle(len(sets), func(a, b int) { sets[a], sets[b] = sets[b], sets[a] })
		if s, ok := fill(sets, o); ok {
			if l := loss(s); l < least {
				best, least = s, l
			}
		}
	}
	if math.IsInf(least, 1) {
		return dataset.Split{}, &invalid.Error{
			Where: d.Name, Field: "classes", Want: fmt.Sprintf("sets of similar classes of at most %d for val and %d for test", o.Val, o.Test),
			Got: "too few of them", Hint: "Ask for more val and test classes.",
		}
	}
	return best, nil
}

// Usable returns the classes that have samples and a description, ascending.
func Usable(d *dataset.Dataset) []int {
	var usable []int
	for z, n := range d.SamplesPerClass() {
		if n > 0 && dataset.Described(d.Descriptions.Row(z)) > 0 {
			usable = append(usable, z)
		}
	}
	return usable
}

// together returns the classes in sets that must stay together.
func together(d *dataset.Dataset, usable []int, tolerance float64) [][]int {
	set := make([]int, len(d.Classes)) // of each class, named by its lowest class
	for z := range set {
		set[z] = z
	}
	for _, s := range similarities(d, tolerance) {
		for _, class := range s.classes[1:] {
			a, b := set[s.classes[0]], set[class]
			if a == b {
				continue
			}
			for z := range set {
				if set[z] == max(a, b) {
					set[z] = min(a, b)
				}
			}
		}
	}
	sets := make([][]int, len(set))
	for _, z := range usable {
		sets[set[z]] = append(sets[set[z]], z)
	}
	return slices.DeleteFunc(sets, func(classes []int) bool { return len(classes) == 0 })
}

// fill puts sets of classes, in their order, into test, else val, else train, as far as
// there is room. It is not ok if a subset remains empty.
func fill(sets [][]int, o Options) (s dataset.Split, ok bool) {
	for _, classes := range sets {
		switch {
		case len(s.Test)+len(classes) <= o.Test:
			s.Test = append(s.Test, classes...)
		case len(s.Val)+len(classes) <= o.Val:
			s.Val = append(s.Val, classes...)
		default:
			s.Train = append(s.Train, classes...)
		}
	}
	for _, subset := range s.Subsets() {
		slices.Sort(subset.Classes)
	}
	return s, len(s.Train) > 0 && len(s.Val) > 0 && len(s.Test) > 0
}

// newLoss returns a function that sums, each as a share: the samples by which val and test
// are off the number expected for their classes, the attributes that train lacks, and, with
// a weight above both, the classes by which val and test are too small.
func newLoss(d *dataset.Dataset, usable []int, o Options) func(dataset.Split) float64 {
	samples, classes := d.SamplesPerClass(), float64(len(usable))
	all := 0.0
	for _, z := range usable {
		all += float64(samples[z])
	}
	return func(s dataset.Split) float64 {
		loss := 0.0
		for _, subset := range [][]int{s.Val, s.Test} {
			n := 0
			for _, z := range subset {
				n += samples[z]
			}
			loss += math.Abs(float64(n)/all - float64(len(subset))/classes)
		}
		loss += float64(len(Uncovered(d, s))) / float64(len(d.Attributes))
		return loss + 10*float64(o.Val-len(s.Val)+o.Test-len(s.Test))/classes
	}
}

// Uncovered returns the attributes that a val or test class has with a probability of at
// least 0.5 and no train class has. A model cannot learn what they look like.
func Uncovered(d *dataset.Dataset, s dataset.Split) []int {
	const has = 0.5
	hasAny := func(classes []int, m int) bool {
		return slices.ContainsFunc(classes, func(z int) bool { return d.Descriptions.Row(z)[m] >= has })
	}
	var uncovered []int
	for m := range d.Attributes {
		if !hasAny(s.Train, m) && (hasAny(s.Val, m) || hasAny(s.Test, m)) {
			uncovered = append(uncovered, m)
		}
	}
	return uncovered
}
