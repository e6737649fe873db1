package xlsa17

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// subset is a set of classes with the file or variable that names them.
type subset struct {
	name    string // as in "train"
	source  string
	classes []int // ascending
}

func (s subset) has(z int) bool {
	_, found := slices.BinarySearch(s.classes, z)
	return found
}

// split returns a division of the classes: those of the class lists or, where a list is
// absent, the classes of the samples at the locations. Lists and locations must agree.
// dev is the number of the division; 0 means 1.
func (f *folder) split(dev int, labels []int) (dataset.Split, error) {
	var none dataset.Split
	dev = max(dev, 1)
	if err := f.checkRange(labels); err != nil {
		return none, err
	}
	// The released train_loc and val_loc belong to the first division.
	trainVar, valVar := trainLoc, valLoc
	if dev > 1 {
		trainVar, valVar = "", ""
	}
	train, err := f.subset("train", fmt.Sprintf("trainclasses%d.txt", dev), trainVar, labels)
	if err != nil {
		return none, err
	}
	val, err := f.subset("val", fmt.Sprintf("valclasses%d.txt", dev), valVar, labels)
	if err != nil {
		return none, err
	}
	test, err := f.subset("test", "testclasses.txt", testUnseenLoc, labels)
	if err != nil {
		return none, err
	}
	if err := f.checkDisjoint(train, val, test); err != nil {
		return none, err
	}
	s := dataset.Split{Train: train.classes, Val: val.classes, Test: test.classes}
	seen := subset{"train and val", train.source + " and " + val.source, s.Seen()}
	if err := f.checkSeenList(seen); err != nil {
		return none, err
	}
	for _, c := range []struct {
		subset   subset
		variable string
		all      bool // the variable has all samples of the subset
	}{
		{train, trainVar, true},
		{val, valVar, true},
		{seen, trainvalLoc, false},
		{seen, testSeenLoc, false},
		{test, testUnseenLoc, true},
	} {
		if err := f.checkLocations(c.subset, c.variable, c.all, labels); err != nil {
			return none, err
		}
	}
	return s, nil
}

// testSeen returns the samples of test_seen_loc, ascending; nil without it.
func (f *folder) testSeen() []int {
	held := slices.Clone(f.locations[testSeenLoc])
	slices.Sort(held)
	return slices.Compact(held)
}

// subset reads the classes of a list, or else those of the samples at the locations of a
// variable.
func (f *folder) subset(name, list, variable string, labels []int) (subset, error) {
	path, err := firstFile(f.dir, list)
	if err != nil {
		return subset{}, err
	}
	if path != "" {
		classes, err := f.readClassList(path)
		return subset{name, list, classes}, err
	}
	loc, ok := f.locations[variable]
	if !ok {
		got := "no such file"
		if variable != "" {
			got += fmt.Sprintf(", and no variable %s in %s to derive it from", variable, f.mat)
		}
		return subset{}, wrong(filepath.Join(f.dir, list), "", "the list of the "+name+" classes", got)
	}
	var classes []int
	for _, i := range loc {
		classes = append(classes, labels[i])
	}
	slices.Sort(classes)
	return subset{name, variable, slices.Compact(classes)}, nil
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
	if f.index == nil {
		f.index = newClassIndex(f.classes)
	}
	lineOf := make(map[int]int)
	var classes []int
	for _, l := range lines {
		field := fmt.Sprintf("line %d", l.number)
		z, got := f.index.find(l.text)
		if z < 0 {
			e := wrong(path, field, fmt.Sprintf("one of the %d classes of %s", len(f.classes), f.mat), got)
			e.Hint = invalid.DidYouMean(l.text, f.classes)
			return nil, e
		}
		if other, taken := lineOf[z]; taken {
			return nil, wrong(path, field, "every class once", fmt.Sprintf("%q, which is also in line %d", l.text, other))
		}
		lineOf[z] = l.number
		classes = append(classes, z)
	}
	slices.Sort(classes)
	return classes, nil
}

// checkDisjoint checks that no class is in two subsets.
func (f *folder) checkDisjoint(subsets ...subset) error {
	sourceOf := make(map[int]string)
	for _, s := range subsets {
		for _, z := range s.classes {
			if other, taken := sourceOf[z]; taken {
				return wrong(f.dir, fmt.Sprintf("class %q", f.classes[z]), "one of train, val and test", fmt.Sprintf("it in %s and in %s", other, s.source))
			}
			sourceOf[z] = s.source
		}
	}
	return nil
}

// checkSeenList compares trainvalclasses.txt, if it exists, with the seen classes.
func (f *folder) checkSeenList(seen subset) error {
	path, err := firstFile(f.dir, "trainvalclasses.txt")
	if err != nil || path == "" {
		return err
	}
	listed, err := f.readClassList(path)
	if err != nil {
		return err
	}
	for z, name := range f.classes {
		_, found := slices.BinarySearch(listed, z)
		if found == seen.has(z) {
			continue
		}
		got := fmt.Sprintf("no %q", name)
		if found {
			got = fmt.Sprintf("%q, which is in neither", name)
		}
		return wrong(path, "", "the classes of "+seen.source, got)
	}
	return nil
}

// checkRange checks that every location is that of a sample.
func (f *folder) checkRange(labels []int) error {
	for _, name := range locationVariables {
		for entry, i := range f.locations[name] {
			if i >= len(labels) {
				return wrong(f.mat, fmt.Sprintf("%s, entry %d", name, entry+1),
					fmt.Sprintf("a location from 1 to %d, the number of samples", len(labels)), fmt.Sprint(i+1))
			}
		}
	}
	return nil
}

// checkLocations checks that a variable, if it exists, has only samples of the subset. If
// all is set, it must have all of them, as in the first release, or all but those of
// test_seen_loc, as in the second.
func (f *folder) checkLocations(s subset, variable string, all bool, labels []int) error {
	disagreement := func(what, no string, i int) error {
		return wrong(f.mat, variable, fmt.Sprintf("%s of the %s classes (%s)", what, s.name, s.source),
			fmt.Sprintf("%slocation %d, a sample of class %q", no, i+1, f.classes[labels[i]]))
	}
	heldOut, in := make([]bool, len(labels)), make([]bool, len(labels))
	for _, i := range f.locations[testSeenLoc] {
		heldOut[i] = true
	}
	loc, ok := f.locations[variable]
	someHeldOut := false
	for _, i := range loc {
		if !s.has(labels[i]) {
			return disagreement("only samples", "", i)
		}
		in[i] = true
		someHeldOut = someHeldOut || heldOut[i]
	}
	if !ok || !all {
		return nil
	}
	for i, z := range labels {
		switch {
		case in[i] || !s.has(z) || heldOut[i] && !someHeldOut:
		case heldOut[i]:
			return disagreement(fmt.Sprintf("all samples, or all but those of %s,", testSeenLoc), "no ", i)
		default:
			return disagreement("all samples", "no ", i)
		}
	}
	return nil
}
