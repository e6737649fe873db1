package check

import (
	"testing"

	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/testkit"
)

// Of two groups that two alike classes lack, the one that distinguishes the others is first; a group that
// none of the alike classes lacks is last. Nothing described: the larger group is first.
func TestDescribing(t *testing.T) {
	d := &descriptions.Table{Classes: []string{"a", "b", "c", "d"}}
	for _, a := range []descriptions.Attribute{{Name: "same", Group: "same"}, {Name: "big", Group: "size"}, {Name: "red", Group: "colour"}, {Name: "blue", Group: "colour"}} {
		d.AddAttribute(a)
	}
	d.AddClasses(d.Classes)
	d.Cells = [][]string{{"yes", "yes", "", ""}, {"yes", "no", "", ""}, {"", "no", "yes", "no"}, {"yes", "yes", "no", "yes"}}
	none, half, sizes := 0.0, 0.5, 1.0/6
	want := Order{Alike: 2, Groups: []Group{
		{Name: "colour", Missing: 4, Pairs: 2, Confusion: &none}, {Name: "same", Missing: 1, Pairs: 1, Confusion: &half}, {Name: "size", Confusion: &sizes},
	}}
	testkit.Equal(t, "found", Describing(d), want)
	for z := range d.Cells {
		d.Cells[z] = make([]string, 4)
	}
	if o := Describing(d); o.Alike != 6 || o.Groups[0].Name != "colour" || o.Groups[0].Confusion != nil {
		t.Errorf("nothing described: %+v", o)
	}
}
