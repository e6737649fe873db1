package split

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// drawn returns a data set with classes of many sizes, some of them similar.
func drawn(t *rapid.T) *dataset.Dataset {
	n := rapid.IntRange(6, 14).Draw(t, "classes")
	names := make([]string, n)
	for z := range names {
		names[z] = fmt.Sprintf("class %c", 'a'+z)
	}
	d := birds(names...)
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
		z := rapid.IntRange(0, n-1).Draw(t, "class")
		d.Labels = append(d.Labels, z)
		d.Features.Rows++
		d.Features.Data = append(d.Features.Data, float32(1000+len(d.Labels)), 0)
	}
	return d
}

// A proposal has each class once, leaks nothing, is no larger than asked for, and is the
// same for the same seed.
func TestProposeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn(t)
		o := Options{Val: rapid.IntRange(1, 3).Draw(t, "val"), Test: rapid.IntRange(1, 3).Draw(t, "test"), Seed: rapid.Uint64().Draw(t, "seed"), Tolerance: Tolerance}
		s, err := Propose(d, o)
		var refused *invalid.Error
		if errors.As(err, &refused) {
			return // similar classes may fit into no subset
		}
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Sorted(slices.Values(slices.Concat(s.Train, s.Val, s.Test)))
		if !slices.Equal(all, Usable(d)) {
			t.Fatalf("%+v does not have each class once", s)
		}
		for _, subset := range s.Subsets() {
			if !slices.IsSorted(subset.Classes) || len(subset.Classes) == 0 {
				t.Fatalf("%s is %v", subset.Name, subset.Classes)
			}
		}
		if len(s.Val) > o.Val || len(s.Test) > o.Test {
			t.Fatalf("%+v is larger than %+v", s, o)
		}
		if leaks := Leaks(d, s, Tolerance); leaks != nil {
			t.Fatalf("%+v leaks %v", s, leaks)
		}
		again, err := Propose(d, o)
		if err != nil || !cmp.Equal(s, again) {
			t.Fatalf("the same seed gives %+v and %+v", s, again)
		}
	})
}

// Proposals are balanced by samples, and train has the attributes of the others. Classes 0
// to 3 have 10 samples each, 4 to 7 have 2, and only class 1 has attribute 1.
func TestProposeBalances(t *testing.T) {
	d := birds("a", "b", "c", "d", "e", "f", "g", "h")
	for z := range d.Classes {
		u := d.Descriptions.Row(z)
		clear(u)
		u[0], u[2] = float64(z)/7, 0.8
	}
	d.Descriptions.Row(1)[1] = 0.9
	for z := range 4 {
		for range 8 {
			d.Labels = append(d.Labels, z)
			d.Features.Rows++
			d.Features.Data = append(d.Features.Data, float32(1000+len(d.Labels)), 0)
		}
	}
	seen := make(map[string]bool)
	for seed := range uint64(5) {
		s, err := Propose(d, Options{Val: 2, Test: 2, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		n := d.SamplesPerClass()
		for _, part := range [][]int{s.Val, s.Test} {
			if len(part) != 2 || n[part[0]]+n[part[1]] != 12 {
				t.Errorf("seed %d: classes %v do not have 12 samples", seed, part)
			}
		}
		if !slices.Contains(s.Train, 1) || len(Uncovered(d, s)) != 0 {
			t.Errorf("seed %d: %+v leaves attribute 1 to val or test", seed, s)
		}
		seen[fmt.Sprint(s)] = true
	}
	if len(seen) < 2 {
		t.Error("all seeds give one split")
	}
}

// A split with the sizes asked for is preferred, even if a smaller one has fewer
// attributes that train lacks.
func TestProposeReachesTheSizes(t *testing.T) {
	d := birds("ab", "AB", "cd", "CD", "ef", "EF", "gh")
	for seed := range uint64(5) {
		s, err := Propose(d, Options{Val: 3, Test: 2, Seed: seed, Tolerance: Tolerance})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Val) != 3 || len(s.Test) != 2 {
			t.Errorf("seed %d: %+v, expected 3 classes in val and 2 in test", seed, s)
		}
	}
}

func TestProposeRefuses(t *testing.T) {
	alike := func(d *dataset.Dataset) {
		for z := range d.Classes {
			copy(d.Descriptions.Row(z), d.Descriptions.Row(0))
		}
	}
	for _, c := range []struct {
		name  string
		o     Options
		spoil func(d *dataset.Dataset)
		want  string
	}{
		{"no val", Options{Test: 1}, nil, "at least 1 for each of train, val and test, of 4 that have samples and a description, found 0 for val and 1 for test"},
		{"no train", Options{Val: 2, Test: 2}, nil, "found 2 for val and 2 for test"},
		{"too few with samples", Options{Val: 1, Test: 1}, func(d *dataset.Dataset) { d.Labels = []int{0, 0, 0, 0, 1, 1, 1, 1} }, "of 2 that have samples"},
		{"all alike", Options{Val: 1, Test: 1}, alike, "at least 3 sets of classes between which nothing leaks, found 1"},
		{"two pairs for two places", Options{Val: 1, Test: 1}, func(d *dataset.Dataset) {
			d.Classes = []string{"ax", "Ax", "bx", "Bx", "cx", "Cx"}
		}, "expected sets of similar classes of at most 1 for val and 1 for test, found too few of them. Ask for more val and test classes."},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := birds("ant", "bee", "cat", "dog")
			if strings.HasPrefix(c.name, "two pairs") {
				d = birds("ant", "bee", "cat", "dog", "eel", "fox")
			}
			if c.spoil != nil {
				c.spoil(d)
			}
			_, err := Propose(d, c.o)
			var e *invalid.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, expected %s", err, c.want)
			}
		})
	}
}
