package openlayout

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

func TestWrite(t *testing.T) {
	want := smallDataset()
	second := dataset.Split{Train: []int{1, 2}, Val: []int{0}, Test: []int{3}}
	dir := filepath.Join(t.TempDir(), "new", "Small")
	testkit.NoError(t, Write(dir, want, second))
	written := newSmall()
	delete(written, featuresCSV)
	written[ClassesFile] = "class,legs::four,legs::six,flies\nant,0,1,0.1\nbee,0,1,1\ncat,1,0,0\ndog,1,0,\n"
	for name, text := range written {
		testkit.Equal(t, name, testkit.Read(t, filepath.Join(dir, name)), text)
	}
	got := testkit.Must(Load(t.Context(), dir, Options{}))(t)
	wantSame(t, want, got)
	splits := testkit.Must(ReadSplits(t.Context(), filepath.Join(dir, SplitsFile), want))(t)
	testkit.Equal(t, "splits", splits, []dataset.Split{want.Split, second})
}

// A split has no lines of classes without samples, which may be renamed or deleted.
func TestWriteSplit(t *testing.T) {
	d, path := smallDataset(), filepath.Join(t.TempDir(), SplitsFile)
	d.Classes = append(slices.Clone(d.Classes), "emu")
	testkit.NoError(t, WriteSplit(path, d, d.Split))
	testkit.Equal(t, "lines", strings.Count(testkit.Read(t, path), "\n"), len(d.Classes))
	testkit.Equal(t, "split", testkit.Must(ReadSplits(t.Context(), path, d))(t), []dataset.Split{d.Split})
}

// Columns of one name could not be read again; the error names the source, not where it would be written.
func TestWriteRefusesAttributesOfOneName(t *testing.T) {
	d, dir := smallDataset(), filepath.Join(t.TempDir(), "new")
	d.Source, d.Attributes[2].Name = "source", d.Attributes[0].Name
	testkit.WantError(t, Write(dir, d), `source: attribute 3: expected a different name for each attribute, as the columns of classes.csv need, found "legs::four", as attribute 1. Rename`)
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder was made")
	}
}

// drawDataset draws a data set that Check accepts.
func drawDataset(t *rapid.T) *dataset.Dataset {
	name := rapid.String().Filter(func(s string) bool {
		as, want := dataset.CheckName(s)
		return want == "" && as == s && s != classColumn && utf8.ValidString(s)
	})
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
		d.Features.Data[i] = rapid.Float32Range(-1, 1).Draw(t, "feature")
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
		testkit.NoError(t, check.Errors(want))
		testkit.NoError(t, Write(dir, want))
		got := testkit.Must(Load(t.Context(), dir, Options{}))(t)
		testkit.NoError(t, check.Errors(got))
		wantSame(t, want, got)
		testkit.Equal(t, "fingerprint", want.Fingerprint(), got.Fingerprint())
	})
}

// FuzzLoad holds that whatever the files of a folder are, they end in a data set that check.Errors accepts
// and that is read as it is written, or in errors that name their file.
func FuzzLoad(f *testing.F) {
	small := newSmall()
	f.Add(small[featuresCSV], small[labelsFile], small[ClassesFile], small[AttributesFile], small[SplitsFile])
	f.Add("1\n2\n3\n", "class\na\nb\nc\n", "class,x\na,1\nb,\nc,no\n", "name\nx\n", "part,class\ntrain,a\nval,b\ntest,c\n")
	f.Add("1\nnan\n", "\ufeffclass,id\r\na,\"\n", "class,class\n,\n", "group,name\n,\n", "class;part")
	f.Fuzz(func(t *testing.T, features, labels, classes, attributes, splits string) {
		dir := texts{featuresCSV: features, labelsFile: labels, ClassesFile: classes, AttributesFile: attributes, SplitsFile: splits}.write(t, t.TempDir())
		d, err := Load(t.Context(), dir, Options{})
		if err != nil {
			var e *invalid.Error
			if !errors.As(err, &e) || filepath.Dir(e.Where) != dir && e.Where != dir {
				t.Fatalf("%#v does not name the file", err)
			}
			return
		}
		if check.Errors(d) != nil {
			return
		}
		testkit.NoError(t, os.Remove(filepath.Join(dir, featuresCSV)))
		testkit.NoError(t, Write(dir, d))
		again := testkit.Must(Load(t.Context(), dir, Options{}))(t)
		if d.Fingerprint() != again.Fingerprint() {
			wantSame(t, d, again)
			t.Error("the fingerprints differ")
		}
	})
}

// Reading completes what the files lack, and writing keeps what they have, also where a kill left
// attributes.csv with an attribute more.
func TestDescriptions(t *testing.T) {
	dir := texts{
		labelsFile:     "class\nwren\nowl\nwren\n",
		AttributesFile: "name,group\nred,colour\nblue,colour\n",
		ClassesFile:    "red,class\n\"50%\",owl\n",
	}.write(t, t.TempDir())
	d := testkit.Must(ReadDescriptions(t.Context(), dir))(t)
	if !slices.Equal(d.Classes, []string{"owl", "wren"}) || d.Added.Classes != 1 || d.Added.Attributes != 1 {
		t.Errorf("%+v", d)
	}
	if u := d.Values(); u.Row(0)[0] != 0.5 || !math.IsNaN(u.Row(0)[1]) || !math.IsNaN(u.Row(1)[0]) {
		t.Errorf("%v", u.Data)
	}
	testkit.Equal(t, "percentage", d.Scale()(0.1), "10%")
	testkit.NoError(t, d.Save())
	testkit.NoError(t, d.Save()) // what it wrote itself is no change
	for name, want := range map[string]string{
		AttributesFile: "name,group\nred,colour\nblue,colour\n", ClassesFile: "class,red,blue\nowl,50%,\nwren,,\n",
	} {
		testkit.Equal(t, name, testkit.Read(t, filepath.Join(dir, name)), want)
	}
	testkit.Write(t, dir, ClassesFile, "class,red,blue\nowl,60%,\n")
	d.AddClass("emu")
	if err := d.Save(); !errors.Is(err, descriptions.ErrChanged) {
		t.Errorf("a file that another program changed: %v", err)
	}
	testkit.WantText(t, testkit.Read(t, filepath.Join(dir, ClassesFile)), "60%")
}

func TestReadDescriptionsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"class,red\nowl,2\n":         "above 1",
		"class,red,green\nowl,1,1\n": `line 1, column 3: expected the name of an attribute of attributes.csv, found "green"`,
	} {
		testkit.Fails(ReadDescriptions(t.Context(), texts{AttributesFile: "name\nred\n", ClassesFile: text}.write(t, t.TempDir())))(t, want)
	}
	// What classes.csv could not hold is refused before it is written.
	for _, name := range []string{`""`, "a\u202eb", "a\u2028b", "a\ufeffb", "a\vb"} {
		_, err := ReadDescriptions(t.Context(), texts{labelsFile: "class,id\nowl,1\n" + name + ",2\n"}.write(t, t.TempDir()))
		testkit.WantError(t, err, "labels.csv: line 3, column class: expected a name")
	}
}
