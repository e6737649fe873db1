package descriptions

import (
	"slices"
	"testing"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

// A table of traits or an answer is refused, or the descriptions with it can be written and read again.
func FuzzAddTraits(f *testing.F) {
	for _, text := range []string{
		",diet,wings,nocturnal\nbarn owl,meat,broad (often),yes\nwren,insects; seeds,,no\n",
		"```csv\nclass,diet\nowl,\"me\nat; \x1b[2J\"\n```\n```\nclass,wings\nowl,\u2028\n",
		"class,diet\nowl,\ufeffmeat|\u202ex\n", "class,class\nowl,1\n", "species;size\nowl;0,5\nwren;1\n",
		"class,a\u00a0b,a b\nowl,1,0\n", "class,none\nowl,none; x\n", "class,x::y\nowl,50%\n",
		"species\ttrait\tvalue\tunit\nowl\tmass\t5,9-6 (8)\tcm\nowl\thue\t0&1\t\n", "trait,wren,owl\nx_1,a,b\nx_2,b,{c & a}\n",
		"class,a-b,a-c\nowl,30,70\nwren,3-May,x\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, attributes := range []string{"name,group\n", "name,group\ndiet::meat,diet\ndiet::seeds,diet\n", "name\nflies\n"} {
			dir := t.TempDir()
			testkit.Write(t, dir, AttributesFile, attributes)
			testkit.Write(t, dir, ClassesFile, "class\nowl\n")
			d := complete(t, dir)
			path := testkit.Write(t, dir, "traits.csv", string(text))
			if _, err := d.AddTraits(t.Context(), path, true); err != nil || d.Save() != nil {
				continue
			}
			var problems invalid.List
			again := ReadFolder(t.Context(), dir, true, &problems)
			testkit.NoError(t, problems.Err())
			testkit.Equal(t, "attributes", again.Attributes, d.Attributes)
			testkit.Equal(t, "classes", again.Classes, d.Classes)
			for z := range d.Cells {
				if !slices.Equal(again.Cells[z], d.Cells[z]) {
					t.Errorf("class %d: found %q, expected %q", z, again.Cells[z], d.Cells[z])
				}
			}
		}
	})
}
