package descriptions

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/testkit"
)

// A table of traits is refused, or the descriptions with it can be written and read again.
func FuzzAddTraits(f *testing.F) {
	for _, text := range []string{
		",diet,wings,nocturnal\nbarn owl,meat,broad (often),yes\nwren,insects; seeds,,no\n",
		"class,diet\nowl,\"me\nat; \x1b[2J\"\n", "class,wings\nowl,\u2028\n",
		"class,diet\nowl,\ufeffmeat|\u202ex\n", "class,class\nowl,1\n", "species;size\nowl;0,5\nwren;1\n",
		"class,a\u00a0b,a b\nowl,1,0\n", "class,none\nowl,none; x\n", "class,x::y\nowl,50%\n",
		"species\ttrait\tvalue\nowl\tmass\t0,5\nowl\thue\tred\nowl\thue\tblue\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, attributes := range []string{"name,group\n", "name,group\ndiet::meat,diet\ndiet::seeds,diet\n", "name\nflies\n"} {
			dir := t.TempDir()
			testkit.Write(t, dir, AttributesFile, attributes)
			testkit.Write(t, dir, ClassesFile, "class\nowl\n")
			addAndReadAgain(t, dir, text)
		}
	})
}

// addAndReadAgain adds a table of traits to the folder dir. If it is accepted, the folder is
// read again as it was written.
func addAndReadAgain(t testkit.TB, dir string, text []byte) (accepted bool) {
	d := complete(t, dir)
	path := testkit.Write(t, dir, "traits.csv", string(text))
	if _, err := d.AddTraits(context.Background(), path, true); err != nil || d.Save() != nil {
		return false
	}
	again := complete(t, dir)
	testkit.Equal(t, "attributes", again.Attributes, d.Attributes)
	testkit.Equal(t, "classes", again.Classes, d.Classes)
	testkit.Equal(t, "drafts", again.Drafts, d.Drafts, cmpopts.EquateEmpty())
	for z := range d.Cells {
		if !slices.Equal(again.Cells[z], d.Cells[z]) {
			t.Errorf("class %d: found %q, expected %q", z, again.Cells[z], d.Cells[z])
		}
	}
	return true
}

// Names of any characters, of classes, groups, words and attributes, are refused or written so that they can
// be read again.
func TestNamesAreReadAgain(t *testing.T) {
	dir, accepted := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringMatching(`\pL{1,6}`)
		name := rapid.OneOf(letters, letters, letters, rapid.String(), rapid.StringMatching(`[\PM\pM '"()\[{:;/,|=-]{1,6}`),
			rapid.SampledFrom([]string{"class", "name", "none", "unknown", strings.Repeat("x", 1001), "e\u0301", "\u00e9"}))
		var b bytes.Buffer
		_ = csv.NewWriter(&b).WriteAll([][]string{ // into memory
			{"class", name.Draw(t, "group"), name.Draw(t, "attribute")},
			{name.Draw(t, "class"), name.Draw(t, "word"), "1"},
			{name.Draw(t, "class"), name.Draw(t, "word"), "0"},
		})
		for _, file := range []string{AttributesFile, ClassesFile, DraftsFile} {
			_ = os.Remove(filepath.Join(dir, file))
		}
		if addAndReadAgain(t, dir, b.Bytes()) {
			accepted++
		}
	})
	if accepted == 0 {
		t.Error("accepted no table")
	}
}
