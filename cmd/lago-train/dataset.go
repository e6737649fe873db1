package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
)

// withArgument is what a command with one argument does.
func withArgument(run func(c *cli.Context, argument string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.NArg() != 1 {
			return wrong(c.Command.HelpName, "one argument, "+c.Command.ArgsUsage,
				format.Count(c.NArg(), "argument"))
		}
		return run(c, c.Args().First())
	}
}

func datasetListCommand() *cli.Command {
	var o dataOptions
	run := func(c *cli.Context) error {
		l, err := catalog.List(c.Context, o.Options, func(name string) { display.replace("checking "+name, false) })
		if err != nil {
			return err
		}
		return o.print(l, listingTable(l))
	}
	return &cli.Command{Name: "list", Flags: flags(o.dataSettings()), Action: interruptible(run)}
}

func listingTable(l *catalog.Listing) *table.Table {
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
	return t.Note("Folders are in %s; others: lago-train dataset fetch cub, awa2 or sun.", l.DataDir)
}

func describeCommand() *cli.Command {
	var o dataOptions
	var from catalog.Sources
	var order bool
	var csvFile string
	var files outputs
	list := slices.Concat(o.dataSettings(), setting.List{
		setting.Raw("like", &from.Like, "").
			Describe("`NAME` data set whose attributes and groups are added"),
		setting.Raw("from", &from.From, "").
			Describe("`FILE` table of traits: words, numbers or yes and no of the classes"),
		setting.Switch("all", &from.All, false).
			Describe("with --from, add classes of the table that the data set does not have; with --empty " +
				"no, write no also where nothing is said of a group"),
		setting.Switch("dry_run", &from.DryRun, false).Needs("from").
			Describe("print how the table is read; write nothing"),
		setting.Switch("order", &order, false).Excludes("like", "from", "empty").
			Describe("print groups and attributes in the order that tells most about a new class; " +
				"write nothing"),
	}.In(inputGroup).Common(), setting.List{
		setting.Choice("empty", &from.Empty, "", descriptions.Empties...).In(classGroup).Noted("as it is").
			Describe("what empty cells mean: no (written into each group in which the class has a yes; the " +
				"old file is kept) or unknown (recorded)").Common(),
		setting.Raw("csv", &csvFile, "").In(outputGroup).Needs("order").
			Describe("`FILE` CSV file for the order"),
		files.setting(),
	})
	run := func(c *cli.Context, name string) error {
		if from.All && from.From == "" && from.Empty != descriptions.EmptyNo {
			return wrong("--all", "--from or --empty no beside it", "neither")
		}
		if !order {
			r, err := catalog.Describe(c.Context, name, from, o.Options)
			if err != nil {
				return err
			}
			return o.print(r, describedTables(r, o.Named(name))...)
		}
		q, err := catalog.Order(c.Context, name, o.Options)
		if err == nil {
			err = files.writeRows(csvFile, q.Rows())
		}
		if err != nil {
			return err
		}
		return o.print(q, orderTables(q)...)
	}
	return &cli.Command{
		Name: "describe", ArgsUsage: "NAME|DIR", Flags: flags(list), Action: interruptible(withArgument(run)),
	}
}

