package catalog

import (
	"errors"
	"fmt"
	"log"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

// grow adds n samples to a class.
func grow(d *dataset.Dataset, z, n int) {
	for range n {
		d.Labels = append(d.Labels, z)
		d.Features.Rows++
		d.Features.Data = append(d.Features.Data, float32(1000+len(d.Labels)), 0)
	}
}

// The classes are those that the first version proposed: a seed gives the same split in every version.
func ExampleProposeSplit() {
	d := glyphs.Make()
	s, err := ProposeSplit(d, 10, 12, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(s.Train), len(s.Val), len(s.Test), "classes,", len(check.Leaks(d, s)), "leaks")
	for _, z := range s.Val {
		fmt.Print(d.Classes[z])
	}
	// Output:
	// 30 10 12 classes, 0 leaks
	// ACEJQYert6
}

// drawn returns a data set with classes of many sizes, some of them similar.
func drawn(t *rapid.T) *dataset.Dataset {
	n := rapid.IntRange(6, 14).Draw(t, "classes")
	names := make([]string, n)
	for z := range names {
		names[z] = fmt.Sprintf("class %c", 'a'+z)
	}
	d := tiny.Distinct(names...)
	for range rapid.IntRange(0, 3).Draw(t, "similar classes") {
		a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			d.Classes[b] = strings.ToUpper(d.Classes[a])
		case 1:
			copy(d.Descriptions.Row(b), d.Descriptions.Row(a))
		default:
			copy(d.Features.Row(2*b), d.Features.Row(2*a))
		}
	}
	for range rapid.IntRange(0, 20).Draw(t, "more samples") {
		grow(d, rapid.IntRange(0, n-1).Draw(t, "class"), 1)
	}
	return d
}

// There are at least 3 test and 4 val classes, or no val classes where few would be left to train on.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		n, val, test      int
		given             bool
		wantVal, wantTest int
	}{{100, 20, 20, false, 20, 20}, {20, 4, 4, false, 4, 4}, {15, 3, 3, false, 4, 3}, {14, 3, 3, false, 0, 3}, {6, 1, 1, false, 0, 3}, {5, 1, 1, false, 0, 1}, {15, 1, 1, true, 1, 1}} {
		val, test := SplitSizes(c.n, c.val, c.test, c.given, c.given)
		testkit.Equal(t, fmt.Sprint(c.n, " classes"), []int{val, test}, []int{c.wantVal, c.wantTest})
	}
}

// checkWhole checks that a split has each class once, in order and some to train on, and leaks nothing.
func checkWhole(t *rapid.T, d *dataset.Dataset, s dataset.Split) {
	t.Helper()
	testkit.Equal(t, "all", slices.Sorted(slices.Values(slices.Concat(s.Train, s.Val, s.Test))), Usable(d))
	testkit.Equal(t, "leaks", check.Leaks(d, s), nil)
	for _, subset := range s.Subsets() {
		testkit.Equal(t, subset.Name+" in order", slices.IsSorted(subset.Classes), true)
	}
	if len(s.Train) == 0 {
		t.Fatalf("%+v has no train classes", s)
	}
}

// A proposal has each class once, leaks nothing, is no larger than asked for, and is the
// same for the same seed.
func TestProposeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn(t)
		val, test := rapid.IntRange(0, 3).Draw(t, "val"), rapid.IntRange(1, 3).Draw(t, "test")
		seed := rapid.Uint64().Draw(t, "seed")
		s, err := ProposeSplit(d, val, test, seed)
		if errors.As(err, new(*invalid.Error)) {
			return // similar classes may fit into no subset
		}
		testkit.NoError(t, err)
		checkWhole(t, d, s)
		if len(s.Val) < min(val, 1) || len(s.Val) > val || len(s.Test) < 1 || len(s.Test) > test {
			t.Fatalf("%+v, expected at most %d val and %d test classes", s, val, test)
		}
		testkit.Equal(t, "the same seed", testkit.Must(ProposeSplit(d, val, test, seed))(t), s)
	})
}

