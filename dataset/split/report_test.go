package split

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
)

func TestReport(t *testing.T) {
	d := birds("ant", "bee", "Bee", "dog", "eel")
	d.TestSeen = []int{0, 4, 5}
	r := Describe(d, dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{2, 3}}, Tolerance)
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `┌───────┬─────────┬─────────┬──────────────────┬──────────────────┐
│ part  │ classes │ samples │ share of classes │ share of samples │
├───────┼─────────┼─────────┼──────────────────┼──────────────────┤
│ train │       1 │       2 │ 25.0 %           │ 25.0 %           │
│ val   │       1 │       2 │ 25.0 %           │ 25.0 %           │
│ test  │       2 │       4 │ 50.0 %           │ 50.0 %           │
└───────┴─────────┴─────────┴──────────────────┴──────────────────┘
in no part: eel
leaks: 1
  name: class "bee" (val) and class "Bee" (test): names that differ in case, signs or a number before them alone
attributes that a val or test class has and no train class: a1, a2, a3
2 samples of test classes are held out as those of seen ones (test_seen): choose these anew
not known from files: which test classes the network saw that the features are from (those of ImageNet, for most)
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text, err := json.Marshal(Describe(birds("ant", "bee", "cat"), dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{2}}, Tolerance))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"name":"birds","samples":6,"parts":[{"name":"train","classes":["ant"],"samples":2},{"name":"val","classes":["bee"],"samples":2},{"name":"test","classes":["cat"],"samples":2}],"left_out":[],"leaks":[],"uncovered":["a1","a2"],"held_out_unseen":0}`; string(text) != want {
		t.Errorf("as JSON\n%s\nwant\n%s", text, want)
	}
}

// Many leaks of a kind hide no others.
func TestReportCutsManyLeaks(t *testing.T) {
	names := make([]string, 26)
	for z := range names {
		names[z] = strings.Repeat("x", 2+z/2)
		if z%2 == 1 {
			names[z] = strings.ToUpper(names[z])
		}
	}
	d := birds(names...)
	copy(d.Features.Row(5), d.Features.Row(0))
	var s dataset.Split
	for z := range names {
		part := []*[]int{&s.Train, &s.Test}[z%2]
		*part = append(*part, z)
	}
	s.Train, s.Val = s.Train[1:], s.Train[:1]
	var b strings.Builder
	if err := Describe(d, s, Tolerance).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Count(text, "  name: class") != maxLeaks || !strings.Contains(text, "  name: 3 more\n") || !strings.Contains(text, "  sample: ") {
		t.Error(text)
	}
}
