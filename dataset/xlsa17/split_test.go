package xlsa17

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

func TestDevSplit(t *testing.T) {
	s := newSmall()
	got, err := loadSmall(t, s, Options{DevSplit: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := dataset.Split{Train: []int{1, 3}, Val: []int{0, 2}, Test: []int{4, 5}}
	if diff := cmp.Diff(want, got.Split); diff != "" {
		t.Errorf("split (-want +got):\n%s", diff)
	}

	// train_loc and val_loc belong to the first division: they do not replace the lists of
	// another.
	_, err = loadSmall(t, s, Options{DevSplit: 3})
	wantError(t, err, "trainclasses3.txt: expected the list of the train classes, found no such file")

	// The seen classes are those of all divisions.
	s.set(column("trainval_loc", 1, 2, 3, 4, 5, 8, 9))
	_, err = loadSmall(t, s, Options{DevSplit: 2})
	wantError(t, err, attFile, "trainval_loc", "trainclasses2.txt and valclasses2.txt", `location 5, a sample of class "005.Duck"`)

	for _, n := range []int{-1, 4} {
		_, err := loadSmall(t, newSmall(), Options{DevSplit: n})
		wantError(t, err, "--dev-split: expected 1, 2 or 3")
	}
}

// The samples of test_seen_loc belong to the seen classes as well.
func TestSplitHasAllSamplesOfSeenClasses(t *testing.T) {
	s := newSmall()
	s.set(column("train_loc", 1, 2, 3, 8, 9))
	s.set(column("val_loc", 4))
	d, err := loadSmall(t, s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3, 6, 7, 8, 9}, d.SamplesOf(d.Split.Seen())); diff != "" {
		t.Errorf("samples of the seen classes (-want +got):\n%s", diff)
	}
}

func TestDevSplits(t *testing.T) {
	s := newSmall()
	read := func() ([]dataset.Split, error) {
		d, err := Load(t.Context(), s.write(t), Options{NoCache: true})
		if err != nil {
			return nil, err
		}
		return d.DevSplits, nil
	}
	got, err := read()
	want := []dataset.Split{
		{Train: []int{0, 1, 2}, Val: []int{3}, Test: []int{4, 5}},
		{Train: []int{1, 3}, Val: []int{0, 2}, Test: []int{4, 5}},
	}
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v, %v, expected %v", got, err, want)
	}
	s.drop("trainclasses1.txt", "trainclasses2.txt", "valclasses2.txt")
	if got, err = read(); err != nil || !cmp.Equal(want[:1], got) {
		t.Errorf("from locations alone: %v, %v", got, err)
	}
	s.texts["trainclasses3.txt"] = s.texts["trainvalclasses.txt"]
	_, err = read()
	wantError(t, err, "Small: expected trainclasses2.txt before trainclasses3.txt, found no such file")
}

func TestSplitErrors(t *testing.T) {
	testBadFolders(t, []badFolder{
		{"no class lists and no locations", func(s *small) { s.drop("valclasses1.txt", "val_loc") }, []string{"valclasses1.txt: expected the list of the val classes", "no variable val_loc in"}},
		{"an unknown class in a list", func(s *small) { s.texts["testclasses.txt"] = "005.Duck\n\n007.Heron\n" }, []string{"testclasses.txt: line 3: expected one of the 6 classes", `"007.Heron", which is none of them`}},
		{"an ambiguous class in a list", func(s *small) {
			s.set(cells("allclasses_names", "001.Red_bird", "002.Blue_bird", "003.Old_owl", "004.Young_owl", "005.Duck", "006.Duck"))
			s.drop(metaClass)
			s.texts["testclasses.txt"] = "duck\n"
		}, []string{"testclasses.txt: line 1", `"duck", which may mean "005.Duck" or "006.Duck"`}},
		{"a class twice in a list", func(s *small) { s.texts["trainclasses1.txt"] += "002.Blue_bird\n" }, []string{"trainclasses1.txt: line 4: expected every class once", "also in line 2"}},
		{"a seen class that is in neither", func(s *small) { s.texts["trainvalclasses.txt"] += "005.Duck\n" }, []string{"trainvalclasses.txt: expected the classes of trainclasses1.txt and valclasses1.txt", `"005.Duck", which is in neither`}},
		{"a seen class that is missing", func(s *small) {
			s.texts["trainvalclasses.txt"] = "001.Red_bird\n002.Blue_bird\n003.Old_owl\n"
		}, []string{"trainvalclasses.txt", `no "004.Young_owl"`}},
		{"a class of train and val", func(s *small) { s.texts["valclasses1.txt"] += "002.Blue_bird\n" }, []string{`Small: class "002.Blue_bird": expected one of train, val and test, found it in trainclasses1.txt and in valclasses1.txt`}},
		{"a class of train and test", func(s *small) { s.texts["testclasses.txt"] += "001.Red_bird\n" }, []string{`class "001.Red_bird"`, "in trainclasses1.txt and in testclasses.txt"}},
		{"a class of val and test", func(s *small) {
			s.drop("testclasses.txt")
			s.set(column("test_unseen_loc", 4, 5, 6, 11, 12))
		}, []string{`class "004.Young_owl"`, "in valclasses1.txt and in test_unseen_loc"}},
		{"a list without classes", func(s *small) { s.texts["valclasses1.txt"] = "\n \n" }, []string{"valclasses1.txt: expected names of classes, one per line, found none"}},
		{"a list of the seen classes with an unknown one", func(s *small) { s.texts["trainvalclasses.txt"] += "Heron\n" }, []string{"trainvalclasses.txt: line 5", `"Heron"`}},
	})
}

