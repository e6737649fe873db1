package xlsa17

import (
	"math"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/testkit"
)

// What differs between copies of the release, and is read as the same data.
func TestLoadVariants(t *testing.T) {
	for name, change := range map[string]func(s *small, want *dataset.Dataset){
		"as it is":                 func(*small, *dataset.Dataset) {},
		"no train_loc and val_loc": func(s *small, _ *dataset.Dataset) { s.drop("train_loc", "val_loc") },
		"no locations at all": func(s *small, want *dataset.Dataset) {
			want.TestSeen = nil
			s.drop("train_loc", "val_loc", "trainval_loc", "test_seen_loc", "test_unseen_loc")
		},
		"no list of the seen classes": func(s *small, _ *dataset.Dataset) { s.drop("trainvalclasses.txt") },
		"windows line ends, spaces and blank lines": func(s *small, _ *dataset.Dataset) {
			for name, text := range s.texts {
				s.texts[name] = "\ufeff\r\n" + strings.ReplaceAll(text, "\n", "  \t\r\n\r\n")
			}
		},
		"meta in another order": func(s *small, _ *dataset.Dataset) {
			s.texts["meta/"+classFile] = "1 006.Swan\n2 005.Duck\n3 004.Young_owl\n4 003.Old_owl\n5 002.Blue_bird\n6 001.Red_bird\n"
			s.texts["meta/"+descriptionFile] = "70 30 12\n25 75 33\n90 5 60\n0 100 10\n20 80 0\n100 0 50\n"
		},
		"meta of more classes than the .mat": func(s *small, _ *dataset.Dataset) {
			s.texts["meta/"+classFile] = "0 000.Heron\n" + s.texts["meta/"+classFile]
			s.texts["meta/"+descriptionFile] = "1 2 3\n" + s.texts["meta/"+descriptionFile]
		},
		"meta without classes.txt": func(s *small, _ *dataset.Dataset) { s.drop("meta/" + classFile) },
		"text rounded more than the .mat": func(s *small, want *dataset.Dataset) {
			s.texts["meta/"+descriptionFile] = "1 0 .5\n.2 .8 0\n0 1 .1\n.9 0 .6\n.3 .8 .3\n.7 .3 .1\n"
			copy(want.Descriptions.Data, []float64{1, 0, .5, .2, .8, 0, 0, 1, .1, .9, 0, .6, .3, .8, .3, .7, .3, .1})
		},
		"descriptions and names beside the .mat": func(s *small, _ *dataset.Dataset) {
			for _, name := range []string{classFile, descriptionFile, "attribute_names_with_semantic_group.txt"} {
				s.texts[name] = s.texts["meta/"+name]
				s.drop("meta/" + name)
			}
		},
		"meta alone": func(s *small, _ *dataset.Dataset) { s.drop("original_att", "att") },
		"original_att alone, as fractions": func(s *small, want *dataset.Dataset) {
			s.drop("meta/"+classFile, "meta/"+descriptionFile)
			s.doubles("original_att", 3, 6, want.Descriptions.Data...)
		},
		"not described": func(s *small, want *dataset.Dataset) {
			s.texts["meta/"+descriptionFile] = "-1 0 50\n20 80 -1.00\n0 100 10\n90 5 60\n25 75 33\n70 30 nan\n"
			for _, i := range []int{0, 5, 17} {
				want.Descriptions.Data[i] = math.NaN()
			}
		},
		"features in another .mat": func(s *small, _ *dataset.Dataset) { s.featureFile = "googlenet.MAT" },
		"a name without group among others": func(s *small, want *dataset.Dataset) {
			s.texts["meta/attribute_names_with_semantic_group.txt"] = "1 size::big\n2 size\n3 size::small\n"
			want.Attributes = []dataset.Attribute{{Name: "size::big", Group: 0}, {Name: "size", Group: 1}, {Name: "size::small", Group: 0}}
			want.Groups = []string{"size", "size"}
		},
		"names without any group": func(s *small, want *dataset.Dataset) {
			s.drop("meta/attribute_names_with_semantic_group.txt")
			s.texts["predicates.txt"] = "    1\tbig\n    2\tsmall\n    3\tvery red\n"
			want.Attributes = []dataset.Attribute{{Name: "big", Group: -1}, {Name: "small", Group: -1}, {Name: "very red", Group: -1}}
			want.Groups = nil
		},
		"no file of names": func(s *small, want *dataset.Dataset) {
			s.drop("meta/attribute_names_with_semantic_group.txt")
			want.Attributes = []dataset.Attribute{{Name: "attribute_1", Group: -1}, {Name: "attribute_2", Group: -1}, {Name: "attribute_3", Group: -1}}
			want.Groups = nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, want := newSmall(), smallDataset()
			change(s, want)
			got := testkit.Must(loadSmall(t, s, Options{}))(t)
			wantSame(t, want, got)
			testkit.NoError(t, check.Errors(got))
		})
	}
}
