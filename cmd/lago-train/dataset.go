package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
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
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/dataset/xlsa17"
	"github.com/lago-train/lago-train/experiments/answers/extract"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
)

func datasetListCommand() *cli.Command {
	var o dataOptions
	return &cli.Command{Name: "list", Flags: flags(o.dataSettings()), Action: interruptible(func(c *cli.Context) error {
		l, err := catalog.List(c.Context, o.Options, func(name string) { display.replace("checking "+name, false) })
		return o.print(datasetList{l}, err)
	})}
}

func describeCommand() *cli.Command {
	var o dataOptions
	var from catalog.Sources
	var order bool
	var csvFile string
	var files outputs
	list := setting.List{
		setting.Raw("like", &from.Like, "").Common().
			Describe("`NAME` data set whose attributes and groups are added"),
		setting.Raw("from", &from.From, "").Common().Describe("`FILE` table of traits: words, " +
			"numbers or yes and no of the classes"),
		setting.Switch("all", &from.All, false).Common().
			Describe("with --from, add classes of the table that the data set does not have; with --empty " +
				"no, write no also where nothing is said of a group"),
		setting.Switch("dry_run", &from.DryRun, false).Common().Needs("from").
			Describe("print how the table is read; write nothing"),
		setting.Switch("order", &order, false).Common().Excludes("like", "from", "empty").
			Describe("print groups and attributes in the order that tells most about a " +
				"new class; write nothing"),
	}.In(inputGroup)
	empty := setting.Choice("empty", &from.Empty, "", descriptions.Empties...).In(classGroup).
		Noted("as it is").Common().
		Describe("what empty cells mean: no (written into each group in which the class has a yes; the old " +
			"file is kept) or unknown (recorded)")
	list = slices.Concat(o.dataSettings(), list, setting.List{
		empty, setting.Raw("csv", &csvFile, "").In(outputGroup).Needs("order").
			Describe("`FILE` CSV file for the order"), files.setting(),
	})
	run := func(c *cli.Context, name string) error {
		if from.All && from.From == "" && from.Empty != descriptions.EmptyNo {
			return wrong("--all", "--from or --empty no beside it", "neither")
		}
		if !order {
			r, err := catalog.Describe(c.Context, name, from, o.Options)
			return o.print(described{r, o.Named(name)}, err)
		}
		q, err := catalog.Order(c.Context, name, o.Options)
		if err == nil && csvFile != "" {
			err = files.write(csvFile, func(w io.Writer) error {
				return csv.NewWriter(w).WriteAll(q.Rows())
			})
		}
		return o.print(questionOrder{q}, err)
	}
	return &cli.Command{
		Name: "describe", ArgsUsage: "NAME|DIR", Flags: flags(list), Action: interruptible(withArgument(run)),
	}
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
			err = files.write(doubts, func(w io.Writer) error {
				return csv.NewWriter(w).WriteAll(check.DoubtRows(r.Data))
			})
		}
		if err = o.print(checkReport{r}, err); err == nil && !r.OK {
			err = fmt.Errorf("%s: %s", name, format.Count(len(r.Errors), "error"))
		}
		return err
	}
	return &cli.Command{
		Name: "check", ArgsUsage: "NAME|DIR", Action: interruptible(withArgument(run)),
		Flags: flags(append(o.dataSettings(), o.missingSetting(), to, files.setting())),
	}
}

// withArgument is what a command with one argument does.
func withArgument(run func(c *cli.Context, argument string) error) func(*cli.Context) error {
	return func(c *cli.Context) error {
		if c.NArg() != 1 {
			return wrong(c.Command.HelpName, "one argument, "+c.Command.ArgsUsage, format.Count(c.NArg(), "argument"))
		}
		return run(c, c.Args().First())
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

func (o *splitOptions) run(c *cli.Context, name string) error {
	o.WithoutSplit = true
	d, err := catalog.Open(c.Context, name, o.Options)
	if err != nil {
		return err
	}
	if o.check == "" {
		r, err := o.propose(c, d)
		return o.print(r, catalog.WithNext(c.Context, err, name, o.Options))
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

func (o *splitOptions) propose(c *cli.Context, d *dataset.Dataset) (r splitReports, err error) {
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
		return r, err
	}
	r = splitReports{
		Splits: []check.SplitReport{check.Split(d, s)}, Written: "not written; --to FILE writes the split",
	}
	if o.to != "" {
		r.Written = "written to " + o.to
		err = atFlag("to", openlayout.WriteSplit(o.to, d, s))
	}
	return r, err
}

// warnName warns of a folder with the name of a data set that the program generates.
func warnName(dataset, dataDir string) {
	name, folder := catalog.NameOf(dataset), dataset
	if !catalog.IsPath(dataset) {
		folder = filepath.Join(catalog.DataDir(dataDir), name)
	}
	if info, err := os.Stat(folder); err == nil && info.IsDir() && catalog.Generated(name) {
		logrus.Warnf("%s has the name of a data set that the program generates, which --dataset %s "+
			"means: rename the folder", folder, name)
	}
}

func fetchCommand() *cli.Command {
	var o fetch.Options
	var data dataOptions
	argument := strings.Join(fetch.Names(), "|") + "|NETWORK"
	run := func(c *cli.Context, name string) error {
		o.DataDir, o.Progress, o.Check = catalog.DataDir(data.DataDir), display.show, checkFetched
		r, err := fetch.Fetch(c.Context, name, o)
		return data.print(fetched{r, data.DataDir}, err)
	}
	return &cli.Command{
		Name: "fetch", ArgsUsage: argument, Action: graceful(withArgument(run)),
		Flags: flags(data.dataSettings().Without("json")),
	}
}

// checkFetched opens what was fetched: the weights of a network, or a data set.
func checkFetched(ctx context.Context, name, path string) error {
	if slices.Contains(fetch.Networks(), name) {
		n, err := extract.ReadNetwork(ctx, path, extract.NetworkOptions{})
		if err == nil && n.Name() != name {
			err = &invalid.Error{Where: path, Want: "the weights of " + name, Got: "those of " + n.Name()}
		}
		return err
	}
	d, err := xlsa17.Load(ctx, path, xlsa17.Options{NoCache: true})
	if err != nil {
		return err
	}
	return check.Errors(d)
}

type fetched struct {
	*fetch.Result
	dataDir string
}

// Tables say what was fetched, and the commands that use it.
func (f fetched) Tables() []*table.Table {
	t := table.New(f.Name + ": " + f.Path)
	for _, file := range f.Files {
		t.Note("  from %s\n       SHA-256 %s", file.From, file.SHA256)
	}
	if slices.Contains(fetch.Networks(), f.Name) {
		t.Note("features:  lago-train dataset extract NAME --images DIR --weights %s", f.Path)
		return []*table.Table{t}
	}
	flag := ""
	if f.dataDir != "" {
		flag = "--data-dir " + f.dataDir + " "
	}
	t.Note("check:     lago-train dataset check %s%s", flag, f.Name).
		Note("training:  lago-train run %s--dataset %s", flag, f.Name)
	return []*table.Table{t}
}
