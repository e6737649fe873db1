package catalog

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
)

// Tables has one data set per line, and what is wrong with those that are not usable.
func (l *Listing) Tables() []*table.Table {
	t := table.New("", "data set", "layout", "samples x features", "train / val / test classes",
		"attributes / groups", "status").Right(3, 4, 5)
	for _, e := range l.Datasets {
		switch {
		case e.Usable:
			t.Row(e.Name, cmp.Or(e.Layout, "generated"), fmt.Sprintf("%d x %d", e.Samples, e.Dimensions),
				fmt.Sprintf("%d/%d/%d", e.Train, e.Val, e.Test), fmt.Sprintf("%d/%d", e.Attributes, e.Groups),
				"usable")
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
func (r Described) Tables() (list []*table.Table) {
	if r.Layout != "" {
		read := table.New("read: "+r.Layout, "trait", "read as", "values (classes)")
		for _, trait := range r.Traits {
			read.Row(trait.Column, trait.Kind, traitValues(trait.Values))
		}
		list = append(list, read)
		if !r.Written {
			read.Note("nothing was written")
			return list
		}
	}
	t := table.New(fmt.Sprintf("%s: %s described by %s, in %s", r.Name, format.Count(r.Classes, "class"),
		format.Count(r.Attributes, "attribute"), r.Dir))
	list = append(list, t)
	t.Note("added: %s, %s", format.Count(r.AddedClasses, "class"),
		format.Count(r.AddedAttributes, "attribute"))
	if r.Attributes == 0 {
		t.Note("attributes are added by one of").
			Note("  lago-train dataset describe %s --like OTHER         those of a similar data set", r.As).
			Note("  lago-train dataset describe %s --from traits.csv    those of a table with a line per "+
				"class", r.As).
			Note("  lago-train serve %s                                 entered on a page", r.As).
			Note("  lines NAME,GROUP in attributes.csv; then dataset describe again")
		return list
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
	t.Note("then: lago-train dataset check %s   # names the next step", r.As)
	return list
}

// traitValues lists the first values with the numbers of their classes.
func traitValues(values []descriptions.ValueCount) string {
	const most = 8
	var texts []string
	for _, v := range values {
		texts = append(texts, fmt.Sprintf("%s %d", v.Value, v.Classes))
	}
	if more := len(texts) - most; more > 0 {
		texts = append(texts[:most], fmt.Sprintf("%d others", more))
	}
	return strings.Join(texts, ", ")
}

// Tables has the problems one per line, and what was checked if there are none.
func (r Report) Tables() []*table.Table {
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
	if r.OK {
		r.noteData(t)
		found = r.Data.Name + ": " + found
	}
	return []*table.Table{t.Note("%s", found)}
}

// noteData notes what was checked.
func (r Report) noteData(t *table.Table) {
	d, attributes := r.Data, format.Count(len(r.Data.Attributes), "attribute")
	if len(d.Groups) == 0 {
		attributes += " without groups"
	} else {
		attributes += " in " + format.Count(len(d.Groups), "group")
	}
	t.Note("fingerprint: %s", d.Fingerprint())
	t.Note("checked: %s of %s, %s (%d train, %d val, %d test), %s, %s into train, val and test, %s of seen "+
		"classes held out", format.Count(d.Features.Rows, "sample"), format.Count(d.Features.Cols, "feature"),
		format.Count(len(d.Classes), "class"), len(d.Split.Train), len(d.Split.Val), len(d.Split.Test),
		attributes, format.Count(len(d.Splits()), "split"), format.Count(len(d.TestSeen), "sample"))
	t.Note("%s", missingNote(r.Missing))
	if r.Doubts != nil {
		noteDoubts(t, r.Doubts)
	}
}

func count(n int, noun string) string {
	if n == 0 {
		return "no " + noun + "s"
	}
	return format.Count(n, noun)
}

// noteDoubts notes which entries are doubtful, and how missing ones are imputed.
func noteDoubts(t *table.Table, d *check.Doubts) {
	for _, doubt := range d.Most {
		t.Note("doubtful: %s", doubt)
	}
	if d.Far > len(d.Most) {
		t.Note("doubtful: %d entries in all differ from what is expected by more than a half; --doubts FILE "+
			"writes them", d.Far)
	}
	if d.Given < impute.LeastGiven {
		t.Note("imputed: only %s of the entries are given, so that incomplete candidates complete each other",
			format.Percent(d.Given))
	}
	if !d.Whole {
		t.Note("imputed: there are too many classes and attributes to take all together; attributes are " +
			"taken in several parts")
	}
}

// missingNote says how many entries are missing, and where most.
func missingNote(m *check.Missing) string {
	if m.Entries == 0 {
		return fmt.Sprintf("descriptions: all %d entries are filled in", m.Of)
	}
	const most = 3
	text := fmt.Sprintf("descriptions: %d of %d entries are empty", m.Entries, m.Of)
	for _, counts := range [][]check.Count{m.Classes, m.Attributes} {
		var names []string
		for _, c := range counts[:min(len(counts), most)] {
			names = append(names, fmt.Sprintf("%s (%d)", format.Printable(c.Name), c.Entries))
		}
		text += "; most: " + strings.Join(names, ", ")
	}
	return text
}
