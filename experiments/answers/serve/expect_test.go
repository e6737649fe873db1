package serve

import (
	"fmt"
	"testing"

	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/testkit"
)

// kinds is a table of so many classes: those with an even number are red and large, the others blue and small.
func kinds(classes int) *descriptions.Table {
	t := new(descriptions.Table)
	for _, name := range []string{"spots", "red", "blue", "large", "small"} {
		group := map[string]string{"red": "colour", "blue": "colour", "large": "size", "small": "size"}[name]
		t.AddAttributes(descriptions.Attribute{Name: name, Group: group})
	}
	for i := range classes {
		t.AddClasses(fmt.Sprint("kind ", i))
		row := []string{"no", "yes", "no", "yes", "no"}
		if i%2 == 1 {
			row = []string{"no", "no", "yes", "no", "yes"}
		}
		for m, cell := range row {
			t.Set(i, m, cell)
		}
	}
	return t
}

// Groups are in the order in which they tell most, what is empty is filled, and an entry that contradicts the others
// is the most doubtful one; with few classes nothing is expected.
func TestExpectation(t *testing.T) {
	d := kinds(12)
	d.Set(0, 1, "")
	d.Set(0, 2, "")
	d.Set(5, 4, "no")
	d.SetDraft(descriptions.Draft{Class: "kind 5", Group: "size"}, true)
	e := expectationOf(d)
	if e.Described != 12 || e.Order[2].Name != "" || *e.Order[0].Explained < 0.5 || *e.Order[2].Explained < 0.999 {
		t.Errorf("%+v", e)
	}
	if f := e.Filled["kind 0"]; len(e.Filled) != 1 || f[0] != nil || *f[1] <= *f[2] {
		t.Errorf("filled %v", e.Filled)
	}
	first := e.Doubts[0]
	if first.Class != "kind 5" || !first.Draft || first.Value != 0 || first.Expected < 0.5 || len(first.Similar) != 3 || first.Similar[0].Value != 1 {
		t.Errorf("the most doubtful: %+v", first)
	}
	few := expectationOf(kinds(9))
	testkit.Equal(t, "the first of few", few.Order[0].Name, "")
	if few.Order[0].Explained != nil || len(few.Doubts)+len(few.Filled) > 0 {
		t.Errorf("of nine classes: %+v", few)
	}
}

// The answer is that of the table as it is when it is asked for.
func TestExpect(t *testing.T) {
	s := started(t, Page{})
	before := answered[expectation](t, request(s, "GET", "/expect", nil, nil))
	one := 1.0
	answered[state](t, request(s, "POST", "/edit", edit{Changes: []change{{Class: "bare", Cells: map[string]*float64{attributes[0]: &one}}}}, nil))
	after := answered[expectation](t, request(s, "GET", "/expect", nil, nil))
	testkit.Equal(t, "described", []int{before.Described, after.Described, after.Version}, []int{2, 3, 1})
}
