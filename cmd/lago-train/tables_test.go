package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

func TestSplits(t *testing.T) {
	d := tiny.Sound()
	d.Classes[1], d.Classes[3] = "Bee", "bee"
	d.TestSeen = []int{3}
	r := check.Split(d, dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{3}})
		testkit.WantText(t, splitTable(r).Text(1000, 0),
		"│ test   │       1 │       2 │           33.3 % │           33.3 % │",
		"\nin no subset: cat\nleaks: 1\n  name: class \"Bee\" (val) and class \"bee\" (test): their names",
		"\n1 sample of test classes held out", "\nnot checked: whether the network")
	r.Leaks = append(slices.Repeat(r.Leaks, 13), check.Leak{Kind: "sample"})
	text := splitTable(r).Text(1000, 0)
	testkit.WantText(t, text, "\nleaks: 14\n", "  name: 3 more\n", "  sample: ")
	if strings.Count(text, "  name: class") != 10 {
		t.Error(text)
	}
}

func TestListing(t *testing.T) {
	l := &catalog.Listing{DataDir: "there", Datasets: []catalog.Entry{{Name: "notes"}, {Name: "sick", Layout: "xlsa17", Problems: 1, Problem: "Klass_B"}}}
	testkit.WantText(t, listingTable(l).Text(1000, 0), "no data set", "1 problem", "sick: Klass_B", "Folders are in there")
}

func TestReport(t *testing.T) {
	warning := check.Finding{File: "pets", Expected: "different descriptions", Found: "the same", Severity: check.Warning}
	r := catalog.Report{OK: true, Warnings: []check.Finding{warning}, Data: tiny.Sound(), Missing: &check.Missing{
		Entries: 3, Of: 12, Classes: []check.Count{{Name: "ant", Entries: 2}, {Name: "bee", Entries: 1}}, Attributes: []check.Count{{Name: "flies", Entries: 3}},
	}}
	testkit.WantText(t, checkTable(r).Text(1000, 0), "warning: pets: expected different descriptions, found the same\n", "sound: no errors, 1 warning",
		"3 of 12 entries are empty; most: ant (2), bee (1); most: flies (3)")
}
