package xlsa17

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
)

func loadQuietly(t *testing.T, dir string, division int) *dataset.Dataset {
	t.Helper()
	log, _ := quietLog()
	d, err := Load(t.Context(), dir, Options{DevSplit: division, NoCache: true, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if err := dataset.Check(d); err != nil {
		t.Error(err)
	}
	return d
}

// What Load reads, Write writes so that it is read as the same, to the bit.
func TestWriteAndLoad(t *testing.T) {
	for name, dir := range map[string]string{
		"small": newSmall().write(t), "plain": "testdata/plain", "compressed": "testdata/compressed",
	} {
		t.Run(name, func(t *testing.T) {
			want := loadQuietly(t, dir, 1)
			divisions, err := Splits(t.Context(), dir, want.Labels)
			if err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(t.TempDir(), "new", name)
			if err := Write(copied, want, divisions[1:]...); err != nil {
				t.Fatal(err)
			}
			for n := range divisions {
				want, got := loadQuietly(t, dir, n+1), loadQuietly(t, copied, n+1)
				if want.Fingerprint() != got.Fingerprint() {
					t.Errorf("division %d (-want +got):\n%s", n+1, diffDatasets(want, got))
				}
			}
		})
	}
}

func TestSplits(t *testing.T) {
	s := newSmall()
	dir := s.write(t)
	labels := smallDataset().Labels
	got, err := Splits(t.Context(), dir, labels)
	if err != nil {
		t.Fatal(err)
	}
	want := []dataset.Split{
		{Train: []int{0, 1, 2}, Val: []int{3}, Test: []int{4, 5}},
		{Train: []int{1, 3}, Val: []int{0, 2}, Test: []int{4, 5}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.drop("trainclasses1.txt", "trainclasses2.txt", "valclasses2.txt")
	if got, err = Splits(t.Context(), s.write(t), labels); err != nil || !cmp.Equal(want[:1], got) {
		t.Errorf("of locations alone: %v, %v", got, err)
	}
	s.texts["trainclasses3.txt"] = s.texts["trainvalclasses.txt"]
	_, err = Splits(t.Context(), s.write(t), labels)
	wantError(t, err, "Small: expected trainclasses2.txt before trainclasses3.txt, found no such file")
}

// What other programs read: descriptions, and locations that part the samples.
func TestWrittenVariables(t *testing.T) {
	d := smallDataset()
	d.Descriptions.Data[0] = math.NaN()
	d.Attributes = slices.Clone(d.Attributes)
	dir := filepath.Join(t.TempDir(), "small")
	if err := Write(dir, d); err != nil {
		t.Fatal(err)
	}
	vars, err := matlab.Read(t.Context(), filepath.Join(dir, "att_splits.mat"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float32{
		trainLoc: {1, 2, 3, 8, 9}, valLoc: {4}, trainvalLoc: {1, 2, 3, 4, 8, 9}, testSeenLoc: {7, 10}, testUnseenLoc: {5, 6, 11, 12},
	} {
		if diff := cmp.Diff(want, vars[name].Float32); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff([]float32{-1, 0, 0.5}, vars[varOriginal].Column(0)); diff != "" {
		t.Errorf("original_att of the first class (-want +got):\n%s", diff)
	}
	for z, want := range [][]float32{{0, 0, 1}, {0.2 / 0.824621125, 0.8 / 0.824621125, 0}} { // sqrt(0.2^2 + 0.8^2)
		if diff := cmp.Diff(want, vars[varNormalised].Column(z), cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("att of class %d (-want +got):\n%s", z, diff)
		}
	}
	if diff := cmp.Diff(smallClasses, vars[varClasses].Strings); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	d.TestSeen = nil
	none := filepath.Join(t.TempDir(), "none")
	if err := Write(none, d); err != nil {
		t.Fatal(err)
	}
	if vars, err = matlab.Read(t.Context(), filepath.Join(none, "att_splits.mat")); err != nil || vars[testSeenLoc] != nil {
		t.Errorf("where none are held out there is %v, %v", vars[testSeenLoc], err)
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(d *dataset.Dataset)
		want  string
	}{
		{"a class that ends with a space", func(d *dataset.Dataset) { d.Classes[0] = "ant " }, `name of a class: expected letters and signs in one line that begin and end with no space, found "ant "`},
		{"an attribute of two lines", func(d *dataset.Dataset) { d.Attributes[0].Name = "a\nb" }, `name of an attribute: expected letters and signs in one line`},
		{"two attributes of one name", func(d *dataset.Dataset) { d.Attributes[1].Name = "size::big" }, `found "size::big" twice`},
		{"groups of other names", func(d *dataset.Dataset) { d.Groups[0] = "extent" }, "attributes: expected names that tell their groups"},
		{"groups that are not known", func(d *dataset.Dataset) {
			d.Groups = nil
			for m := range d.Attributes {
				d.Attributes[m].Group = -1
			}
		}, "attributes: expected names that tell their groups"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := smallDataset()
			d.Classes = slices.Clone(d.Classes)
			c.spoil(d)
			dir := filepath.Join(t.TempDir(), "small")
			wantError(t, Write(dir, d), "small: ", c.want)
			if _, err := os.Stat(dir); err == nil {
				t.Error("the folder is there")
			}
		})
	}
	d := smallDataset()
	wantError(t, Write(t.TempDir(), d, d.Split, d.Split, d.Split), "4 divisions")
	wantError(t, Write(t.TempDir(), d, dataset.Split{Train: []int{0}, Val: []int{3}, Test: []int{4, 5}}), "small: division 2: expected the seen and unseen classes of the first")
}

func TestNameGroups(t *testing.T) {
	d := smallDataset()
	if NameGroups(d) != d {
		t.Error("names that tell their groups are changed")
	}
	d.Groups = []string{"extent", "colour"}
	d.Attributes[2].Name = "red"
	named := NameGroups(d)
	want := []dataset.Attribute{{Name: "extent::size::big", Group: 0}, {Name: "extent::size::small", Group: 0}, {Name: "colour::red", Group: 1}}
	if diff := cmp.Diff(want, named.Attributes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d.Attributes[2].Name != "red" {
		t.Error("the data set itself is changed")
	}
	if !tellsGroups(named) {
		t.Error("the names don't tell their groups")
	}
	d.Groups = nil
	if NameGroups(d) != d {
		t.Error("groups that are not known are named")
	}
}

// Whatever names have, groups are told by them after NameGroups if they can be.
func TestNameGroupsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab:]{1,3}`)
		d := &dataset.Dataset{}
		for m, name := range rapid.SliceOfNDistinct(word, 1, 6, rapid.ID).Draw(t, "names") {
			k := rapid.IntRange(0, len(d.Groups)).Draw(t, "group")
			if k == len(d.Groups) {
				d.Groups = append(d.Groups, "group "+strings.Repeat("x", m))
			}
			d.Attributes = append(d.Attributes, dataset.Attribute{Name: name, Group: k})
		}
		if named := NameGroups(d); !tellsGroups(named) {
			t.Fatalf("%v don't tell %v", named.Attributes, d.Groups)
		}
	})
}
