package catalog

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/invalid"
)

// attempts is the number of splits that are drawn. More improve the balance little: of 127 bird species with
// 41 to 60 pictures each, the best of 1000 is off by 0.3 % of the pictures.
const attempts = 1000

// ProposeSplit splits the classes of d that have samples and a description into so many val and test
// classes, and train classes. val can be 0. Nothing leaks: similar classes are in one subset. Of many random
// splits it returns the one whose subsets' shares of the samples are nearest to their shares of the classes,
// and whose val and test classes have fewest attributes that no train class has. If sets of similar classes
// do not allow the sizes, they are approximated. The same seed proposes the same split. The error is an
// *invalid.Error.
func ProposeSplit(d *dataset.Dataset, val, test int, seed uint64) (dataset.Split, error) {
	usable := Usable(d)
	sets := together(d, usable)
	least := 2 + min(val, 1) // sets
	var best dataset.Split
	switch {
	case val < 0 || test < 1 || val+test >= len(usable) || test > len(usable)-2:
		want := fmt.Sprintf("at least 1 test class and 2 others, of which 1 is for train, of %d that have "+
			"samples and a description", len(usable))
		return best, refuse(d, "classes", want, fmt.Sprintf("%d for val and %d for test", val, test))
	case len(sets) < least:
		want := fmt.Sprintf("at least %d sets of classes between which nothing leaks", least)
		return best, refuse(d, "classes", want,
			fmt.Sprintf("%d, as classes of like names, descriptions or samples stay together", len(sets)))
	}
	random, samples, lowest := rand.New(rand.NewPCG(seed, 0)), d.SamplesPerClass(), math.Inf(1)
	for range attempts {
		random.Shuffle(len(sets), func(a, b int) { sets[a], sets[b] = sets[b], sets[a] })
		if s, ok := fill(sets, val, test); ok {
			if l := loss(d, s, samples, usable, val, test); l < lowest {
				best, lowest = s, l
			}
		}
	}
	if math.IsInf(lowest, 1) {
		want := fmt.Sprintf("sets of similar classes of at most %d for val and %d for test", val, test)
		return best, refuse(d, "classes", want, "too few of them. Ask for more val and test classes.")
	}
	for _, subset := range best.Subsets() {
		slices.Sort(subset.Classes)
	}
	return best, nil
}

func refuse(d *dataset.Dataset, field, want string, got any) error {
	return &invalid.Error{Where: d.Name, Field: field, Want: want, Got: fmt.Sprint(got)}
}

// SplitSizes returns the numbers of val and test classes of n classes, of which some are given: those of
// shares of them, but at least 3 for test and 4 for val. There are no val classes where that leaves fewer
// than twice as many to train on: parts of the seen classes are then as good.
func SplitSizes(n, val, test int, valGiven, testGiven bool) (v, t int) {
	if t = test; !testGiven && n >= 2*check.FewTest {
		t = max(t, check.FewTest)
	}
	if v = val; !valGiven {
		if v = max(v, check.FewVal); n-t-v < check.FewSeen {
			v = 0
		}
	}
	return v, t
}

// Usable returns the classes that have samples and a description, ascending.
func Usable(d *dataset.Dataset) (usable []int) {
	for z, n := range d.SamplesPerClass() {
		if n > 0 && dataset.Described(d.Descriptions.Row(z)) > 0 {
			usable = append(usable, z)
		}
	}
	return usable
}

func together(d *dataset.Dataset, usable []int) [][]int {
	lower := d.Descriptions.AllRows() // of each class, a lower one of its set, or the lowest itself
	lowest := func(z int) int {
		for lower[z] != z {
			lower[z] = lower[lower[z]] // shortens the way for the next time
			z = lower[z]
		}
		return z
	}
	for _, similar := range check.Similar(d) {
		for _, class := range similar[1:] {
			a, b := lowest(similar[0]), lowest(class)
			lower[max(a, b)] = min(a, b)
		}
	}
	sets := make([][]int, len(lower))
	for _, z := range usable {
		sets[lowest(z)] = append(sets[lowest(z)], z)
	}
	return slices.DeleteFunc(sets, func(classes []int) bool { return len(classes) == 0 })
}

// fill puts sets of classes, in their order, into test, else val, else train, as far as
// there is room. Their classes are not sorted. It is not ok if a subset remains empty.
func fill(sets [][]int, val, test int) (s dataset.Split, ok bool) {
	for _, classes := range sets {
		switch {
		case len(s.Test)+len(classes) <= test:
			s.Test = append(s.Test, classes...)
		case len(s.Val)+len(classes) <= val:
			s.Val = append(s.Val, classes...)
		default:
			s.Train = append(s.Train, classes...)
		}
	}
	return s, len(s.Train) > 0 && (len(s.Val) > 0 || val == 0) && len(s.Test) > 0
}

// loss sums, each as a share: the samples by which val and test are off the number expected
// for their classes, the attributes that train lacks, and, with a weight above both, the
// classes by which val and test are too small.
func loss(d *dataset.Dataset, s dataset.Split, samples, usable []int, val, test int) (loss float64) {
	all, classes := float64(sum(samples, usable)), float64(len(usable))
	for _, subset := range [][]int{s.Val, s.Test} {
		loss += math.Abs(float64(sum(samples, subset))/all - float64(len(subset))/classes)
	}
	loss += float64(len(check.Uncovered(d, s))) / float64(len(d.Attributes))
	return loss + 10*float64(val-len(s.Val)+test-len(s.Test))/classes
}

