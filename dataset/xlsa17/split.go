package xlsa17

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// part is a set of classes and the file or variable that named them.
type part struct {
	name    string // as in "train"
	source  string
	classes []int // ascending
}

func (p part) has(z int) bool {
	_, found := slices.BinarySearch(p.classes, z)
	return found
}

// split takes the classes of each part from the class lists, and where a list
// is absent from the classes of the images at the locations. It then checks
// that lists and locations agree.
func (f *folder) split(labels []int) (dataset.Split, error) {
	var s dataset.Split
	if err := f.locationsInRange(labels); err != nil {
		return s, err
	}
	train, err := f.part("train", fmt.Sprintf("trainclasses%d.txt", f.devSplit), f.devLocation(trainLoc), labels)
	if err != nil {
		return s, err
	}
	val, err := f.part("val", fmt.Sprintf("valclasses%d.txt", f.devSplit), f.devLocation(valLoc), labels)
	if err != nil {
		return s, err
	}
	test, err := f.part("test", "testclasses.txt", testUnseenLoc, labels)
	if err != nil {
		return s, err
	}
	if err := f.disjoint(train, val, test); err != nil {
		return s, err
	}
	s = dataset.Split{Train: train.classes, Val: val.classes, Test: test.classes}

	seen := part{name: "train and val", source: train.source + " and " + val.source, classes: s.Seen()}
	if err := f.trainvalListAgrees(seen); err != nil {
		return s, err
	}
	return s, f.checkLocations(labels, train, val, seen, test)
}

// devLocation returns the variable that locates a part of the seen classes. The
// released ones are of the first division only; the others have none.
func (f *folder) devLocation(name string) string {
	if f.devSplit == 1 {
		return name
	}
	return ""
}

func (f *folder) part(name, list, location string, labels []int) (part, error) {
	path, err := firstFile(f.dir, list)
	if err != nil {
		return part{}, err
	}
	if path != "" {
		classes, err := f.readClassList(path)
		return part{name, list, classes}, err
	}
	loc, ok := f.mat.locations[location]
	if !ok {
		e := &invalid.Error{Where: filepath.Join(f.dir, list), Want: "the list of the " + name + " classes", Got: "no such file"}
		if location != "" {
			e.Got = fmt.Sprintf("%v, and no variable %s in %s to derive it from", e.Got, location, f.mat.file)
		}
		return part{}, e
	}
	var classes []int
	for _, i := range loc {
		classes = append(classes, labels[i])
	}
	slices.Sort(classes)
	return part{name, location, slices.Compact(classes)}, nil
}

// readClassList reads names of classes, one a line, and returns the classes in
// ascending order.
func (f *folder) readClassList(path string) ([]int, error) {
	lines, err := readFile(path, readLines)
	if err != nil {
		return nil, err
	}
	index := newClassIndex(f.mat.classes)
	lineOf := make(map[int]int)
	var classes []int
	for _, l := range lines {
		field := fmt.Sprintf("line %d", l.number)
		z, err := index.find(l.text)
		if err != nil {
			return nil, &invalid.Error{
				Where: path,
				Field: field,
				Want:  fmt.Sprintf("one of the %d classes of %s", len(f.mat.classes), f.mat.file),
				Got:   err.Error(),
			}
		}
		if other, taken := lineOf[z]; taken {
			return nil, &invalid.Error{
				Where: path,
				Field: field,
				Want:  "every class once",
				Got:   fmt.Sprintf("%q, which is in line %d as well", l.text, other),
			}
		}
		lineOf[z] = l.number
		classes = append(classes, z)
	}
	if len(classes) == 0 {
		return nil, &invalid.Error{Where: path, Want: "names of classes, one a line", Got: "none"}
	}
	slices.Sort(classes)
	return classes, nil
}

// disjoint checks that no class is in two parts.
func (f *folder) disjoint(parts ...part) error {
	sourceOf := make(map[int]string)
	for _, p := range parts {
		for _, z := range p.classes {
			if other, taken := sourceOf[z]; taken {
				return &invalid.Error{
					Where: f.dir,
					Field: fmt.Sprintf("class %q", f.mat.classes[z]),
					Want:  "one of train, val and test",
					Got:   fmt.Sprintf("it in %s and in %s", other, p.source),
				}
			}
			sourceOf[z] = p.source
		}
	}
	return nil
}

// trainvalListAgrees checks trainvalclasses.txt, where it is there, against the
// seen classes.
func (f *folder) trainvalListAgrees(seen part) error {
	path, err := firstFile(f.dir, "trainvalclasses.txt")
	if err != nil || path == "" {
		return err
	}
	listed, err := f.readClassList(path)
	if err != nil {
		return err
	}
	for z, name := range f.mat.classes {
		_, is := slices.BinarySearch(listed, z)
		if is == seen.has(z) {
			continue
		}
		e := &invalid.Error{Where: path, Want: "the classes of " + seen.source, Got: fmt.Sprintf("%q, which is in neither", name)}
		if !is {
			e.Got = fmt.Sprintf("no %q", name)
		}
		return e
	}
	return nil
}
