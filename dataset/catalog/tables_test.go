package catalog

import (
	"testing"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

func TestListing(t *testing.T) {
	l := &Listing{DataDir: "there", Datasets: []Entry{{Name: "notes"}, {Name: "sick", Layout: "xlsa17", Problems: 1, Problem: "Klass_B"}}}
	testkit.WantText(t, l.Tables()[0].Text(1000, 0), "no data set", "1 problem", "sick: Klass_B", "Folders are in there")
}

func TestReport(t *testing.T) {
	warning := check.Finding{File: "pets", Expected: "different descriptions", Found: "the same", Severity: check.Warning}
	r := Report{OK: true, Warnings: []check.Finding{warning}, Data: tiny.Sound(), Missing: &check.Missing{
		Entries: 3, Of: 12, Classes: []check.Count{{Name: "ant", Entries: 2}, {Name: "bee", Entries: 1}}, Attributes: []check.Count{{Name: "flies", Entries: 3}},
	}}
	testkit.WantText(t, r.Tables()[0].Text(1000, 0), "warning: pets: expected different descriptions, found the same\n", "sound: no errors, 1 warning",
		"3 of 12 entries are empty; most: ant (2), bee (1); most: flies (3)")
}
