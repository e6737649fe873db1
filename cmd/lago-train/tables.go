package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
)

// What can be printed. The JSON output is that of the results.
type (
	checkReport struct{ catalog.Report }
	datasetList struct{ *catalog.Listing }
	described   struct {
		catalog.Described
		As string `json:"-"` // the data set as it is named in commands
	}
	questionOrder struct{ check.Questionnaire }
	// splitReports are the checks of one or more splits of a data set.
	splitReports struct {
		Splits  []check.SplitReport `json:"splits"`
		Written string              `json:"-"` // where a proposal is
	}
)

// Tables has the problems one per line, and what was checked if there are none.
func (r checkReport) Tables() []*table.Table {
	t := table.New("")
	for _, p := range r.Errors {
		t.Note("%s", p)
	}
	for _, p := range r.Warnings {
		t.Note("warning: %s", p)
	}
	if r.Next != "" {
		t.Note("next: %s", r.Next)
	}
	found := count(len(r.Errors), "error") + ", " + count(len(r.Warnings), "warning")
	if d := r.Data; r.OK {
		found = d.Name + ": " + found
		t.Note("fingerprint: %s", d.Fingerprint())
		t.Note("checked: %s of %s, %s (%d train, %d val, %d test), %s, %s into train, val and test, %s of "+
			"seen classes held out", format.Count(d.Features.Rows, "sample"),
			format.Count(d.Features.Cols, "feature"),
			format.Count(len(d.Classes), "class"), len(d.Split.Train), len(d.Split.Val), len(d.Split.Test),
			inGroups(len(d.Attributes), len(d.Groups)), format.Count(len(d.Splits()), "split"),
			format.Count(len(d.TestSeen), "sample"))
		t.Note("%s", missingNote(r.Missing))
		for _, text := range doubtNotes(r.Doubts) {
			t.Note("%s", text)
		}
	}
	return []*table.Table{t.Note("%s", found)}
}

// doubtNotes say which entries are doubtful, and how missing ones are imputed.
func doubtNotes(d *check.Doubts) (notes []string) {
	if d == nil {
		return nil
	}
	for _, doubt := range d.Most {
		notes = append(notes, "doubtful: "+doubt.String())
	}
	if d.Far > len(d.Most) {
		notes = append(notes, fmt.Sprintf("doubtful: %d entries in all differ from what is expected by "+
			"more than a half; --doubts FILE writes them", d.Far))
	}
	if d.Given < impute.LeastGiven {
		notes = append(notes, fmt.Sprintf("imputed: only %s of the entries are given, so that incomplete "+
			"candidates complete each other", format.Percent(d.Given)))
	}
	if !d.Whole {
		notes = append(notes, "imputed: there are too many classes and attributes to take all together; "+
			"attributes are taken in several parts")
	}
	return notes
}

func count(n int, noun string) string {
	if n == 0 {
		return "no " + noun + "s"
	}
	return format.Count(n, noun)
}

func inGroups(attributes, groups int) string {
	if groups == 0 {
		return format.Count(attributes, "attribute") + " without groups"
	}
	return format.Count(attributes, "attribute") + " in " + format.Count(groups, "group")
}

// missingNote says how many entries are missing, and where most.
func missingNote(m *check.Missing) string {
	if m.Entries == 0 {
		return fmt.Sprintf("descriptions: all %d entries are filled in", m.Of)
	}
	const most = 3
	s := fmt.Sprintf("descriptions: %d of %d entries are empty", m.Entries, m.Of)
	for _, counts := range [][]check.Count{m.Classes, m.Attributes} {
		var names []string
		for _, c := range counts[:min(len(counts), most)] {
			names = append(names, fmt.Sprintf("%s (%d)", format.Printable(c.Name), c.Entries))
		}
		s += "; most: " + strings.Join(names, ", ")
	}
	return s
}

// Tables has one data set per line, and what is wrong with those that are not usable.
func (l datasetList) Tables() []*table.Table {
	t := table.New("", "data set", "layout", "samples x features", "train / val / test classes",
		"attributes / groups", "status").Right(3, 4, 5)
	for _, e := range l.Datasets {
		switch {
		case e.Usable:
			t.Row(e.Name, cmp.Or(e.Layout, "generated"), fmt.Sprintf("%d x %d", e.Samples, e.Dimensions),
				fmt.Sprintf("%d/%d/%d", e.Train, e.Val, e.Test), fmt.Sprintf("%d/%d", e.Attributes,
					e.Groups), "usable")
		case e.Problems == 0:
			t.Row(e.Name, "-", "-", "-", "-", "no data set")
		default:
			t.Row(e.Name, cmp.Or(e.Layout, "-"), "-", "-", "-", format.Count(e.Problems, "problem"))
			t.Note("%s: %s", e.Name, e.Problem)
		}
	}
	return []*table.Table{
		t.Note("Folders are in %s; others: lago-train dataset fetch cub, awa2 or sun.", l.DataDir),
	}
}

// Tables say what was written and what was not understood, and the next step.
func (r described) Tables() []*table.Table {
	if r.Layout == "" {
		return []*table.Table{r.written()}
	}
	read := table.New("read: "+r.Layout, "trait", "read as", "values (classes)")
	for _, trait := range r.Traits {
		read.Row(trait.Column, trait.Kind, valuesOf(trait))
	}
	if !r.Written {
		return []*table.Table{read.Note("nothing was written")}
	}
	return []*table.Table{read, r.written()}
}

