package xlsa17

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// subset is the train, val or test classes, or the seen ones.
type subset struct {
	name    string // as in "train"
	list    string // the file that names its classes
	classes []int  // ascending
}

func has(ascending []int, z int) bool {
	_, found := slices.BinarySearch(ascending, z)
	return found
}

// readSplits reads the divisions of the seen classes, at least dev of them, of which the last
// is the split: the second and third exist where there is a list of their train classes.
func (f *folder) readSplits(dev int) error {
	if err := f.readLocations(len(f.Labels)); err != nil {
		return err
	}
	for n := 1; n <= maxDevSplit && (n <= dev || firstFile(f.Source, fmt.Sprintf("trainclasses%d.txt", n)) != ""); n++ {
		s, err := f.readSplit(n)
		if err != nil {
			return err
		}
		f.DevSplits = append(f.DevSplits, s)
	}
	f.Split = f.DevSplits[dev-1]
	return nil
}

// readSplit reads a division of the classes from their lists. No location may contradict it,
// but a variable need not have all samples: releases differ in whether those of test_seen_loc
// are in the others.
func (f *folder) readSplit(n int) (s dataset.Split, err error) {
	parts := []subset{{name: "train"}, {name: "val"}, {name: "test", list: "testclasses.txt"}}
	variables := []string{trainLoc, valLoc, testUnseenLoc, trainvalLoc, testSeenLoc}
	if n > 1 { // the released train_loc and val_loc belong to the first division
		variables[0], variables[1] = "", ""
	}
	listOf := make(map[int]string)
	for i := range parts {
		p := &parts[i]
		p.list = cmp.Or(p.list, fmt.Sprintf("%sclasses%d.txt", p.name, n))
		if p.classes, err = f.readClassList(p.list); err != nil {
			return s, err
		}
		for _, z := range p.classes {
			if other, taken := listOf[z]; taken {
				return s, wrong(f.Source, fmt.Sprintf("class %q", f.Classes[z]), "one of train, val and test", fmt.Sprintf("it in %s and in %s", other, p.list))
			}
			listOf[z] = p.list
		}
	}
	s = dataset.Split{Train: parts[0].classes, Val: parts[1].classes, Test: parts[2].classes}
	seen := subset{"train and val", parts[0].list + " and " + parts[1].list, s.Seen()}
	if err := f.checkSeenList(seen); err != nil {
		return s, err
	}
	for i, p := range append(parts, seen, seen) {
		for _, sample := range f.locations[variables[i]] {
			if z := f.Labels[sample]; !has(p.classes, z) {
				return s, wrong(f.mat, variables[i], fmt.Sprintf("only samples of the %s classes (%s)", p.name, p.list),
					fmt.Sprintf("location %d, a sample of class %q", sample+1, f.Classes[z]))
			}
		}
	}
	return s, nil
}

// readClassList reads names of classes, one per line, and returns the classes in
// ascending order.
func (f *folder) readClassList(name string) ([]int, error) {
	path := filepath.Join(f.Source, name)
	lines, err := readLines(f.ctx, path)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, wrong(path, "", "names of classes, one per line", "none")
	}
	var classes []int
	for _, l := range lines {
		z, known := f.index[l.text]
		if !known {
			e := wrong(path, fmt.Sprintf("line %d", l.number), fmt.Sprintf("one of the %d classes of %s", len(f.Classes), f.mat), invalid.Quote(l.text))
			e.Hint = invalid.DidYouMean(l.text, f.Classes)
			return nil, e
		}
		classes = append(classes, z)
	}
	slices.Sort(classes)
	return slices.Compact(classes), nil
}

// checkSeenList compares trainvalclasses.txt, if it exists, with the seen classes.
func (f *folder) checkSeenList(seen subset) error {
	const list = "trainvalclasses.txt"
	if firstFile(f.Source, list) == "" {
		return nil
	}
	listed, err := f.readClassList(list)
	if err != nil {
		return err
	}
	for z, name := range f.Classes {
		if has(listed, z) != has(seen.classes, z) {
			return wrong(filepath.Join(f.Source, list), fmt.Sprintf("class %q", name), "the classes of "+seen.list, "it in only one of the two")
		}
	}
	return nil
}
