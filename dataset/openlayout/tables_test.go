package openlayout

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

// A split has no lines of classes without samples, which may be renamed or deleted.
func TestWriteSplit(t *testing.T) {
	d, path := smallDataset(), filepath.Join(t.TempDir(), SplitsFile)
	d.Classes = append(slices.Clone(d.Classes), "emu")
	testkit.NoError(t, WriteSplit(path, d, d.Split))
	testkit.Equal(t, "lines", strings.Count(testkit.Read(t, path), "\n"), len(d.Classes))
	testkit.Equal(t, "split", testkit.Must(ReadSplits(t.Context(), path, d))(t), []dataset.Split{d.Split})
}

// FuzzLoad holds that whatever the files of a folder are, they end in a data set that check.Errors checks, or
// in errors that name their file.
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
		_ = check.Errors(d) // does not panic
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
	d.AddClasses("emu")
	if err := d.Save(); !errors.Is(err, descriptions.ErrChanged) {
		t.Errorf("a file that another program changed: %v", err)
	}
	testkit.WantText(t, testkit.Read(t, filepath.Join(dir, ClassesFile)), "60%")
}

func TestReadDescriptionsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"class,red\nowl,2\n":         "Write % behind",
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
