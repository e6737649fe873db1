package split

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Each class is a test class once and a val class once, nothing leaks, and the parts have
// about the same number of classes. Folds keep the test classes and divide the others.
func TestRotationsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn(t)
		n, seed := rapid.IntRange(3, 5).Draw(t, "parts"), rapid.Uint64().Draw(t, "seed")
		splits, err := Rotations(d, n, seed)
		var refused *invalid.Error
		if errors.As(err, &refused) {
			if sets := len(together(d, Usable(d), Tolerance)); sets >= 2*n {
				t.Fatalf("%v with %d sets of similar classes", err, sets)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var test, val []int
		for _, s := range splits {
			if len(s.Test) < 2 {
				t.Fatalf("a part of %v", s.Test)
			}
			test, val = append(test, s.Test...), append(val, s.Val...)
			all := slices.Sorted(slices.Values(slices.Concat(s.Train, s.Val, s.Test)))
			if !slices.Equal(all, Usable(d)) || !slices.IsSorted(s.Train) || len(s.Train) == 0 {
				t.Fatalf("%+v does not have each class once, in order", s)
			}
			if leaks := Leaks(d, s, Tolerance); leaks != nil {
				t.Fatalf("%+v leaks %v", s, leaks)
			}
		}
		slices.Sort(test)
		slices.Sort(val)
		if !slices.Equal(test, Usable(d)) || !slices.Equal(val, Usable(d)) {
			t.Fatalf("test classes %v and val classes %v, expected each class once", test, val)
		}
		again, err := Rotations(d, n, seed)
		if err != nil || !cmp.Equal(splits, again) {
			t.Fatalf("the same seed gives %+v and %+v", splits, again)
		}
		folds, err := Folds(d, splits[0], 2, seed)
		if err != nil {
			return // similar classes may leave too few sets
		}
		for i, f := range folds {
			if !slices.Equal(f.Test, splits[0].Test) || !slices.Equal(f.Seen(), splits[0].Seen()) || !slices.Equal(f.Val, folds[1-i].Train) {
				t.Fatalf("folds %+v of %+v", folds, splits[0])
			}
		}
	})
}

// Parts are balanced by samples, and other seeds deal other parts.
func TestDealIsStratified(t *testing.T) {
	d := birds("a", "b", "c", "d", "e", "f", "g", "h")
	for z := range 4 {
		for range 50 * (z%2 + 1) {
			d.Labels = append(d.Labels, z)
			d.Features.Rows++
			d.Features.Data = append(d.Features.Data, float32(1000+len(d.Labels)), 0)
		}
	}
	seen := map[string]bool{}
	for seed := range uint64(8) {
		parts, err := Deal(d, Usable(d), 2, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			n := 0
			for _, z := range p {
				n += d.SamplesPerClass()[z]
			}
			if len(p) != 4 || math.Abs(float64(n)-158) > 4 {
				t.Errorf("seed %d: a part of classes %v with %d samples, expected 4 classes with 158", seed, p, n)
			}
		}
		seen[cmp.Diff(parts, nil)] = true
	}
	if len(seen) < 3 {
		t.Errorf("8 seeds deal %d different parts", len(seen))
	}
}

func TestRotationsRefused(t *testing.T) {
	d := birds("a", "b", "c", "d", "e", "f", "g", "h")
	d.Labels = d.Labels[:14] // class h has no samples
	d.Features.Rows = 14
	for parts, want := range map[int]string{
		2: "expected at least 3 parts, for train, val and test classes, found 2",
		4: "birds: parts: expected 2 to 3, as 7 classes have samples and a description (similar ones count once) and each part needs 2, found 4",
	} {
		if _, err := Rotations(d, parts, 0); err == nil || err.Error() != want {
			t.Errorf("%d parts: error %v, expected %s", parts, err, want)
		}
	}
	want := "birds: classes: expected at least 4 that have samples and a description and are not similar, found 3"
	if _, err := Folds(d, dataset.Split{Train: []int{0, 3, 4}, Test: []int{1, 2}}, 2, 0); err == nil || err.Error() != want {
		t.Errorf("two folds of three classes: error %v, expected %s", err, want)
	}
}
