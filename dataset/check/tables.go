package check

import (
	"fmt"
	"strings"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
)

// Tables are those of the groups and of the attributes.
func (q Questionnaire) Tables() (list []*table.Table) {
	add := func(title, column string, questions []Question) {
		if len(questions) == 0 {
			return
		}
		t := table.New(title, column, "entries so far", "explained so far").Right(2, 3)
		for _, q := range questions {
			explained := "-"
			if q.Explained != nil {
				explained = format.Percent(*q.Explained)
			}
			t.Row(q.Name, fmt.Sprint(q.Entries), explained)
		}
		list = append(list, t)
	}
	add("groups, each asked whole", "group", q.Groups)
	add("attributes, asked one by one", "attribute", q.Attributes)
	if !q.Measured && len(list) > 0 {
		reason := "it is measured from ten described classes on."
		if !q.Whole {
			reason = "there are too many classes and attributes to measure it."
		}
		list[len(list)-1].Note("The order is that of the file: %s", reason)
	}
	return list
}

// Table has the subsets, and the leaks as notes.
func (r SplitReport) Table() *table.Table {
	const mostLeaks = 10 // of one kind that are printed
	t := table.New("", "subset", "classes", "samples", "share of classes", "share of samples").Right(4, 5)
	classes := 0
	for _, p := range r.Subsets {
		classes += len(p.Classes)
	}
	share := func(n, total int) string { return format.Percent(float64(n) / float64(max(total, 1))) }
	for _, p := range r.Subsets {
		t.Row(p.Name, len(p.Classes), p.Samples, share(len(p.Classes), classes), share(p.Samples, r.Samples))
	}
	val, test := len(r.Subsets[1].Classes), len(r.Subsets[2].Classes)
	if seen := classes - test; val < FewVal && seen < FewSeen {
		t.Note("val: %s, of %d seen: too few to choose a number of epochs, so that run fixes it",
			format.Count(val, "class"), seen)
	} else if val < FewVal {
		t.Note("val: %s: run chooses the number of epochs by parts of the %d seen classes",
			format.Count(val, "class"), seen)
	}
	if test == 1 {
		t.Note("test: 1 class, on which no accuracy can be measured")
	} else if test < FewTest && classes >= 2*FewTest {
		t.Note("test: %s, since similar classes, and those with photographs in common, stay together",
			format.Count(test, "class"))
	}
	if len(r.LeftOut) > 0 {
		t.Note("in no subset: %s", strings.Join(r.LeftOut, ", "))
	}
	if len(r.Leaks) == 0 {
		t.Note("leaks: none found")
	} else {
		t.Note("leaks: %d", len(r.Leaks))
	}
	byKind := make(map[string]int)
	for _, l := range r.Leaks {
		if byKind[l.Kind]++; byKind[l.Kind] <= mostLeaks {
			t.Note("  %s: %s", l.Kind, l)
		}
	}
	for _, kind := range LeakKinds {
		if more := byKind[kind] - mostLeaks; more > 0 {
			t.Note("  %s: %d more", kind, more)
		}
	}
	if len(r.Uncovered) > 0 {
		t.Note("attributes of val or test classes that no train class has: %s",
			strings.Join(r.Uncovered, ", "))
	}
	if r.HeldOutUnseen > 0 {
		t.Note("%s of test classes held out as samples of seen classes: change test_seen in labels.csv, or "+
			"leave these classes seen", format.Count(r.HeldOutUnseen, "sample"))
	}
	return t.Note("not checked: whether the network that computed the features was trained on test classes " +
		"(most networks know those of ImageNet)")
}
