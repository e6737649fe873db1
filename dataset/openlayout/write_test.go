package openlayout

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
)

func TestWrite(t *testing.T) {
	want := smallDataset()
	second := dataset.Split{Train: []int{1, 2}, Val: []int{0}, Test: []int{3}}
	dir := filepath.Join(t.TempDir(), "new", "Small")
	if err := Write(dir, want, second); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		labelsFile:     "class,id,test_seen\nant,a.jpg,no\nbee,b.jpg,no\ncat,c.jpg,no\ndog,d.jpg,no\nant,e.jpg,yes\nbee,f.jpg,no\n",
		classesFile:    "class,legs::four,legs::six,flies\nant,0,1,0.1\nbee,0,1,1\ncat,1,0,0\ndog,1,0,\n",
		attributesFile: "name,group\nlegs::four,legs\nlegs::six,legs\nflies,flight\n",
		SplitsFile:     "class,part,part2\nant,train,val\nbee,val,train\ncat,train,train\ndog,test,test\n",
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	got, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := diffDatasets(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	splits, err := ReadSplits(t.Context(), filepath.Join(dir, SplitsFile), want.Classes)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]dataset.Split{want.Split, second}, splits); diff != "" {
		t.Errorf("splits (-want +got):\n%s", diff)
	}
}

// drawDataset draws a data set that Check accepts.
func drawDataset(t *rapid.T) *dataset.Dataset {
	name := rapid.String().Filter(func(s string) bool { return isPlain(s) && s != classColumn })
	distinct := func(least int, label string) []string {
		return rapid.SliceOfNDistinct(name, least, least+4, rapid.ID).Draw(t, label)
	}
	d := &dataset.Dataset{Name: "small", Classes: distinct(3, "classes")}
	parts := []*[]int{&d.Split.Train, &d.Split.Val, &d.Split.Test}
	for z := range d.Classes {
		p := z
		if z >= len(parts) { // after one class in each part
			p = rapid.IntRange(0, len(parts)-1).Draw(t, "part")
		}
		*parts[p] = append(*parts[p], z)
		for i := range rapid.IntRange(1, 3).Draw(t, "samples") {
			if p < 2 && i > 0 && rapid.Bool().Draw(t, "held") {
				d.TestSeen = append(d.TestSeen, len(d.Labels))
			}
			d.Labels = append(d.Labels, z)
		}
	}
	grouped := rapid.Bool().Draw(t, "grouped")
	for m, name := range distinct(1, "attributes") {
		a := dataset.Attribute{Name: name, Group: -1}
		if grouped {
			a.Group = rapid.IntRange(0, len(d.Groups)).Draw(t, "group")
			if a.Group == len(d.Groups) {
				d.Groups = append(d.Groups, fmt.Sprintf("%s %d", name, m))
			}
		}
		d.Attributes = append(d.Attributes, a)
	}
	d.Descriptions = dataset.NewMatrix[float64](len(d.Classes), len(d.Attributes))
	for i := range d.Descriptions.Data {
		d.Descriptions.Data[i] = rapid.Float64Range(0, 1).Draw(t, "probability")
		if i%len(d.Attributes) > 0 && rapid.Bool().Draw(t, "undescribed") {
			d.Descriptions.Data[i] = math.NaN()
		}
	}
	d.Features = dataset.NewMatrix[float32](len(d.Labels), rapid.IntRange(1, 3).Draw(t, "dimensions"))
	for i := range d.Features.Data {
		d.Features.Data[i] = rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32).Draw(t, "feature")
	}
	if rapid.Bool().Draw(t, "ids") {
		d.IDs = rapid.SliceOfNDistinct(name, len(d.Labels), len(d.Labels), rapid.ID).Draw(t, "id")
	}
	d.ImageDir, d.Provenance = "/images", &dataset.Provenance{
		Architecture: "resnet50", WeightsSHA256: strings.Repeat("a", 64), StrideIn1x1: rapid.Bool().Draw(t, "stride"),
		Images: dataset.ImagePreprocessing{Fit: dataset.Squash, Size: rapid.IntRange(1, 9).Draw(t, "size"), Mean: [3]float64{0.1, 0.2, 0.3}},
	}
	return d
}

func TestWriteProperty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "Small")
	rapid.Check(t, func(t *rapid.T) {
		want := drawDataset(t)
		if err := dataset.Check(want); err != nil {
			t.Fatal(err)
		}
		if err := Write(dir, want); err != nil {
			t.Fatal(err)
		}
		got, err := Load(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := dataset.Check(got); err != nil {
			t.Fatal(err)
		}
		if want.Fingerprint() != got.Fingerprint() {
			t.Fatalf("(-want +got):\n%s", diffDatasets(want, got))
		}
		if diff := cmp.Diff([]any{want.IDs, want.ImageDir, want.Provenance}, []any{got.IDs, got.ImageDir, got.Provenance}); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(d *dataset.Dataset)
		want  string
	}{
		{"a class that begins with a space", func(d *dataset.Dataset) { d.Classes[0] = " ant" }, `name of a class: expected printable characters that do not begin or end with a space, found " ant"`},
		{"a class of two lines", func(d *dataset.Dataset) { d.Classes[0] = "ant\r\nred" }, `name of a class`},
		{"an attribute like a column", func(d *dataset.Dataset) { d.Attributes[1].Name = "class" }, `name of an attribute: expected printable characters that do not begin or end with a space, other than class, found "class"`},
		{"two attributes of one name", func(d *dataset.Dataset) { d.Attributes[1].Name = "legs::four" }, `names of the attributes: expected different names, found "legs::four" twice`},
		{"two groups of one name", func(d *dataset.Dataset) { d.Groups[1] = "legs" }, `name of a group: expected printable characters that do not begin or end with a space, different for each group, found "legs"`},
		{"groups out of order", func(d *dataset.Dataset) {
			d.Groups[0], d.Groups[1] = "flight", "legs"
			d.Attributes[0].Group, d.Attributes[1].Group, d.Attributes[2].Group = 1, 1, 0
		}, "groups: expected the order of their first attributes, found [flight legs]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := smallDataset()
			c.spoil(d)
			dir := filepath.Join(t.TempDir(), "Small")
			err := Write(dir, d)
			if err == nil || !strings.Contains(err.Error(), "small: "+c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("the folder was created")
			}
		})
	}
	s := smallDataset().Split
	if err := Write(t.TempDir(), smallDataset(), s, s, s); err == nil || !strings.Contains(err.Error(), "at most 3 splits, found 4") {
		t.Errorf("four splits: %v", err)
	}
}

func TestReadSplits(t *testing.T) {
	classes := smallDataset().Classes
	dir := newSmall().write(t)
	got, err := ReadSplits(t.Context(), filepath.Join(dir, SplitsFile), classes)
	if err != nil {
		t.Fatal(err)
	}
	want := []dataset.Split{
		{Train: []int{0, 2}, Val: []int{1}, Test: []int{3}},
		{Train: []int{1, 2}, Val: []int{0}, Test: []int{3}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err = ReadSplits(t.Context(), filepath.Join(dir, SplitsFile), append(classes[:3:3], "eel"))
	wantErrors(t, err,
		`splits.csv: line 5, column class: expected one of the 4 classes of the data set, found "dog"`,
		`splits.csv: class "eel": expected a line for every class of the data set, with an empty part for a class that is left out, found none`,
		"splits.csv: column part: expected at least one test class, found none",
		"splits.csv: column part2: expected at least one test class, found none")
}
