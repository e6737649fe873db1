package openlayout

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/testkit"
)

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
		testkit.WantError(t, err, "labels.csv: line 3, column class: expected a name without control characters, found ")
	}
}