// Proposals are balanced by samples, and train has the attributes of the others. Classes 0
// to 3 have 10 samples each, 4 to 7 have 2, and only class 1 has attribute 1.
func TestProposeBalances(t *testing.T) {
	d := tiny.Distinct("a", "b", "c", "d", "e", "f", "g", "h")
	for z := range d.Classes {
		u := d.Descriptions.Row(z)
		clear(u)
		u[0], u[2] = float64(z)/7, 0.8
	}
	d.Descriptions.Row(1)[1] = 0.9
	for z := range 4 {
		grow(d, z, 8)
	}
	seen := make(map[string]bool)
	for seed := range uint64(5) {
		s := testkit.Must(ProposeSplit(d, 2, 2, seed))(t)
		n := d.SamplesPerClass()
		for _, part := range [][]int{s.Val, s.Test} {
			testkit.Equal(t, "classes and samples", []int{len(part), sum(n, part)}, []int{2, 12})
		}
		testkit.Equal(t, "attributes left to val or test", len(check.Uncovered(d, s)), 0)
		seen[fmt.Sprint(s)] = true
	}
	if len(seen) < 2 {
		t.Error("all seeds give one split")
	}
}

// A split with the sizes asked for is preferred, even if a smaller one has fewer attributes that train lacks.
func TestProposeReachesTheSizes(t *testing.T) {
	d := tiny.Distinct("ab", "AB", "cd", "CD", "ef", "EF", "gh")
	for seed := range uint64(5) {
		s := testkit.Must(ProposeSplit(d, 3, 2, seed))(t)
		testkit.Equal(t, fmt.Sprintf("seed %d: val and test classes", seed), []int{len(s.Val), len(s.Test)}, []int{3, 2})
	}
}

