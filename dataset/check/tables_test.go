package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

func TestTableOfASplit(t *testing.T) {
	d := tiny.Sound()
	d.Classes[1], d.Classes[3] = "Bee", "bee"
	d.TestSeen = []int{3}
	r := Split(d, dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{3}})
	testkit.WantText(t, r.Table().Text(1000, 0),
		"│ test   │       1 │       2 │           33.3 % │           33.3 % │",
		"\nin no subset: cat\nleaks: 1\n  name: class \"Bee\" (val) and class \"bee\" (test): their names",
		"\n1 sample of test classes held out", "\nnot checked: whether the network")
	r.Leaks = append(slices.Repeat(r.Leaks, 13), Leak{Kind: "sample"})
	text := r.Table().Text(1000, 0)
	testkit.WantText(t, text, "\nleaks: 14\n", "  name: 3 more\n", "  sample: ")
	if strings.Count(text, "  name: class") != 10 {
		t.Error(text)
	}
}
