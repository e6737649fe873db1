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

	"github.com/lago-train/lago-train/cmd/internal/datasets"
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

func datasetListCommand() *command {
	var o dataOptions
	return &command{name: "list", flags: o.dataSettings(), run: func(c *call) error {
		l, err := catalog.List(c, o.Options, func(name string) { display.replace("checking "+name, false) })
		return o.print(datasets.Listing{Listing: l}, err)
	}}
}

func describeCommand() *command {
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
	flags := slices.Concat(o.dataSettings(), list, setting.List{
		empty, setting.Raw("csv", &csvFile, "").In(outputGroup).Needs("order").
			Describe("`FILE` CSV file for the order"), files.setting(),
	})
	return &command{name: "describe", argument: "NAME|DIR", flags: flags, run: withArgument(func(c *call,
		name string,
	) error {
		if from.All && from.From == "" && from.Empty != descriptions.EmptyNo {
			return wrong("--all", "--from or --empty no beside it", "neither")
		}
		if !order {
			r, err := catalog.Describe(c, name, from, o.Options)
			return o.print(datasets.Described{Described: r, As: o.Named(name)}, err)
		}
		q, err := catalog.Order(c, name, o.Options)
		if err == nil && csvFile != "" {
			err = files.write(csvFile, func(w io.Writer) error {
				return csv.NewWriter(w).WriteAll(q.Rows())
			})
		}
		return o.print(datasets.Order{Questionnaire: q}, err)
	})}
}

func checkCommand() *command {
	var o dataOptions
	var doubts string
	var files outputs
	to := setting.Raw("doubts", &doubts, "").In(outputGroup).Common().
		Describe("`FILE` CSV file for all described entries, the most doubtful first")
	return &command{name: "check", argument: "NAME|DIR", flags: append(o.dataSettings(), o.missingSetting(),
		to, files.setting()), run: withArgument(func(c *call, name string) error {
		r, err := catalog.Check(c, name, o.Options)
		if err == nil && r.OK && doubts != "" {
			err = files.write(doubts, func(w io.Writer) error {
				return csv.NewWriter(w).WriteAll(check.DoubtRows(r.Data))
			})
		}
		if err = o.print(datasets.Report{Report: r}, err); err == nil && !r.OK {
			err = fmt.Errorf("%s: %s", name, format.Count(len(r.Errors), "error"))
		}
		return err
	})}
}

// withArgument is what a command with one argument does.
func withArgument(run func(c *call, argument string) error) func(*call) error {
	return func(c *call) error {
		if len(c.args) != 1 {
			return wrong(c.path, "one argument, "+c.argument, format.Count(len(c.args), "argument"))
		}
		return run(c, c.args[0])
	}
}

type splitOptions struct {
	dataOptions
	seed      uint64
	val, test float64 // a share of the classes, or from 1 on their number
	check, to string
}

func splitCommand() *command {
	size := setting.Range{
		Above: true, Most: setting.Count.Most,
		Text: "a share of the classes, below 1, or a number of classes",
	}
	var o splitOptions
	return &command{
		name: "split", argument: "NAME", run: withArgument(o.run),
		flags: slices.Concat(o.dataSettings(), setting.List{
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
		}.Common()),
	}
}

func (o *splitOptions) run(c *call, name string) error {
	o.WithoutSplit = true
	d, err := catalog.Open(c, name, o.Options)
	if err != nil {
		return err
	}
	if o.check == "" {
		r, err := o.propose(c, d)
		return o.print(r, catalog.WithNext(c, err, name, o.Options))
	}
	splits, err := openlayout.ReadSplits(c, o.check, d)
	if err != nil {
		return err
	}
	var r datasets.Splits
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

func (o *splitOptions) propose(c *call, d *dataset.Dataset) (r datasets.Splits, err error) {
	usable := len(catalog.Usable(d))
	classes := func(size float64) int {
		if size < 1 {
			size *= float64(usable)
		}
		return int(math.Round(size))
	}
	val, test := catalog.SplitSizes(usable, classes(o.val), classes(o.test), c.isSet("val-size"), c.isSet("test-size"))
	s, err := catalog.ProposeSplit(d, val, test, o.seed)
	if err != nil {
		return r, err
	}
	r = datasets.Splits{
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

func fetchCommand() *command {
	var o fetch.Options
	var data dataOptions
	argument := strings.Join(fetch.Names(), "|") + "|NETWORK"
	return &command{name: "fetch", argument: argument, graceful: true, flags: data.dataSettings().
		Without("json"), run: withArgument(func(c *call, name string) error {
		o.DataDir, o.Progress, o.Check = catalog.DataDir(data.DataDir), display.show, checkFetched
		r, err := fetch.Fetch(c, name, o)
		return data.print(fetched{r, data.DataDir}, err)
	})}
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