// valuesOf lists the first values of a trait with the numbers of their classes, and counts those of one
// class.
func valuesOf(t descriptions.Trait) string {
	const most = 8
	var texts []string
	alone := 0
	for i, v := range t.Values {
		if i < most {
			texts = append(texts, fmt.Sprintf("%s %d", v.Value, v.Classes))
		}
		if v.Classes == 1 {
			alone++
		}
	}
	if more := len(t.Values) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("%d others", more))
	}
	text := strings.Join(texts, ", ")
	if alone > 0 {
		text += fmt.Sprintf("; %d of one class only", alone)
	}
	return text
}

func (r described) written() *table.Table {
	t := table.New(fmt.Sprintf("%s: %s described by %s, in %s", r.Name, format.Count(r.Classes, "class"),
		format.Count(r.Attributes, "attribute"), r.Dir))
	t.Note("added: %s, %s", format.Count(r.AddedClasses, "class"),
		format.Count(r.AddedAttributes, "attribute"))
	if r.Attributes == 0 {
		return t.Note("attributes are added by one of").
			Note("  lago-train dataset describe %s --like OTHER         those of a similar data set", r.As).
			Note("  lago-train dataset describe %s --from traits.csv    those of a "+
				"table with a line per class", r.As).
			Note("  lago-train serve %s                                 entered on a page", r.As).
			Note("  lines NAME,GROUP in attributes.csv; then dataset describe again")
	}
	if r.Filled > 0 {
		t.Note("filled: no in %s; classes.csv as it was is %s", format.Count(r.Filled, "empty cell"), r.Kept)
	}
	t.Note("empty: %d of %d entries of classes.csv", r.Missing, r.Classes*r.Attributes)
	for _, text := range r.Notes {
		t.Note("note: %s", text)
	}
	switch {
	case r.Drafts > 0:
		t.Note("drafts: %s of classes are to be checked on the page", format.Count(r.Drafts, "group")).
			Note("next: lago-train serve %s", r.As)
	case r.Missing > 0:
		t.Note("next: lago-train serve %s   # or fill in classes.csv", r.As)
	}
	return t.Note("then: lago-train dataset check %s   # names the next step", r.As)
}

// Tables are those of the groups and of the attributes.
func (o questionOrder) Tables() (tables []*table.Table) {
	for _, of := range []struct {
		title, column string
		questions     []check.Question
	}{{"groups, each asked whole", "group", o.Groups}, {
		"attributes, asked one by one", "attribute", o.Attributes,
	}} {
		if len(of.questions) == 0 {
			continue
		}
		t := table.New(of.title, of.column, "entries so far", "explained so far").Right(2, 3)
		for _, q := range of.questions {
			explained := "-"
			if q.Explained != nil {
				explained = format.Percent(*q.Explained)
			}
			t.Row(q.Name, fmt.Sprint(q.Entries), explained)
		}
		tables = append(tables, t)
	}
	if !o.Measured && len(tables) > 0 {
		reason := "it is measured from ten described classes on."
		if !o.Whole {
			reason = "there are too many classes and attributes to measure it."
		}
		tables[len(tables)-1].Note("The order is that of the file: %s", reason)
	}
	return tables
}

// Tables has those of each split, and where a proposal is.
func (r splitReports) Tables() (tables []*table.Table) {
	for n, s := range r.Splits {
		t := splitTable(s)
		if len(r.Splits) > 1 {
			t.Title = fmt.Sprintf("split %d", n+1)
		}
		tables = append(tables, t)
	}
	if r.Written != "" {
		tables[0].Note("%s", r.Written)
	}
	return tables
}

// splitTable has the subsets, and the leaks as notes.
func splitTable(r check.SplitReport) *table.Table {
	const mostLeaks = 10 // of one kind that are printed
	t := table.New("", "subset", "classes", "samples", "share of classes", "share of samples").Right(4, 5)
	classes := 0
	for _, p := range r.Subsets {
		classes += len(p.Classes)
	}
	share := func(n, of int) string { return format.Percent(float64(n) / float64(max(of, 1))) }
	for _, p := range r.Subsets {
		t.Row(p.Name, len(p.Classes), p.Samples, share(len(p.Classes), classes), share(p.Samples, r.Samples))
	}
	val, test := len(r.Subsets[1].Classes), len(r.Subsets[2].Classes)
	if seen := classes - test; val < check.FewVal && seen < check.FewSeen {
		t.Note("val: %s, of %d seen: too few to choose a number of epochs, so that run fixes it",
			format.Count(val, "class"), seen)
	} else if val < check.FewVal {
		t.Note("val: %s: run chooses the number of epochs by parts of the %d seen classes", format.Count(val,
			"class"), seen)
	}
	if test == 1 {
		t.Note("test: 1 class, on which no accuracy can be measured")
	} else if test < check.FewTest && classes >= 2*check.FewTest {
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
	count := make(map[string]int)
	for _, l := range r.Leaks {
		if count[l.Kind]++; count[l.Kind] <= mostLeaks {
			t.Note("  %s: %s", l.Kind, l)
		}
	}
	for _, kind := range check.LeakKinds {
		if more := count[kind] - mostLeaks; more > 0 {
			t.Note("  %s: %d more", kind, more)
		}
	}
	if len(r.Uncovered) > 0 {
		t.Note("attributes of val or test classes that no train class has: %s",
			strings.Join(r.Uncovered, ", "))
	}
	if r.HeldOutUnseen > 0 {
		t.Note("%s of test classes held out as samples of seen classes: change test_seen in "+
			"labels.csv, or leave these classes seen", format.Count(r.HeldOutUnseen, "sample"))
	}
	return t.Note("not checked: whether the network that computed the features was trained on test classes " +
		"(most networks know those of ImageNet)")
}
