package main

import (
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
		return o.print(l, err)
	}
	return &cli.Command{Name: "list", Flags: flags(o.dataSettings()), Action: interruptible(run)}
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
			r.As = o.Named(name)
			return o.print(r, err)
		}
		q, err := catalog.Order(c.Context, name, o.Options)
		if err == nil {
			err = files.writeRows(csvFile, q.Rows())
		}
		return o.print(questionOrder{q}, err)
	}
	return &cli.Command{
		Name: "describe", ArgsUsage: "NAME|DIR", Flags: flags(list), Action: interruptible(withArgument(run)),
	}
}

type questionOrder struct{ check.Questionnaire }

// Tables are those of the groups and of the attributes.
func (q questionOrder) Tables() (list []*table.Table) {
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
		if err = o.print(r, err); err == nil && !r.OK {
			err = fmt.Errorf("%s: %s", name, format.Count(len(r.Errors), "error"))
		}
		return err
	}
	return &cli.Command{
		Name: "check", ArgsUsage: "NAME|DIR", Action: interruptible(withArgument(run)),
		Flags: flags(append(o.dataSettings(), o.missingSetting(), to, files.setting())),
	}
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

// splitReports are the checks of one or more splits of a data set.
type splitReports struct {
	Splits  []check.SplitReport `json:"splits"`
	written string              // where a proposal is
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
	leaks := 0
	for _, s := range splits {
		report := check.Split(d, s)
		r.Splits = append(r.Splits, report)
		leaks += len(report.Leaks)
	}
	if err = o.print(r, nil); err == nil && leaks > 0 {
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
	r := splitReports{[]check.SplitReport{check.Split(d, s)}, "not written; --to FILE writes the split"}
	if o.to != "" {
		r.written = "written to " + o.to
		err = atFlag("to", openlayout.WriteSplit(o.to, d, s))
	}
	return o.print(r, err)
}

// Tables has those of each split, and where a proposal is.
func (r splitReports) Tables() (list []*table.Table) {
	for i, s := range r.Splits {
		t := splitTable(s)
		if len(r.Splits) > 1 {
			t.Title = fmt.Sprintf("split %d", i+1)
		}
		list = append(list, t)
	}
	if r.written != "" {
		list[0].Note("%s", r.written)
	}
	return list
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