func sum(samples, classes []int) (n int) {
	for _, z := range classes {
		n += samples[z]
	}
	return n
}

// Deal deals classes of d, ascending, that have samples and a description into parts of about equal
// size, at least 2 classes in each, for cross-validation over classes. Parts are balanced by
// their numbers of samples, and similar classes (see check.Leaks) are in one part. The same seed
// deals the same parts; their classes are ascending. The error is an *invalid.Error.
func Deal(d *dataset.Dataset, classes []int, parts int, seed uint64) ([][]int, error) {
	usable := slices.DeleteFunc(Usable(d), func(z int) bool {
		_, asked := slices.BinarySearch(classes, z)
		return !asked
	})
	sets := together(d, usable)
	// In a part with one class, any prediction is right.
	switch most := len(sets) / 2; {
	case most < 2:
		return nil, refuse(d, "classes", "at least 4 that have samples and a description and are not similar",
			len(sets))
	case parts < 2 || parts > most:
		want := fmt.Sprintf("2 to %d, as %d classes have samples and a description (similar ones count "+
			"once) and each part needs 2", most, len(sets))
		return nil, refuse(d, "parts", want, parts)
	}
	samples, random := d.SamplesPerClass(), rand.New(rand.NewPCG(seed, 0xdea1))
	random.Shuffle(len(sets), func(a, b int) { sets[a], sets[b] = sets[b], sets[a] })
	// Large sets first; then strata of classes with similar numbers of samples.
	slices.SortStableFunc(sets, func(a, b []int) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(sum(samples, b), sum(samples, a)))
	})
	dealt := make([][]int, parts)
	order := random.Perm(parts)
	for i, set := range sets {
		if i%parts == 0 {
			random.Shuffle(parts, func(a, b int) { order[a], order[b] = order[b], order[a] })
		}
		smallest := slices.MinFunc(order, func(a, b int) int {
			return cmp.Compare(len(dealt[a]), len(dealt[b]))
		})
		dealt[smallest] = append(dealt[smallest], set...)
	}
	for _, part := range dealt {
		slices.Sort(part)
	}
	return dealt, nil
}

// Rotations divides all classes of d that have samples and a description into parts, see
// Deal, and returns one split for each: its test classes are the part, its val classes the
// next part, and its train classes all others. So every class is a test class once.
func Rotations(d *dataset.Dataset, parts int, seed uint64) ([]dataset.Split, error) {
	if parts < 3 {
		return nil, invalid.Expected("", parts, "at least 3 parts, for train, val and test classes")
	}
	dealt, err := Deal(d, Usable(d), parts, seed)
	if err != nil {
		return nil, err
	}
	splits := make([]dataset.Split, parts)
	for i := range splits {
		next := (i + 1) % parts
		splits[i] = dataset.Split{Train: without(dealt, i, next), Val: dealt[next], Test: dealt[i]}
	}
	return splits, nil
}

// HoldOut returns, ascending, the samples of the seen classes of a split to hold out: those that d holds out
// and, of classes of which it holds out none, every fifth. All samples of a source are held out, or none;
// none are if a class would have no others.
func HoldOut(d *dataset.Dataset, s dataset.Split) []int {
	held, left, rows := make([]bool, len(d.Classes)), d.SamplesPerClass(), d.SamplesOf(s.Seen())
	for _, row := range d.TestSeen {
		held[d.Labels[row]] = true
	}
	classesOf := map[string][]int{} // of the samples of a source
	for _, row := range rows {
		classesOf[d.SourceOf(row)] = append(classesOf[d.SourceOf(row)], d.Labels[row])
	}
	var given, others []int // what d holds out decides first on which side a source is
	for _, row := range rows {
		if held[d.Labels[row]] {
			given = append(given, row)
		} else {
			others = append(others, row)
		}
	}
	out, _ := d.Divide(append(given, others...), func(row, n int) bool {
		_, heldOut := slices.BinarySearch(d.TestSeen, row)
		if z := d.Labels[row]; held[z] && !heldOut || !held[z] && n%5 != 0 {
			return false
		}
		with, count := []int{d.Labels[row]}, map[int]int{}
		if source := d.SourceOf(row); source != "" {
			with = classesOf[source]
		}
		for _, z := range with {
			count[z]++
		}
		for z, n := range count {
			if !heldOut && n == left[z] {
				return false
			}
		}
		for z, n := range count {
			left[z] -= n
		}
		return true
	})
	slices.Sort(out)
	return out
}

// Folds returns splits with the test classes of s whose val classes are in turn each of n
// parts of its train and val classes.
func Folds(d *dataset.Dataset, s dataset.Split, n int, seed uint64) ([]dataset.Split, error) {
	dealt, err := Deal(d, s.Seen(), n, seed)
	folds := make([]dataset.Split, len(dealt))
	for i := range folds {
		folds[i] = dataset.Split{Train: without(dealt, i), Val: dealt[i], Test: s.Test}
	}
	return folds, err
}

func without(dealt [][]int, parts ...int) (classes []int) {
	for i, part := range dealt {
		if !slices.Contains(parts, i) {
			classes = append(classes, part...)
		}
	}
	slices.Sort(classes)
	return classes
}