// describedTables say what was written and what was not understood, and the next step. In commands the data set
// is named.
func describedTables(r catalog.Described, named string) (list []*table.Table) {
	if r.Layout != "" {
		read := table.New("read: "+r.Layout, "trait", "read as", "values (classes)")
		for _, trait := range r.Traits {
			read.Row(trait.Column, trait.Kind, traitValues(trait.Values))
			if len(trait.Alike) > 0 {
				read.Note("one word twice? %s: %s", trait.Column, strings.Join(trait.Alike, "; "))
			}
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
	t.Note("added: %s, %s", format.Count(r.AddedClasses, "class"), format.Count(r.AddedAttributes, "attribute"))
	if r.Attributes == 0 {
		t.Note("attributes are added by one of").
			Note("  lago-train dataset describe %s --like OTHER         those of a similar data set", named).
			Note("  lago-train dataset describe %s --from traits.csv    those of a table with a line per class", named).
			Note("  lago-train serve %s                                 entered on a page", named).
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
			Note("next: lago-train serve %s", named)
	case r.Missing > 0:
		t.Note("next: lago-train serve %s   # or fill in classes.csv", named)
	}
	t.Note("then: lago-train dataset check %s   # names the next step", named)
	return list
}

// traitValues lists the first values with the numbers of their classes, and counts those of one class.
func traitValues(values []descriptions.ValueCount) string {
	const most = 8
	var texts []string
	alone := 0
	for _, v := range values {
		texts = append(texts, fmt.Sprintf("%s %d", v.Value, v.Classes))
		if v.Classes == 1 {
			alone++
		}
	}
	if more := len(texts) - most; more > 0 {
		texts = append(texts[:most], fmt.Sprintf("%d others", more))
	}
	text := strings.Join(texts, ", ")
	if alone > 0 {
		text += fmt.Sprintf("; %d of one class only", alone)
	}
	return text
}

// orderTables are those of the groups and of the attributes.
func orderTables(q check.Questionnaire) (list []*table.Table) {
	add := func(title, column string, questions []check.Question) {
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

func checkCommand() *cli.Command {
	var o dataOptions
	var doubts string
	var files outputs
	to := setting.Raw("doubts", &doubts, "").In(outputGroup).Common().
		Describe("`FILE` CSV file for all described entries, the most doubtful first")
	run := func(c *cli.Context, name string) error {
		r, err := catalog.Check(c.Context, name, o.Options)
		if err == nil && r.OK && doubts != "" {
			err = files.writeRows(doubts, check.DoubtRows(r.Data))
		}
		if err == nil {
			err = o.print(r, checkTable(r))
		}
		if err == nil && !r.OK {
			err = fmt.Errorf("%s: %s", name, format.Count(len(r.Errors), "error"))
		}
		return err
	}
	return &cli.Command{
		Name: "check", ArgsUsage: "NAME|DIR", Action: interruptible(withArgument(run)),
		Flags: flags(append(o.dataSettings(), o.missingSetting(), to, files.setting())),
	}
}

// checkTable has the problems one per line, and what was checked if there are none.
func checkTable(r catalog.Report) *table.Table {
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
	if !r.OK {
		return t.Note("%s", found)
	}
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
	return t.Note("%s: %s", d.Name, found)
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

type splitOptions struct {
	dataOptions
	seed      uint64
	val, test float64 // a share of the classes, or from 1 on their number
	check, to string
}

func splitCommand() *cli.Command {
	size := setting.Range{
		Above: true, Most: setting.Count.Most,
		Text: "a share of the classes, below 1, or a number of classes",
	}
	var o splitOptions
	return &cli.Command{
		Name: "split", ArgsUsage: "NAME", Action: interruptible(withArgument(o.run)),
		Flags: flags(slices.Concat(o.dataSettings(), setting.List{
			setting.Number("val_size", &o.val, 0.2, size).
				Describe("`S` share of the classes for val, below 1, or their number"),
			setting.Number("test_size", &o.test, 0.2, size).
				Describe("`S` share of the classes for test, below 1, or their number"),
			setting.Seed("seed", &o.seed).Describe("`SEED` random seed of the proposal"),
		}.In(setting.Protocol).Common(), setting.List{
			setting.Raw("check", &o.check, "").In(inputGroup).
				Describe("`FILE` splits.csv to check instead of proposing a split").
				Excludes("val_size", "test_size", "seed", "to"),
			setting.Raw("to", &o.to, "").In(outputGroup).
				Describe("`FILE` splits.csv to write, which must not exist"),
		}.Common())),
	}
}

// splitReports is what is printed as JSON.
type splitReports struct {
	Splits []check.SplitReport `json:"splits"`
}

func (o *splitOptions) run(c *cli.Context, name string) error {
	o.WithoutSplit = true
	d, err := catalog.Open(c.Context, name, o.Options)
	if err != nil {
		return err
	}
	if o.check == "" {
		return catalog.WithNext(c.Context, o.propose(c, d), name, o.Options)
	}
	splits, err := openlayout.ReadSplits(c.Context, o.check, d)
	if err != nil {
		return err
	}
	var r splitReports
	var tables []*table.Table
	leaks := 0
	for i, s := range splits {
		report := check.Split(d, s)
		r.Splits, leaks = append(r.Splits, report), leaks+len(report.Leaks)
		t := splitTable(report)
		if len(splits) > 1 {
			t.Title = fmt.Sprintf("split %d", i+1)
		}
		tables = append(tables, t)
	}
	if err = o.print(r, tables...); err == nil && leaks > 0 {
		err = fmt.Errorf("%s: %s between subsets", d.Name, format.Count(leaks, "leak"))
	}
	return err
}

// propose prints a split and, if --to is given, writes it.
func (o *splitOptions) propose(c *cli.Context, d *dataset.Dataset) error {
	usable := len(catalog.Usable(d))
	classes := func(size float64) int {
		if size < 1 {
			size *= float64(usable)
		}
		return int(math.Round(size))
	}
	val, test := catalog.SplitSizes(usable, classes(o.val), classes(o.test), c.IsSet("val-size"), c.IsSet("test-size"))
	s, err := catalog.ProposeSplit(d, val, test, o.seed)
	if err != nil {
		return err
	}
	written := "not written; --to FILE writes the split"
	if o.to != "" {
		written = "written to " + o.to
		if err := openlayout.WriteSplit(o.to, d, s); err != nil {
			return atFlag("to", err)
		}
	}
	report := check.Split(d, s)
	return o.print(splitReports{[]check.SplitReport{report}}, splitTable(report).Note("%s", written))
}

// splitTable has the subsets, and the leaks as notes.
func splitTable(r check.SplitReport) *table.Table {
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
	if seen := classes - test; val < check.FewVal && seen < check.FewSeen {
		t.Note("val: %s, of %d seen: too few to choose a number of epochs, so that run fixes it",
			format.Count(val, "class"), seen)
	} else if val < check.FewVal {
		t.Note("val: %s: run chooses the number of epochs by parts of the %d seen classes",
			format.Count(val, "class"), seen)
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
	byKind := make(map[string]int)
	for _, l := range r.Leaks {
		if byKind[l.Kind]++; byKind[l.Kind] <= mostLeaks {
			t.Note("  %s: %s", l.Kind, l)
		}
	}
	for _, kind := range check.LeakKinds {
		if more := byKind[kind] - mostLeaks; more > 0 {
			t.Note("  %s: %d more", kind, more)
		}
	}
	if len(r.Uncovered) > 0 {
		t.Note("attributes of val or test classes that no train class has: %s", strings.Join(r.Uncovered, ", "))
	}
	if r.HeldOutUnseen > 0 {
		t.Note("%s of test classes held out as samples of seen classes: change test_seen in labels.csv, or "+
			"leave these classes seen", format.Count(r.HeldOutUnseen, "sample"))
	}
	return t.Note("not checked: whether the network that computed the features was trained on test classes " +
		"(most networks know those of ImageNet)")
}

// warnName warns of a folder with the name of a data set that the program generates.
func warnName(dataset, dataDir string) {
	name, folder := catalog.NameOf(dataset), dataset
	if !catalog.IsPath(dataset) {
		folder = filepath.Join(catalog.DataDir(dataDir), name)
	}
	if info, err := os.Stat(folder); err == nil && info.IsDir() && catalog.Generated(name) {
		logrus.Warnf("%s has the name of a data set that the program generates, which --dataset %s means: "+
			"rename the folder", folder, name)
	}
}
