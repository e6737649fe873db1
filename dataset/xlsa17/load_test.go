package xlsa17

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/matfile"
)

// What differs between copies of the release, and is read as the same data.
func TestLoadVariants(t *testing.T) {
	for name, change := range map[string]func(s *small, want *dataset.Dataset){
		"as it is": func(*small, *dataset.Dataset) {},
		"no locations at all": func(s *small, want *dataset.Dataset) {
			want.TestSeen = nil
			s.drop("train_loc", "val_loc", "trainval_loc", "test_seen_loc", "test_unseen_loc")
		},
		"texts with line ends of Windows": func(s *small, _ *dataset.Dataset) {
			for name, text := range s.texts {
				s.texts[name] = "\ufeff" + strings.ReplaceAll(text, "\n", " \r\n\r\n")
			}
		},
		"meta of more classes than the .mat, in another order": func(s *small, _ *dataset.Dataset) {
			s.texts[classFile] = "0 000.Heron\n1 006.Swan\n2 005.Duck\n3 004.Young_owl\n4 003.Old_owl\n5 002.Blue_bird\n6 001.Red_bird\n"
			s.texts[descriptionFile] = "1 2 3\n70 30 12\n25 75 33\n90 5 60\n0 100 10\n20 80 0\n100 0 50\n"
		},
		"meta without classes.txt": func(s *small, _ *dataset.Dataset) { s.drop(classFile) },
		"text rounded more than the .mat": func(s *small, want *dataset.Dataset) {
			s.texts[descriptionFile] = "1 0 .5\n.2 .8 0\n0 1 .1\n.9 0 .6\n.3 .8 .3\n.7 .3 .1\n"
			copy(want.Descriptions.Data, []float64{1, 0, .5, .2, .8, 0, 0, 1, .1, .9, 0, .6, .3, .8, .3, .7, .3, .1})
		},
		"meta alone": func(s *small, _ *dataset.Dataset) { s.drop("original_att") },
		"original_att alone, as fractions": func(s *small, want *dataset.Dataset) {
			s.drop(classFile, descriptionFile)
			s.doubles("original_att", 3, 6, want.Descriptions.Data...)
		},
		"names in rows, as SciPy writes them": func(s *small, _ *dataset.Dataset) {
			var letters []uint16
			for j := range len("004.Young_owl") {
				for _, name := range smallClasses {
					letters = append(letters, uint16(fmt.Sprintf("%-13s", name)[j]))
				}
			}
			s.att["allclasses_names"] = matfile.Char("allclasses_names", []int{6, 13}, letters...)
		},
		"names of images": func(s *small, want *dataset.Dataset) {
			var paths []string
			for i := range 12 {
				paths = append(paths, fmt.Sprintf("/data/birds/images/%s/%d.jpg", smallClasses[i%6], i))
				want.IDs = append(want.IDs, fmt.Sprintf("%s/%d.jpg", smallClasses[i%6], i))
			}
			s.cells(varImages, paths...)
		},
		"names in two forms of Unicode, with spaces that do not break": func(s *small, want *dataset.Dataset) {
			want.Classes = slices.Clone(want.Classes)
			want.Classes[0] = "001.Red_é bird"
			s.cells("allclasses_names", append([]string{"001.Red_e\u0301 bird"}, smallClasses[1:]...)...)
			for name, text := range s.texts {
				s.texts[name] = strings.ReplaceAll(text, "001.Red_bird", "001.Red_é\u00a0bird")
			}
		},
		"not described": func(s *small, want *dataset.Dataset) {
			s.texts[descriptionFile] = "-1 0 50\n20 80 -1.00\n0 100 10\n90 5 60\n25 75 33\n70 30 nan\n"
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
		"names that begin with numbers, but for one": func(s *small, want *dataset.Dataset) {
			s.texts[metaAtt] = "1 size::big\nsize::small\n3 colour::red\n"
			want.Attributes = []dataset.Attribute{{Name: "1 size::big", Group: 0}, {Name: "size::small", Group: 1}, {Name: "3 colour::red", Group: 2}}
			want.Groups = []string{"1 size", "size", "3 colour"}
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
			got := testkit.Must(loadSmall(t, s, 0))(t)
			wantSame(t, want, got)
			testkit.NoError(t, check.Errors(got))
		})
	}
}

// Files of the small folder, as errors name them.
const (
	featuresMat = "res101.mat"
	metaAtt     = "meta/attribute_names_with_semantic_group.txt"
)

