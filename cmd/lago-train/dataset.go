package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
		onName := func(name string) { display.replace("checking "+name, false) }
		l, err := catalog.List(c.Context, o.Options, onName)
		return o.print(l, err)
	}
	return &cli.Command{Name: "list", Flags: flags(o.dataSettings()), Action: interruptible(run)}
}

func describeCommand() *cli.Command {
	var o dataOptions
	var from catalog.Sources
	list := slices.Concat(o.dataSettings(), setting.List{
		setting.Raw("from", &from.From, ""),
		setting.Switch("dry_run", &from.DryRun, false).Needs("from"),
		setting.Switch("draft", &from.Draft, false).Needs("from"),
		setting.Switch("all", &from.All, false).Needs("from", "empty"),
		setting.Raw("like", &from.Like, ""),
	}.In(inputGroup).Common(), setting.List{
		setting.Choice("empty", &from.Empty, "", descriptions.Empties...).In(classGroup).Common().
			Noted("as it is"),
	})
	run := func(c *cli.Context, name string) error {
		r, err := catalog.Describe(c.Context, name, from, o.Options)
		if from.DryRun {
			r.Next = typed(c, "dry_run")
		}
		return o.print(r, err)
	}
	return &cli.Command{
		Name: "describe", ArgsUsage: "NAME|DIR", Flags: flags(list), Action: interruptible(withArgument(run)),
	}
}

func checkCommand() *cli.Command {
	var o dataOptions
	var doubts string
	var files outputs
	to := setting.Raw("doubts", &doubts, "").In(outputGroup).Common()
	run := func(c *cli.Context, name string) error {
		r, err := catalog.Check(c.Context, name, o.Options)
		if err == nil && r.OK && doubts != "" {
			err = files.WriteRows(doubts, check.DoubtRows(r.Data))
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
		Name: "split", ArgsUsage: "NAME|DIR", Action: interruptible(withArgument(o.run)),
		Flags: flags(slices.Concat(o.dataSettings(), setting.List{
			setting.Number("val_size", &o.val, 0.2, size),
			setting.Number("test_size", &o.test, 0.2, size),
			setting.Seed("seed", &o.seed),
		}.In(setting.Protocol).Common(), setting.List{
			setting.Raw("check", &o.check, "").In(inputGroup).
				Excludes("val_size", "test_size", "seed", "to"),
			setting.Raw("to", &o.to, "").In(outputGroup),
		}.Common())),
	}
}

type splitReports struct {
	Splits []check.SplitReport `json:"splits"`
	notes  []string            // where a proposal is, and the command to type next
}

func (o *splitOptions) run(c *cli.Context, name string) error {
	o.WithoutSplit = true
	d, err := catalog.Open(c.Context, name, o.Options)
	if err != nil {
		return err
	}
	if o.check == "" {
		return o.propose(c, name, d)
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
	o.WithoutSplit = false
	next := catalog.Next(c.Context, name, o.Options, nil, "dataset check")
	if leaks > 0 {
		next = "lago-train dataset split " + o.Named(name)
	}
	r.notes = []string{"next: " + next}
	if err = o.print(r, nil); err == nil && leaks > 0 {
		err = fmt.Errorf("%s: %s between subsets", d.Name, format.Count(leaks, "leak"))
	}
	return err
}

func (o *splitOptions) propose(c *cli.Context, name string, d *dataset.Dataset) error {
	usable := len(catalog.Usable(d))
	classes := func(size float64) int {
		if size < 1 {
			size *= float64(usable)
		}
		return int(math.Round(size))
	}
	val, test := catalog.SplitSizes(usable, classes(o.val), classes(o.test),
		c.IsSet("val-size"), c.IsSet("test-size"))
	s, err := catalog.ProposeSplit(d, val, test, o.seed)
	if err != nil && usable == 0 {
		err = catalog.WithNext(c.Context, err, name, o.Options)
	}
	if err != nil {
		return err
	}
	r := splitReports{Splits: []check.SplitReport{check.Split(d, s)}}
	if o.to != "" {
		err = atFlag("to", openlayout.WriteSplit(o.to, d, s))
		r.notes = []string{"written to " + o.to}
	} else {
		r.notes = []string{"not written; --to FILE writes the split"}
	}
	o.WithoutSplit = false
	d.Split = s
	then := "run --dataset"
	if check.Errors(d) != nil || check.Empty(d) != nil {
		then = "dataset check"
	}
	next := catalog.Next(c.Context, name, o.Options, nil, then)
	if before, _, found := strings.Cut(next, " --to "); found { // the split is still to be written
		next = typed(c, "to", "--to", strings.TrimPrefix(next, before+" --to "))
	}
	r.notes = append(r.notes, "next: "+next)
	return o.print(r, err)
}

// Tables has those of each split, and where a proposal is.
func (r splitReports) Tables() (list []*table.Table) {
	for i, s := range r.Splits {
		t := s.Table()
		if len(r.Splits) > 1 {
			t.Title = fmt.Sprintf("split %d", i+1)
		}
		list = append(list, t)
	}
	for _, note := range r.notes {
		list[len(list)-1].Note("%s", note)
	}
	return list
}
