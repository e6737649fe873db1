package xlsa17

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
)

func TestDevSplits(t *testing.T) {
	s := newSmall()
	want := []dataset.Split{
		{Train: []int{0, 1, 2}, Val: []int{3}, Test: []int{4, 5}},
		{Train: []int{1, 3}, Val: []int{0, 2}, Test: []int{4, 5}},
	}
	for dev, split := range want {
		got := testkit.Must(loadSmall(t, s, Options{DevSplit: dev + 1}))(t)
		testkit.Equal(t, fmt.Sprintf("division %d", dev+1), []any{got.Split, got.DevSplits}, []any{split, want})
	}
	for _, tt := range []struct {
		devSplit int
		change   func()
		want     []string
	}{
		{-1, func() {}, []string{"dev_split: expected 1, 2 or 3, found -1"}},
		{3, func() {}, []string{"trainclasses3.txt: no such file"}},
		{2, func() { s.column("trainval_loc", 1, 2, 3, 4, 5, 8, 9) }, []string{attFile + ": trainval_loc", `location 5, a sample of class "005.Duck"`}},
	} {
		tt.change()
		testkit.Fails(loadSmall(t, s, Options{DevSplit: tt.devSplit}))(t, tt.want...)
	}
}

// drawn is a random split, in a folder with class lists and locations as in either
// release.
type drawn struct {
	folder *folder
	split  dataset.Split
	partOf []int // of each class: 0, 1 or 2 for train, val or test
}

func drawFolder(t *rapid.T, dir string) drawn {
	f := &folder{ctx: context.Background(), mat: attFile, index: map[string]int{}, locations: map[string][]int{}}
	f.Source = dir
	d := drawn{folder: f}
	parts := []*[]int{&d.split.Train, &d.split.Val, &d.split.Test}
	// At least one class in each part.
	d.partOf = rapid.Permutation(append([]int{0, 1, 2}, rapid.SliceOfN(rapid.IntRange(0, 2), 0, 9).Draw(t, "parts")...)).Draw(t, "part of each class")
	for z, p := range d.partOf {
		f.Classes = append(f.Classes, fmt.Sprintf("%03d.Class_%d", z+1, z*z))
		f.index[f.Classes[z]] = z
		*parts[p] = append(*parts[p], z)
		for range rapid.IntRange(1, 4).Draw(t, "samples") {
			f.Labels = append(f.Labels, z)
		}
	}
	f.Labels = rapid.Permutation(f.Labels).Draw(t, "labels")

	loc := f.locations
	release := rapid.IntRange(0, 2).Draw(t, "release") // 0 has neither train_loc nor val_loc
	for i, z := range f.Labels {
		if d.partOf[z] == 2 {
			loc[testUnseenLoc] = append(loc[testUnseenLoc], i)
			continue
		}
		name := []string{trainLoc, valLoc}[d.partOf[z]]
		heldOut := rapid.Bool().Draw(t, "held out")
		if heldOut {
			loc[testSeenLoc] = append(loc[testSeenLoc], i)
		} else {
			loc[trainvalLoc] = append(loc[trainvalLoc], i)
		}
		if release == 1 || release == 2 && !heldOut {
			loc[name] = append(loc[name], i)
		}
	}
	return d
}

// For any classes, samples and release, the split is that of the lists, in any order; and a
// single location of a class of another part is found.
func TestSplitProperty(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		d := drawFolder(t, dir)
		for name, classes := range map[string][]int{
			"trainclasses1.txt":   d.split.Train,
			"valclasses1.txt":     d.split.Val,
			"trainvalclasses.txt": d.split.Seen(),
			"testclasses.txt":     d.split.Test,
		} {
			var text strings.Builder
			for _, z := range rapid.Permutation(classes).Draw(t, name) {
				fmt.Fprintln(&text, d.folder.Classes[z])
			}
			testkit.Write(t, dir, name, text.String())
		}
		got := testkit.Must(d.folder.readSplit(1))(t)
		testkit.Equal(t, "found", got, d.split)

		loc := d.folder.locations
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(loc))).Draw(t, "variable")
		allowed := map[string][]int{trainLoc: {0}, valLoc: {1}, trainvalLoc: {0, 1}, testSeenLoc: {0, 1}, testUnseenLoc: {2}}[name]
		stranger := rapid.SampledFrom(d.samplesOutside(allowed)).Draw(t, "stranger")
		at := rapid.IntRange(0, len(loc[name])).Draw(t, "at")
		loc[name] = slices.Insert(loc[name], at, stranger)
		testkit.Fails(d.folder.readSplit(1))(t, name+": ", strconv.Quote(d.folder.Classes[d.folder.Labels[stranger]]))
	})
}

// samplesOutside returns the samples of other parts.
func (d drawn) samplesOutside(parts []int) []int {
	var samples []int
	for i, z := range d.folder.Labels {
		if !slices.Contains(parts, d.partOf[z]) {
			samples = append(samples, i)
		}
	}
	return samples
}
