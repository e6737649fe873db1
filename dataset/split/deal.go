package split

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Deal deals classes of d that have samples and a description into parts of about equal
// size, at least 2 classes in each, for cross-validation over classes. Parts are balanced by
// their numbers of samples, and similar classes (see Leaks) are in one part. The same seed
// deals the same parts; their classes are ascending. The error is an *invalid.Error.
func Deal(d *dataset.Dataset, classes []int, parts int, seed uint64) ([][]int, error) {
	usable := slices.DeleteFunc(Usable(d), func(z int) bool { return !slices.Contains(classes, z) })
	sets := together(d, usable, Tolerance)
	// In a part with one class, any prediction is right.
	switch most := len(sets) / 2; {
	case most < 2:
		return nil, &invalid.Error{
			Where: d.Name, Field: "classes", Want: "at least 4 that have samples and a description and are not similar", Got: fmt.Sprint(len(sets)),
		}
	case parts < 2 || parts > most:
		return nil, &invalid.Error{
			Where: d.Name, Field: "parts",
			Want: fmt.Sprintf("2 to %d, as %d classes have samples and a description (similar ones count once) and each part needs 2", most, len(sets)),
			Got:  fmt.Sprint(parts),
		}
	}
	samples := d.SamplesPerClass()
	count := func(set []int) (n int) {
		for _, z := range set {
			n += samples[z]
		}
		return n
	}
	random := rand.New(rand.NewPCG(seed, 0xdea1))
	random.Shuffle(len(sets), func(a, b int) { sets[a], sets[b] = sets[b], sets[a] })
	// Large sets first; then strata of classes with similar numbers of samples.
	slices.SortStableFunc(sets, func(a, b []int) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(count(b), count(a)))
	})
	dealt := make([][]int, parts)
	order := random.Perm(parts)
	for i, set := range sets {
		if i%parts == 0 {
			random.Shuffle(parts, func(a, b int) { order[a], order[b] = order[b], order[a] })
		}
		smallest := slices.MinFunc(order, func(a, b int) int { return cmp.Compare(len(dealt[a]), len(dealt[b])) })
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
		return nil, &invalid.Error{Want: "at least 3 parts, for train, val and test classes", Got: fmt.Sprint(parts)}
	}
	dealt, err := Deal(d, Usable(d), parts, seed)
	if err != nil {
		return nil, err
	}
	splits := make([]dataset.Split, parts)
	for i := range splits {
		s := dataset.Split{Test: dealt[i], Val: dealt[(i+1)%parts]}
		for j := 2; j < parts; j++ {
			s.Train = append(s.Train, dealt[(i+j)%parts]...)
		}
		slices.Sort(s.Train)
		splits[i] = s
	}
	return splits, nil
}

// Folds returns splits with the test classes of s whose val classes are in turn each of n
// parts of its train and val classes.
func Folds(d *dataset.Dataset, s dataset.Split, n int, seed uint64) ([]dataset.Split, error) {
	dealt, err := Deal(d, s.Seen(), n, seed)
	if err != nil {
		return nil, err
	}
	folds := make([]dataset.Split, n)
	for i, val := range dealt {
		train := slices.Concat(slices.Delete(slices.Clone(dealt), i, i+1)...)
		slices.Sort(train)
		folds[i] = dataset.Split{Train: train, Val: val, Test: s.Test}
	}
	return folds, nil
}
