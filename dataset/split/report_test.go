package split

import (
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
	want := `┌────────┬─────────┬─────────┬──────────────────┬──────────────────┐
│ subset │ classes │ samples │ share of classes │ share of samples │
├────────┼─────────┼─────────┼──────────────────┼──────────────────┤
│ train  │       1 │       2 │           25.0 % │           25.0 % │
│ val    │       1 │       2 │           25.0 % │           25.0 % │
│ test   │       2 │       4 │           50.0 % │           50.0 % │
└────────┴─────────┴─────────┴──────────────────┴──────────────────┘
in no subset: eel
leaks: 1
  name: class "bee" (val) and class "Bee" (test): their names differ only in case, punctuation or a leading number
attributes of val or test classes that no train class has: a1, a2, a3
2 samples of test classes held out as samples of seen classes: change test_seen in labels.csv, or leave these classes seen
not checked: whether the network that computed the features was trained on test classes (most networks know those of ImageNet)
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReportShortensLeaksOfOneKind(t *testing.T) {
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
	if text := b.String(); strings.Count(text, "  name: class") != 10 || !strings.Contains(text, "  name: 3 more\n") || !strings.Contains(text, "  sample: ") {
		t.Error(text)
	}
}