func TestLocationsErrors(t *testing.T) {
	testBadFolders(t, []badFolder{
		{"a location of 0", func(s *small) { s.set(column("trainval_loc", 1, 0)) }, []string{attFile, "trainval_loc, entry 2: expected a whole number from 1, found 0"}},
		{"a location between two samples", func(s *small) { s.set(column("test_seen_loc", 7.5)) }, []string{attFile, "test_seen_loc, entry 1", "found 7.5"}},
		{"no locations in a variable", func(s *small) { s.set(column("val_loc")) }, []string{attFile, "val_loc: expected a vector of whole numbers, found double 0x1"}},
		{"locations that are text", func(s *small) { s.set(cells("train_loc", "1", "2")) }, []string{attFile, "train_loc: expected a vector of whole numbers, found cell"}},
		{"a location beyond the samples", func(s *small) { s.set(column("test_unseen_loc", 5, 6, 11, 13)) }, []string{attFile, "test_unseen_loc, entry 4: expected a location from 1 to 12", "found 13"}},
		{"train_loc of another class", func(s *small) { s.set(column("train_loc", 1, 2, 3, 4, 7, 8, 9)) }, []string{attFile, "train_loc: expected only samples of the train classes (trainclasses1.txt)", `location 4, a sample of class "004.Young_owl"`}},
		{"train_loc without an image", func(s *small) { s.set(column("train_loc", 1, 2, 7, 8, 9)) }, []string{attFile, "train_loc: expected all samples", `no location 3, a sample of class "003.Old_owl"`}},
		{"train_loc of neither release", func(s *small) {
			s.set(column("test_seen_loc", 7, 8, 10))
			s.set(column("train_loc", 1, 2, 3, 8, 9))
		}, []string{attFile, "train_loc: expected all samples, or all but those of test_seen_loc, of the train classes", "no location 7"}},
		{"val_loc of another class", func(s *small) { s.set(column("val_loc", 4, 5, 10)) }, []string{attFile, "val_loc", `location 5, a sample of class "005.Duck"`}},
		{"val_loc without an image", func(s *small) { s.set(column("test_seen_loc", 7)); s.set(column("val_loc", 4)) }, []string{attFile, "val_loc: expected all samples of the val classes (valclasses1.txt)", `no location 10, a sample of class "004.Young_owl"`}},
		{"trainval_loc of an unseen class", func(s *small) { s.set(column("trainval_loc", 1, 2, 12)) }, []string{attFile, "trainval_loc: expected only samples of the train and val classes", `location 12, a sample of class "006.Swan"`}},
		{"test_seen_loc of an unseen class", func(s *small) { s.set(column("test_seen_loc", 7, 11)) }, []string{attFile, "test_seen_loc", `location 11, a sample of class "005.Duck"`}},
		{"test_unseen_loc of a seen class", func(s *small) { s.set(column("test_unseen_loc", 3, 5, 6, 11, 12)) }, []string{attFile, "test_unseen_loc: expected only samples of the test classes (testclasses.txt)", `location 3, a sample of class "003.Old_owl"`}},
		{"test_unseen_loc without an image", func(s *small) { s.set(column("test_unseen_loc", 5, 6, 12)) }, []string{attFile, "test_unseen_loc: expected all samples of the test classes", `no location 11, a sample of class "005.Duck"`}},
		{"lists that move a class to the unseen", func(s *small) {
			s.texts["trainclasses1.txt"] = "001.Red_bird\n002.Blue_bird\n"
			s.texts["trainvalclasses.txt"] = "001.Red_bird\n002.Blue_bird\n004.Young_owl\n"
			s.texts["testclasses.txt"] += "003.Old_owl\n"
		}, []string{attFile, "train_loc", `location 3, a sample of class "003.Old_owl"`}},
	})
}

