package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
)

// Report is the result of a check. Its JSON keys are stable.
type Report struct {
	OK       bool            `json:"ok"` // no errors; there may be warnings
	Errors   []check.Finding `json:"errors"`
	Warnings []check.Finding `json:"warnings"` // that do not end the command with an error
	// entries of the descriptions that are missing; only if there are no errors
	Missing *check.Missing `json:"missing,omitempty"`
	// entries that are unlike what the others of their classes say; likewise
	Doubts *check.Doubts `json:"doubts,omitempty"`

	Data   *dataset.Dataset `json:"-"` // with the split that was asked for; nil if it cannot be read
	Next   string           `json:"-"` // command to type next
	layout string
	err    error
}

// Check checks the data set of a name or path. All splits of its classes are checked. The error
// is about finding the data set; problems with it are in the report.
func Check(ctx context.Context, name string, o Options) (Report, error) {
	r, err := findErrors(ctx, name, o)
	if err != nil {
		return r, WithNext(ctx, err, name, o)
	}
	if r.OK {
		missing := check.CountMissing(descriptions.TableOf(r.Data))
		doubts := check.FindDoubts(r.Data)
		r.Missing, r.Doubts = &missing, &doubts
		r.Warnings = append(r.Warnings, check.Findings(check.Warning, check.Warnings(r.Data))...)
	}
	r.Next = Next(ctx, name, o, r.err, "run --dataset")
	if r.OK && o.Missing != nil && strings.HasPrefix(r.Next, "lago-train run ") {
		r.Next += " " + format.ShellLine("--missing="+strings.ReplaceAll(format.Join(o.Missing), " ", ""))
	}
	return r, nil
}

func findErrors(ctx context.Context, name string, o Options) (Report, error) {
	r := Report{Errors: []check.Finding{}, Warnings: []check.Finding{}}
	l, err := find(name, o)
	if err != nil {
		return r, err
	}
	r.layout = l.layout
	if r.Data, err = l.open(ctx, o); err == nil {
		with := *r.Data
		for _, with.Split = range with.Splits() {
			if err = check.Errors(&with); err != nil {
				break
			}
		}
	}
	r.Errors = append(r.Errors, check.Findings(check.Error, err)...)
	r.OK, r.err = err == nil, err
	return r, ctx.Err()
}

// WithNext adds the next command to an error about a data set.
func WithNext(ctx context.Context, err error, name string, o Options) error {
	if next := Next(ctx, name, o, err, ""); next != "" {
		return fmt.Errorf("%w\nnext: %s", err, next)
	}
	return err
}

// Next returns the command to type next for a data set of which err is what is wrong: one that completes it,
// in the order of the work, or else then, a command without the name of the data set. It is "" where the data
// set cannot be found.
func Next(ctx context.Context, name string, o Options, err error, then string) string {
	l, notFound := find(name, o)
	open, drafts, named := l.layout == openLayout, 0, o.Named(name)
	switch {
	case errors.Is(notFound, errNoFiles), open && !openlayout.HasSamples(l.place):
		return "lago-train docs your-data   # the files of a data set"
	case notFound != nil:
		return ""
	case open:
		lacks := func(file string) bool {
			_, err := os.Stat(filepath.Join(l.place, file))
			return errors.Is(err, fs.ErrNotExist)
		}
		t, wrong := openlayout.ReadDescriptions(ctx, l.place)
		d := new(dataset.Dataset)
		if wrong == nil {
			t.SetTo(d)
			d.EmptyUnknown, wrong = descriptions.KeepsUnknown(l.place)
		}
		switch {
		case wrong == nil && (lacks(openlayout.ClassesFile) || lacks(openlayout.AttributesFile)):
			return "lago-train dataset describe " + named
		case wrong != nil: // err says so
		case dataset.Described(d.Descriptions.Data) == 0:
			return "lago-train serve " + named
		case lacks(openlayout.SplitsFile) && len(check.Findings(check.Error, err)) > 1: // which split refuses
		case !o.WithoutSplit && lacks(openlayout.SplitsFile):
			file := filepath.Join(l.place, openlayout.SplitsFile)
			if here, err := os.Getwd(); err == nil {
				file = strings.TrimPrefix(file, here+string(filepath.Separator))
			}
			return "lago-train dataset split " + named + " --to " + format.ShellLine(file)
		case check.Empty(d) != nil:
			return "lago-train dataset describe " + named + " --empty no   # or --empty unknown"
		}
		drafts, _ = check.Drafts(t.Drafts, t.Classes)
	}
	switch {
	case err != nil:
		return "lago-train dataset check " + named + "   # when that is corrected"
	case drafts > 0:
		return "lago-train serve " + named
	}
	return "lago-train " + then + " " + named
}