// Changes after which the small folder is refused, and parts of the error.
func TestLoadRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(s *small)
		want   []string
	}{
		{"several files with features", func(s *small) {
			s.featureFile = "a.mat"
			s.texts["b.mat"] = ""
		}, []string{"Small: expected res101.mat, or one .mat with features beside att_splits.mat, found a.mat and b.mat"}},
		{"an infinite location", func(s *small) { s.column("val_loc", 4, math.Inf(1)) }, []string{"val_loc, entry 2", "+Inf"}},
		{"a label beyond the classes", func(s *small) { s.column("labels", 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 7) }, []string{"res101.mat: labels, entry 12: expected a whole number from 1 to 6", "found 7"}},

		{"fewer names than attributes", func(s *small) { s.texts[metaAtt] = "1 size::big\n2 size::small\n" }, []string{metaAtt, "expected 3 attributes", "found 2"}},

		{"no descriptions", func(s *small) { s.drop("original_att", descriptionFile) }, []string{
			attSplitsFile + ": original_att: expected class descriptions here or in", descriptionFile + ", found neither. The variable att is not read",
		}},
		{"a coding by -1, 0 and 1", func(s *small) { s.doubles("original_att", 3, 6, slices.Repeat([]float64{-1, 0, 1}, 6)...) }, []string{"found a coding by whole numbers, with -1 in 6 of 18 entries"}},
		{"standardised numbers", func(s *small) { s.doubles("original_att", 3, 6, slices.Repeat([]float64{-1, 0.5, -0.25}, 6)...) }, []string{"original_att: expected probabilities", "found the number -0.25, as in standardised numbers"}},
		{"0, 1 and 2", func(s *small) { s.doubles("original_att", 3, 6, slices.Repeat([]float64{0, 1, 2}, 6)...) }, []string{"original_att: expected", "found a largest value of 2, of class 1 and attribute 3. Divide by the largest value of the scale."}},
		{"a percentage among shares", func(s *small) {
			s.doubles("original_att", 3, 6, append(slices.Repeat([]float64{0.4}, 17), 60)...)
		}, []string{"original_att: expected", "found 60, of class 6 and attribute 3, beside more numbers below 1. Write percentages alone"}},
		{"original_att that is normalised", func(s *small) { s.doubles("original_att", 2, 6, slices.Repeat([]float64{0.6, 0.8}, 6)...) }, []string{"original_att: expected", "found rows of length 1, as in an L2-normalised att"}},
		{"descriptions that contradict", func(s *small) {
			s.texts[descriptionFile] = strings.Replace(s.texts[descriptionFile], "20 80", "80 20", 1)
		}, []string{descriptionFile, `class "002.Blue_bird", attribute 1: expected about 0.2`, "found 0.8"}},
		{"more lines than classes.txt has", func(s *small) { s.texts[descriptionFile] += "1 2 3\n" }, []string{descriptionFile, "expected 6 lines, one for each class of", "found 7"}},
		{"a class that classes.txt misses", func(s *small) { s.texts[classFile] = strings.Replace(s.texts[classFile], "Duck", "Dodo", 1) }, []string{classFile, `no line for "005.Duck"`}},
		{"two lines for a class", func(s *small) {
			s.texts[classFile] = strings.Replace(s.texts[classFile], "006.Swan", "005.Duck", 1)
		}, []string{classFile, `expected each class once, found "005.Duck" twice`}},
		{"lines in another order, without classes.txt", func(s *small) {
			s.drop(classFile)
			s.texts[descriptionFile] = "70 30 12\n20 80 0\n0 100 10\n90 5 60\n25 75 33\n100 0 50\n"
		}, []string{descriptionFile, `class "001.Red_bird"`, "expected about 1, as in original_att", "found 0.7"}},
		{"nothing to tell the order by", func(s *small) { s.drop(classFile, "original_att") }, []string{
			classFile + ": expected the classes in the order of " + descriptionFile, "no such file, and no original_att in", attSplitsFile,
		}},
		{"numbers in classes.txt out of order", func(s *small) {
			s.texts[classFile] = "2 002.Blue_bird\n1 001.Red_bird\n3 003.Old_owl\n4 004.Young_owl\n5 005.Duck\n6 006.Swan\n"
		}, []string{classFile, "line 2: expected a number above 2", "found 1"}},

		{"two classes of one name", func(s *small) { s.cells("allclasses_names", append([]string{"002.Blue_bird"}, smallClasses[1:]...)...) }, []string{`allclasses_names, class 2: expected a new name, found "002.Blue_bird"`}},
		{"an attribute with control characters", func(s *small) { s.texts[metaAtt] = "size::big\nsize::small\nf\u202elies\n" }, []string{metaAtt, "line 3: expected a name without control characters"}},

		{"an unknown class in a list", func(s *small) { s.texts["testclasses.txt"] = "005.Duck\n\n007.Heron\n" }, []string{"testclasses.txt: line 3: expected one of the 6 classes", `found "007.Heron"`}},
		{"a location of a validation class", func(s *small) { s.column("train_loc", 1, 4) }, []string{attSplitsFile + ": train_loc: expected only samples of the train classes", `location 4, a sample of class "004.Young_owl"`}},
		{"a class of train and val", func(s *small) { s.texts["valclasses1.txt"] += "002.Blue_bird\n" }, []string{`Small: class "002.Blue_bird": expected one of train, val and test, found it in trainclasses1.txt and in valclasses1.txt`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSmall()
			tt.change(s)
			testkit.Fails(loadSmall(t, s, 0))(t, tt.want...)
		})
	}
}