// drawn is a random split, in a folder with class lists and locations as in either
// release.
type drawn struct {
	folder *folder
	labels []int
	split  dataset.Split
	partOf []int // of each class: 0, 1 or 2 for train, val or test
}

func drawFolder(t *rapid.T, dir string) drawn {
	d := drawn{folder: &folder{ctx: context.Background(), dir: dir, attSplits: &attSplits{mat: attFile, locations: map[string][]int{}}}}
	parts := []*[]int{&d.split.Train, &d.split.Val, &d.split.Test}
	// At least one class in each part.
	d.partOf = rapid.Permutation(append([]int{0, 1, 2}, rapid.SliceOfN(rapid.IntRange(0, 2), 0, 9).Draw(t, "parts")...)).Draw(t, "part of each class")
	for z, p := range d.partOf {
		d.folder.classes = append(d.folder.classes, fmt.Sprintf("%03d.Class_%d", z+1, z*z))
		*parts[p] = append(*parts[p], z)
		for range rapid.IntRange(1, 4).Draw(t, "samples") {
			d.labels = append(d.labels, z)
		}
	}
	d.labels = rapid.Permutation(d.labels).Draw(t, "labels")

	loc := d.folder.locations
	release := rapid.IntRange(0, 2).Draw(t, "release") // 0 has neither train_loc nor val_loc
	for i, z := range d.labels {
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

// writeLists writes the class lists, each in any order.
func (d drawn) writeLists(t *rapid.T) {
	for name, classes := range map[string][]int{
		"trainclasses1.txt":   d.split.Train,
		"valclasses1.txt":     d.split.Val,
		"trainvalclasses.txt": d.split.Seen(),
		"testclasses.txt":     d.split.Test,
	} {
		var text strings.Builder
		for _, z := range rapid.Permutation(classes).Draw(t, name) {
			fmt.Fprintln(&text, d.folder.classes[z])
		}
		if err := os.WriteFile(filepath.Join(d.folder.dir, name), []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// For any classes, samples and release, the split is that of the lists; and a single
// location of a class of another part is found.
func TestSplitProperty(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		d := drawFolder(t, dir)
		d.writeLists(t)
		got, err := d.folder.split(1, d.labels)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d.split, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}

		loc := d.folder.locations
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(loc))).Draw(t, "variable")
		allowed := map[string][]int{trainLoc: {0}, valLoc: {1}, trainvalLoc: {0, 1}, testSeenLoc: {0, 1}, testUnseenLoc: {2}}[name]
		stranger := rapid.SampledFrom(d.samplesOutside(allowed)).Draw(t, "stranger")
		at := rapid.IntRange(0, len(loc[name])).Draw(t, "at")
		loc[name] = slices.Insert(loc[name], at, stranger)
		_, err = d.folder.split(1, d.labels)
		var e *invalid.Error
		if !errors.As(err, &e) || e.Field != name || !strings.Contains(e.Got, strconv.Quote(d.folder.classes[d.labels[stranger]])) {
			t.Fatalf("with location %d in %s the error is %v", stranger+1, name, err)
		}
	})
}

// samplesOutside returns the samples of other parts.
func (d drawn) samplesOutside(parts []int) []int {
	var samples []int
	for i, z := range d.labels {
		if !slices.Contains(parts, d.partOf[z]) {
			samples = append(samples, i)
		}
	}
	return samples
}