// Described says what Describe wrote. Its JSON keys are stable.
type Described struct {
	Name            string `json:"name"`
	Dir             string `json:"dir"`
	Classes         int    `json:"classes"`    // of classes.csv now
	Attributes      int    `json:"attributes"` // of attributes.csv now
	AddedClasses    int    `json:"added_classes"`
	AddedAttributes int    `json:"added_attributes"`
	Missing         int    `json:"missing"` // empty cells of classes.csv
	// groups of classes that no person has checked since --from filled them in
	Drafts int    `json:"drafts"`
	Layout string `json:"layout"` // of the table of --from: a line per class, or per class and trait
	// classes that were added to splits.csv
	Notes  []string `json:"notes"`
	Filled int      `json:"filled"` // empty cells that --empty no wrote no into
	// file with classes.csv as it was before that; "" if nothing was filled
	Kept    string `json:"kept"`
	Written bool   `json:"written"` // false for --dry-run

	Traits []descriptions.Trait `json:"traits"` // of the table of --from: what each column was taken for
	Next   string               `json:"-"`      // command to type next
}

// Folder returns the folder of a data set in the open layout, whose descriptions can be written; "" for
// another one.
func Folder(name string, o Options) (string, error) {
	l, err := find(name, o)
	if l.layout != openLayout {
		l.place = ""
	}
	return l.place, err
}

// Sources say where Describe takes attributes from; the zero value is none.
type Sources struct {
	Like string // a data set whose attributes and groups are added
	From string // a table of traits, see descriptions.Table.AddTraits

	All    bool // classes that the data set does not have are added
	Draft  bool // nobody has checked the table; likewise one in a file of text (.txt)
	DryRun bool // nothing is written

	// Empty says what empty cells mean: "" leaves them, no fills them in, see descriptions.Table.FillEmpty,
	// and unknown is recorded.
	Empty descriptions.Empty
}

