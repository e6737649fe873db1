package xlsa17

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// subset is the train, val or test classes, or the seen ones.
type subset struct {
	name     string // as in "train"
	list     string // the file that names its classes
	variable string // with the locations of its samples; "" for none
	source   string // the list, or the variable where there is no list
	classes  []int  // ascending
}

func (s *subset) has(z int) bool {
	_, found := slices.BinarySearch(s.classes, z)
	return found
}

// splits returns the divisions of the seen classes, at least dev of them: the second and
// third exist where there is a list of their train classes.
func (f *folder) splits(dev int, labels []int) ([]dataset.Split, error) {
	var splits []dataset.Split
	for n := 1; n <= maxDevSplit; n++ {
		list := fmt.Sprintf("trainclasses%d.txt", n)
		switch exists := firstFile(f.dir, list) != ""; {
		case n > 1 && n != dev && !exists:
			continue
		case exists && n > 1+len(splits):
			return nil, wrong(f.dir, "", fmt.Sprintf("trainclasses%d.txt before %s", n-1, list), "no such file")
		}
		s, err := f.split(n, labels)
		if err != nil {
			return nil, err
		}
		splits = append(splits, s)
	}
	return splits, nil
}

// split returns a division of the classes: those of the class lists or, where a list is
// absent, the classes of the samples at the locations. No location may contradict a list.
func (f *folder) split(n int, labels []int) (s dataset.Split, err error) {
	train := subset{name: "train", list: fmt.Sprintf("trainclasses%d.txt", n), variable: trainLoc}
	val := subset{name: "val", list: fmt.Sprintf("valclasses%d.txt", n), variable: valLoc}
	test := subset{name: "test", list: "testclasses.txt", variable: testUnseenLoc}
	if n > 1 { // the released train_loc and val_loc belong to the first division
		train.variable, val.variable = "", ""
	}
	parts := []*subset{&train, &val, &test}
	sourceOf := make(map[int]string)
	for _, p := range parts {
		if err := f.readSubset(p, labels); err != nil {
			return s, err
		}
		for _, z := range p.classes {
			if other, taken := sourceOf[z]; taken {
				return s, wrong(f.dir, fmt.Sprintf("class %q", f.classes[z]), "one of train, val and test", fmt.Sprintf("it in %s and in %s", other, p.source))
			}
			sourceOf[z] = p.source
		}
	}
	s = dataset.Split{Train: train.classes, Val: val.classes, Test: test.classes}
	seen := subset{name: "train and val", source: train.source + " and " + val.source, classes: s.Seen()}
	if err := f.checkSeenList(&seen); err != nil {
		return s, err
	}
	for _, c := range []struct {
		of       *subset
		variable string
	}{{&train, train.variable}, {&val, val.variable}, {&test, testUnseenLoc}, {&seen, trainvalLoc}, {&seen, testSeenLoc}} {
		if err := f.checkLocations(c.of, c.variable, labels); err != nil {
			return s, err
		}
	}
	return s, nil
}

// readSubset reads the classes of a list, or else those of the samples at the locations of
// a variable.
func (f *folder) readSubset(s *subset, labels []int) (err error) {
	if path := firstFile(f.dir, s.list); path != "" {
		s.source = s.list
		s.classes, err = f.readClassList(path)
		return err
	}
	loc, ok := f.locations[s.variable]
	if !ok {
		return wrong(filepath.Join(f.dir, s.list), "", "the list of the "+s.name+" classes, or locations of the split in "+f.mat, "neither")
	}
	s.source = s.variable
	for _, i := range loc {
		s.classes = append(s.classes, labels[i])
	}
	slices.Sort(s.classes)
	s.classes = slices.Compact(s.classes)
	return nil
}

// readClassList reads names of classes, one per line, and returns the classes in
// ascending order.
func (f *folder) readClassList(path string) ([]int, error) {
	lines, err := readLines(f.ctx, path)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, wrong(path, "", "names of classes, one per line", "none")
	}
	var classes []int
	for _, l := range lines {
		z, got := f.index.find(l.text)
		if z < 0 {
			e := wrong(path, fmt.Sprintf("line %d", l.number), fmt.Sprintf("one of the %d classes of %s", len(f.classes), f.mat), got)
			e.Hint = invalid.DidYouMean(l.text, f.classes)
			return nil, e
		}
		classes = append(classes, z)
	}
	slices.Sort(classes)
	return slices.Compact(classes), nil
}

// checkSeenList compares trainvalclasses.txt, if it exists, with the seen classes.
func (f *folder) checkSeenList(seen *subset) error {
	path := firstFile(f.dir, "trainvalclasses.txt")
	if path == "" {
		return nil
	}
	classes, err := f.readClassList(path)
	if err != nil {
		return err
	}
	listed := subset{classes: classes}
	for z, name := range f.classes {
		if listed.has(z) != seen.has(z) {
			return wrong(path, fmt.Sprintf("class %q", name), "the classes of "+seen.source, "it in only one of the two")
		}
	}
	return nil
}

// checkLocations checks that a variable, if it exists, has only samples of the subset. It
// need not have all of them: releases differ in whether those of test_seen_loc are in the
// others.
func (f *folder) checkLocations(s *subset, variable string, labels []int) error {
	for _, i := range f.locations[variable] {
		if !s.has(labels[i]) {
			return wrong(f.mat, variable, fmt.Sprintf("only samples of the %s classes (%s)", s.name, s.source),
				fmt.Sprintf("location %d, a sample of class %q", i+1, f.classes[labels[i]]))
		}
	}
	return nil
}