// Each class is a test class once and a val class once, nothing leaks, and the parts have
// about the same number of classes. Folds keep the test classes and divide the others.
func TestRotationsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn(t)
		n, seed := rapid.IntRange(3, 5).Draw(t, "parts"), rapid.Uint64().Draw(t, "seed")
		splits, err := Rotations(d, n, seed)
		if errors.As(err, new(*invalid.Error)) {
			if sets := len(together(d, Usable(d))); sets >= 2*n {
				t.Fatalf("%v with %d sets of similar classes", err, sets)
			}
			return
		}
		testkit.NoError(t, err)
		var test, val []int
		for _, s := range splits {
			if len(s.Test) < 2 {
				t.Fatalf("a part of %v", s.Test)
			}
			test, val = append(test, s.Test...), append(val, s.Val...)
			checkWhole(t, d, s)
		}
		slices.Sort(test)
		slices.Sort(val)
		testkit.Equal(t, "test classes", test, Usable(d))
		testkit.Equal(t, "val classes", val, Usable(d))
		testkit.Equal(t, "the same seed", testkit.Must(Rotations(d, n, seed))(t), splits)
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
	d := tiny.Distinct("a", "b", "c", "d", "e", "f", "g", "h")
	for z := range 4 {
		grow(d, z, 50*(z%2+1))
	}
	seen := map[string]bool{}
	for seed := range uint64(8) {
		parts := testkit.Must(Deal(d, Usable(d), 2, seed))(t)
		for _, p := range parts {
			n := sum(d.SamplesPerClass(), p)
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

func TestRefused(t *testing.T) {
	alike := tiny.Distinct("ant", "bee", "cat", "dog")
	clear(alike.Descriptions.Data)
	eight := tiny.Distinct("a", "b", "c", "d", "e", "f", "g", "h")
	eight.Labels, eight.Features.Rows = eight.Labels[:14], 14 // class h has no samples
	propose := func(d *dataset.Dataset, val, test int) error {
		_, err := ProposeSplit(d, val, test, 0)
		return err
	}
	rotate := func(parts int) error {
		_, err := Rotations(eight, parts, 0)
		return err
	}
	_, folds := Folds(eight, dataset.Split{Train: []int{0, 3, 4}, Test: []int{1, 2}}, 2, 0)
	for want, err := range map[string]error{
		"at least 1 test class and 2 others, of which 1 is for train, of 4 that have samples and a description, found 1 for val and 0 for test": propose(tiny.Distinct("a", "b", "c", "d"), 1, 0),
		"at least 3 sets of classes between which nothing leaks, found 1, as":                                                                   propose(alike, 1, 1),
		"expected sets of similar classes of at most 1 for val and 1 for test, found too few of them. Ask for more val and test classes.":       propose(tiny.Distinct("ax", "Ax", "bx", "Bx", "cx", "Cx"), 1, 1),
		"expected at least 3 parts, for train, val and test classes, found 2":                                                                   rotate(2),
		"birds: parts: expected 2 to 3, as 7 classes have samples and a description (similar ones count once) and each part needs 2, found 4":   rotate(4),
		"birds: classes: expected at least 4 that have samples and a description and are not similar, found 3":                                  folds,
	} {
		testkit.WantError(t, err, want)
		if !errors.As(err, new(*invalid.Error)) {
			t.Errorf("error %v (%T), expected an *invalid.Error", err, err)
		}
	}
}

func TestHoldOut(t *testing.T) {
	d := &dataset.Dataset{Classes: []string{"own", "none", "unseen"}, Labels: make([]int, 30), TestSeen: []int{0, 2, 7}}
	for i := range d.Labels {
		d.Labels[i] = i / 10
	}
	testkit.Equal(t, "of seen classes", HoldOut(d, dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{2}}), []int{0, 2, 7, 14, 19})
	testkit.Equal(t, "of others", HoldOut(d, dataset.Split{Train: []int{2}, Test: []int{0}}), []int{24, 29})
}

// No source is on two sides of a division of samples, and every seen class keeps samples to train on. Samples
// that are sources of their own are divided as samples without sources.
func TestSourcesAreNotParted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const classes = 4
		d := &dataset.Dataset{Classes: make([]string, classes)}
		s := dataset.Split{Train: []int{0, 1}, Val: []int{2}, Test: []int{3}}
		given := rapid.Bool().Draw(t, "some held out")
		for i := range rapid.IntRange(20, 80).Draw(t, "samples") {
			z, source := rapid.IntRange(0, classes-1).Draw(t, "class"), rapid.IntRange(0, 25).Draw(t, "source")
			d.Labels, d.Sources = append(d.Labels, z), append(d.Sources, strings.Repeat("s", source))
			if given && z == 0 && source%7 == 1 {
				d.TestSeen = append(d.TestSeen, i)
			}
		}
		heldOut := d.TestSeen
		wholly := func(what string, rows, among []int) {
			for _, i := range among {
				for _, j := range among {
					if same := d.Sources[i] == d.Sources[j] && d.Sources[i] != ""; same && slices.Contains(rows, i) != slices.Contains(rows, j) {
						t.Fatalf("%s: samples %d and %d of one source are parted", what, i, j)
					}
				}
			}
		}
		d.TestSeen = HoldOut(d, s)
		seen := d.SamplesOf(s.Seen())
		wholly("held out", d.TestSeen, seen)
		left := make([]int, classes)
		for _, i := range seen {
			if !slices.Contains(d.TestSeen, i) {
				left[d.Labels[i]]++
			}
		}
		for _, z := range s.Seen() {
			if heldOut == nil && left[z] == 0 && d.SamplesPerClass()[z] > 0 {
				t.Fatalf("all samples of class %d are held out", z)
			}
		}
		choosing, _ := d.HeldOut()
		wholly("choosing", choosing, d.TestSeen)

		d.TestSeen, d.Sources = heldOut, make([]string, len(d.Labels))
		alone := HoldOut(d, s)
		d.Sources = nil
		testkit.Equal(t, "samples of their own", alone, HoldOut(d, s))
	})
}