// Describe completes attributes.csv and classes.csv of a data set in the open layout: the classes of
// its samples, attributes without values, and traits are added. What is described is kept.
func Describe(ctx context.Context, name string, from Sources, o Options) (r Described, err error) {
	dir, err := Folder(name, o)
	if err == nil && dir == "" {
		err = &invalid.Error{
			Where: "data set " + invalid.Quote(name), Want: "a folder of CSV files (the open layout)",
			Got:  "another layout or generated data",
			Hint: "For .mat files, lago-train docs xlsa17 has the lines of Python that write them.",
		}
	}
	if err != nil {
		return r, err
	}
	unlock, err := descriptions.Lock(dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	d, err := openlayout.ReadDescriptions(ctx, dir)
	if err != nil {
		return r, err
	}
	if from.Like != "" {
		if err := addLike(ctx, d, from.Like, name, o); err != nil {
			return r, err
		}
	}
	if from.From != "" {
		draft := from.Draft || strings.EqualFold(filepath.Ext(from.From), ".txt")
		reading, err := d.AddTraits(ctx, from.From, from.All, draft)
		if err != nil {
			return r, err
		}
		r.Layout, r.Traits = reading.Layout, reading.Traits
	}
	if from.Empty == descriptions.EmptyNo {
		r.Filled = d.FillEmpty(from.All)
	}
	if len(d.Classes) == 0 {
		return r, &invalid.Error{Where: dir, Want: "classes in labels.csv or classes.csv", Got: "none"}
	}
	r.Name, r.Dir, r.Classes, r.Attributes = NameOf(name), dir, len(d.Classes), len(d.Attributes)
	r.AddedClasses, r.AddedAttributes = d.Added.Classes, d.Added.Attributes
	var empty []string
	for _, c := range check.CountMissing(d).Classes {
		if r.Missing += c.Entries; from.From != "" && c.Entries == len(d.Attributes) {
			empty = append(empty, c.Name)
		}
	}
	if n := len(empty); n > 0 {
		r.Notes = []string{fmt.Sprintf("%s without entries: %s", format.Count(n, "class"),
			strings.Join(empty[:min(n, 20)], ", "))}
	}
	r.Drafts, _ = check.Drafts(d.Drafts, d.Classes)
	if err := d.Check(); err != nil || from.DryRun {
		return r, err
	}
	r.Written = true
	if r.Filled > 0 {
		if r.Kept, err = d.KeepClasses(); err != nil {
			return r, err
		}
	}
	if from.Empty == descriptions.EmptyUnknown {
		if err = descriptions.KeepUnknown(dir); err != nil {
			return r, err
		}
	}
	if err = d.Save(); err != nil {
		return r, err
	}
	added, err := openlayout.ExtendSplits(ctx, dir)
	if len(added) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s: %s without a part added: %s. "+
			"Write train, val or test to use them", openlayout.SplitsFile, format.Count(len(added), "class"),
			strings.Join(added[:min(len(added), 5)], ", ")))
	}
	r.Next = Next(ctx, name, o, nil, "dataset check")
	return r, err
}

func addLike(ctx context.Context, d *descriptions.Table, like, name string, o Options) error {
	o.WithoutSplit = true
	other, err := Open(ctx, like, o)
	if err != nil {
		return err
	}
	grouped := slices.ContainsFunc(d.Attributes, func(a descriptions.Attribute) bool { return a.Group != "" })
	if len(d.Attributes) > 0 && grouped != (other.Groups != nil) {
		return invalid.Expected("like", invalid.Quote(like),
			"a data set whose attributes are in groups if those of %s are", name)
	}
	d.Added.Attributes += d.AddAttributes(descriptions.AttributesOf(other)...)
	return nil
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
			read.Note("nothing was written").Note("next: %s", r.Next)
			return list
		}
	}
	t := table.New(fmt.Sprintf("%s: %s described by %s, in %s", r.Name, format.Count(r.Classes, "class"),
		format.Count(r.Attributes, "attribute"), r.Dir))
	list = append(list, t)
	t.Note("added: %s, %s", format.Count(r.AddedClasses, "class"),
		format.Count(r.AddedAttributes, "attribute"))
	if r.Attributes == 0 {
		t.Note("attributes come from a table of traits (--from FILE), from a similar data set (--like " +
			"NAME), or are entered on the page of lago-train serve")
	}
	if r.Filled > 0 {
		t.Note("filled: no in %s; classes.csv as it was is %s", format.Count(r.Filled, "empty cell"), r.Kept)
	}
	if r.Missing > 0 {
		t.Note("empty: %d of %d entries of classes.csv", r.Missing, r.Classes*r.Attributes)
	}
	for _, text := range r.Notes {
		t.Note("note: %s", text)
	}
	if r.Drafts > 0 {
		t.Note("drafts: %s of classes are to be checked on the page of lago-train serve",
			format.Count(r.Drafts, "group"))
	}
	t.Note("next: %s", r.Next)
	return list
}

func traitValues(values []descriptions.ValueCount) string {
	const most = 8
	var texts []string
	for _, v := range values {
		texts = append(texts, fmt.Sprintf("%s %d", v.Value, v.Classes))
	}
	if more := len(texts) - most; more > 0 {
		texts = append(texts[:most], format.Count(more, "other"))
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
	found := count(len(r.Errors), "error") + ", " + count(len(r.Warnings), "warning")
	if r.OK {
		r.noteData(t)
		found = r.Data.Name + ": " + found
	}
	return []*table.Table{t.Note("%s", found).Note("next: %s", r.Next)}
}

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
