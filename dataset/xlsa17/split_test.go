package xlsa17

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lago-train/lago-train/dataset"
)

func TestLoadDevSplit(t *testing.T) {
	got, err := loadSmall(t, newSmall(), Options{DevSplit: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := dataset.Split{Train: []int{1, 3}, Val: []int{0, 2}, Test: []int{4, 5}}
	if diff := cmp.Diff(want, got.Split); diff != "" {
		t.Errorf("split (-want +got):\n%s", diff)
	}

	// The locations are of the first division, so they do not stand in for the
	// lists of another.
	_, err = loadSmall(t, newSmall(), Options{DevSplit: 3})
	if err == nil || !strings.Contains(err.Error(), "trainclasses3.txt: expected the list of the train classes, found no such file") {
		t.Errorf("without lists of division 3: %v", err)
	}
	for _, n := range []int{-1, 4} {
		if _, err := loadSmall(t, newSmall(), Options{DevSplit: n}); err == nil {
			t.Errorf("DevSplit %d is accepted", n)
		}
	}
}

func TestSplitErrors(t *testing.T) {
	testSpoiled(t, []spoiled{
		{"no class lists and no locations", func(s *small) { s.drop("valclasses1.txt", "val_loc") }, []string{"valclasses1.txt: expected the list of the val classes", "no variable val_loc in"}},
		{"an unknown class in a list", func(s *small) { s.texts["testclasses.txt"] = "005.Duck\n\n007.Heron\n" }, []string{"testclasses.txt: line 3: expected one of the 6 classes", `"007.Heron", which is none of them`}},
		{"an ambiguous class in a list", func(s *small) {
			s.set(cells("allclasses_names", "001.Red_bird", "002.Blue_bird", "003.Old_owl", "004.Young_owl", "005.Duck", "006.Duck"))
			s.drop(metaClass)
			s.texts["testclasses.txt"] = "duck\n"
		}, []string{"testclasses.txt: line 1", `"duck", which may mean "005.Duck" or "006.Duck"`}},
		{"a class twice in a list", func(s *small) { s.texts["trainclasses1.txt"] += "002.Blue_bird\n" }, []string{"trainclasses1.txt: line 4: expected every class once", "in line 2 as well"}},
		{"a seen class that is in neither", func(s *small) { s.texts["trainvalclasses.txt"] += "005.Duck\n" }, []string{"trainvalclasses.txt: expected the classes of trainclasses1.txt and valclasses1.txt", `"005.Duck", which is in neither`}},
		{"a seen class that is missing", func(s *small) {
			s.texts["trainvalclasses.txt"] = "001.Red_bird\n002.Blue_bird\n003.Old_owl\n"
		}, []string{"trainvalclasses.txt", `no "004.Young_owl"`}},
		{"a location beyond the samples", func(s *small) { s.set(column("test_unseen_loc", 5, 6, 11, 13)) }, []string{attFile, "test_unseen_loc, entry 4: expected a location from 1 to 12", "found 13"}},
		{"train_loc of another class", func(s *small) { s.set(column("train_loc", 1, 2, 3, 4, 7, 8, 9)) }, []string{attFile, "train_loc: expected only images of the train classes (trainclasses1.txt)", `location 4, an image of class "004.Young_owl"`}},
		{"train_loc without an image", func(s *small) { s.set(column("train_loc", 1, 2, 7, 8, 9)) }, []string{attFile, "train_loc: expected all images", `no location 3, an image of class "003.Old_owl"`}},
		{"train_loc of neither release", func(s *small) {
			s.set(column("test_seen_loc", 7, 8, 10))
			s.set(column("train_loc", 1, 2, 3, 8, 9))
		}, []string{attFile, "train_loc: expected all images, or all but those of test_seen_loc, of the train classes", "no location 7"}},
		{"val_loc of another class", func(s *small) { s.set(column("val_loc", 4, 5, 10)) }, []string{attFile, "val_loc", `location 5, an image of class "005.Duck"`}},
		{"trainval_loc of an unseen class", func(s *small) { s.set(column("trainval_loc", 1, 2, 12)) }, []string{attFile, "trainval_loc: expected only images of the train and val classes", `location 12, an image of class "006.Swan"`}},
		{"test_seen_loc of an unseen class", func(s *small) { s.set(column("test_seen_loc", 7, 11)) }, []string{attFile, "test_seen_loc", `location 11, an image of class "005.Duck"`}},
		{"test_unseen_loc of a seen class", func(s *small) { s.set(column("test_unseen_loc", 3, 5, 6, 11, 12)) }, []string{attFile, "test_unseen_loc: expected only images of the test classes (testclasses.txt)", `location 3, an image of class "003.Old_owl"`}},
		{"test_unseen_loc without an image", func(s *small) { s.set(column("test_unseen_loc", 5, 6, 12)) }, []string{attFile, "test_unseen_loc: expected all images of the test classes", `no location 11, an image of class "005.Duck"`}},
		{"lists that move a class to the unseen", func(s *small) {
			s.texts["trainclasses1.txt"] = "001.Red_bird\n002.Blue_bird\n"
			s.texts["trainvalclasses.txt"] = "001.Red_bird\n002.Blue_bird\n004.Young_owl\n"
			s.texts["testclasses.txt"] += "003.Old_owl\n"
		}, []string{attFile, "train_loc", `location 3, an image of class "003.Old_owl"`}},
	})
}