// Sizes that cannot be those of the data set are refused before the data are decompressed.
func TestSizesAreCheckedBeforeDataAreRead(t *testing.T) {
	const n = 1 << 12
	zeros := func(name string, rows, cols int) []byte {
		data := matfile.Tagged(matfile.Uint8, uint32(rows*cols), make([]byte, rows*cols))
		return matfile.Compress(matfile.Array(name, matlab.Double, 0, []int{rows, cols}, data))
	}
	for want, change := range map[string]func(s *small){
		"features: expected numbers for D dimensions x 12 samples, one for each label, found double 4096x4096": func(s *small) {
			s.features[varFeatures] = zeros(varFeatures, n, n)
		},
		"val_loc: expected locations of at most the 12 samples, found double 4096x4096": func(s *small) {
			s.att[valLoc] = zeros(valLoc, n, n)
		},
		"original_att: expected numbers for attributes x 6 classes, found double 4096x4096": func(s *small) {
			s.att[varOriginal] = zeros(varOriginal, n, n)
		},
	} {
		s := newSmall()
		change(s)
		dir := s.write(t)
		var err error
		if claimed := testkit.Allocated(func() { _, err = Load(t.Context(), dir, 0) }); claimed > n*n/4 {
			t.Errorf("%s: %d bytes were claimed", want, claimed)
		}
		testkit.WantError(t, err, want)
	}
}

func TestDevSplits(t *testing.T) {
	s := newSmall()
	want := []dataset.Split{
		{Train: []int{0, 1, 2}, Val: []int{3}, Test: []int{4, 5}},
		{Train: []int{1, 3}, Val: []int{0, 2}, Test: []int{4, 5}},
	}
	for dev, split := range want {
		got := testkit.Must(loadSmall(t, s, dev+1))(t)
		testkit.Equal(t, fmt.Sprintf("division %d", dev+1), []any{got.Split, got.DevSplits}, []any{split, want})
	}
	for _, tt := range []struct {
		devSplit int
		change   func()
		want     []string
	}{
		{-1, func() {}, []string{"dev_split: expected 1, 2 or 3, found -1"}},
		{3, func() {}, []string{"trainclasses3.txt: expected a file, found no such file"}},
		{2, func() { s.column("trainval_loc", 1, 2, 3, 4, 5, 8, 9) }, []string{attSplitsFile + ": trainval_loc", `location 5, a sample of class "005.Duck"`}},
	} {
		tt.change()
		testkit.Fails(loadSmall(t, s, tt.devSplit))(t, tt.want...)
	}
}

// expectedMini is testdata/expected.json: the numbers that both forms of the fixture were written from.
type expectedMini struct {
	Features [][]float64 `json:"features_sample_by_dim"`
	Labels   []int       `json:"labels"`
	Classes  []string    `json:"classes"`
	Original [][]float64 `json:"original_att_class_by_attribute"`
	Train    []string    `json:"train"`
	Val      []string    `json:"val"`
	Test     []string    `json:"test"`
}

func TestMiniFixture(t *testing.T) {
	var e expectedMini
	testkit.NoError(t, json.Unmarshal([]byte(testkit.Read(t, "testdata/expected.json")), &e))
	u := slices.Concat(e.Original...)
	for i, percent := range u {
		if u[i] = percent / 100; percent < 0 {
			u[i] = math.NaN()
		}
	}
	for _, form := range []string{"plain", "compressed"} {
		d := testkit.Must(Load(t.Context(), filepath.Join("testdata", form), 0))(t)
		testkit.NoError(t, check.Errors(d))
		testkit.NearAll(t, "features", d.Features.Data, slices.Concat(e.Features...), 1e-7)
		testkit.NearAll(t, "descriptions", d.Descriptions.Data, u, 1e-7)
		got := expectedMini{Classes: d.Classes}
		for _, z := range d.Labels {
			got.Labels = append(got.Labels, z+1)
		}
		for n, names := range []*[]string{&got.Train, &got.Val, &got.Test} {
			for _, z := range d.Split.Subsets()[n].Classes {
				*names = append(*names, d.Classes[z])
			}
		}
		testkit.Equal(t, form, got, e, cmpopts.IgnoreFields(expectedMini{}, "Features", "Original"))
		testkit.Equal(t, "name and groups", []any{d.Name, d.Groups, d.GroupOf(), d.Attributes[3].Name},
			[]any{form, []string{"shape", "colour", "habitat", "size"}, []int{0, 0, 0, 1, 1, 1, 1, 2, 2, 3}, "colour::v3"})
	}
}
