package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/dataset/split"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
)

func datasetCommand() *cli.Command {
	return &cli.Command{
		Name:  "dataset",
		Usage: "list, download, describe, check, split and convert data sets",
		Subcommands: []*cli.Command{
			datasetListCommand(), fetchCommand(), extractCommand(), datasetInfoCommand(), checkCommand(), splitCommand(), convertCommand(),
		},
	}
}

func datasetListCommand() *cli.Command {
	var o dataOptions
	var asJSON bool
	return &cli.Command{
		Name:  "list",
		Usage: "list the data sets that can be used, with their sizes",
		Description: `Lists the data sets that the program generates, and the folders of the data directory, each of
which is read and checked.

Examples:
   lago-train dataset list
   lago-train dataset list --data-dir ~/data --json`,
		Flags: []cli.Flag{o.dirFlag(), o.cacheFlag(), threadsFlag(), jsonFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			l, err := catalog.List(c.Context, o.catalog(), func(name string) { display.show("checking "+name, false) })
			if err != nil {
				return err
			}
			return output(asJSON, l)
		},
	}
}

func datasetInfoCommand() *cli.Command {
	var o dataOptions
	var asJSON bool
	return &cli.Command{
		Name:      "info",
		Usage:     "print the samples, classes, attribute groups and split of a data set",
		ArgsUsage: "NAME",
		Description: `NAME is glyphs, simulated-cub, simulated-awa2, simulated-sun, or a folder of the
data directory.

Examples:
   lago-train dataset info glyphs
   lago-train dataset info --json cub`,
		Flags: append(o.flags(), jsonFlag(&asJSON)),
		Action: func(c *cli.Context) error {
			name, err := oneDataset(c)
			if err != nil {
				return err
			}
			d, err := o.open(c.Context, name)
			if err != nil {
				return err
			}
			return output(asJSON, catalog.Summarise(d))
		},
	}
}

func checkCommand() *cli.Command {
	var o dataOptions
	var asJSON bool
	return &cli.Command{
		Name:      "check",
		Usage:     "list the problems of a data set",
		ArgsUsage: "NAME|DIR",
		Description: `An argument with a / in it, or . or .., is a folder; any other is the name of a data
set. For a folder in the open layout all problems of all files are listed, for one in
the xlsa17 layout the first problem of the files, or else all problems of the data.

Problems end the command with exit code 1. Warnings do not.

Examples:
   lago-train dataset check ./data/animals
   lago-train dataset check --json awa2`,
		Flags: []cli.Flag{o.dirFlag(), o.cacheFlag(), threadsFlag(), jsonFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			name, err := oneDataset(c)
			if err != nil {
				return err
			}
			r, err := catalog.Check(c.Context, name, o.catalog())
			if err != nil {
				return err
			}
			if err = output(asJSON, r); err == nil && !r.OK {
				err = fmt.Errorf("%s: %s", name, format.Count(len(r.Errors), "problem"))
			}
			return err
		},
	}
}

// oneDataset returns the only argument of a command, the name of a data set.
func oneDataset(c *cli.Context) (string, error) {
	if c.NArg() == 1 {
		return c.Args().First(), nil
	}
	return "", wrong(c.Command.HelpName, "the name of one data set", format.Count(c.NArg(), "argument"))
}

func convertCommand() *cli.Command {
	var o dataOptions
	var out string
	var asJSON bool
	return &cli.Command{
		Name:      "convert",
		Usage:     "write a data set as a folder in the open layout",
		ArgsUsage: "NAME",
		Description: `The open layout is features.npy and CSV files (docs/your-data.md). All splits of the
data set are written. The folder appears only after it was read again and found to be
the same data set.

Examples:
   lago-train dataset convert cub
   lago-train dataset convert cub --out data/my-birds`,
		Flags: []cli.Flag{
			o.dirFlag(), o.cacheFlag(), threadsFlag(),
			&cli.PathFlag{Name: "out", Category: outputGroup, DefaultText: "NAME-open in the data directory", Usage: "`DIR` folder to write, empty or missing", Destination: &out},
			jsonFlag(&asJSON),
		},
		Action: func(c *cli.Context) error {
			name, err := oneDataset(c)
			if err != nil {
				return err
			}
			r, err := catalog.Convert(c.Context, name, o.catalog(), out)
			if err != nil {
				return err
			}
			return output(asJSON, r)
		},
	}
}

// splitOptions are those of the command split.
type splitOptions struct {
	dataOptions
	split.Options
	valShare, testShare float64
	check, out          string
	own, json           bool
}

func splitCommand() *cli.Command {
	const group = string(setting.Protocol)
	var o splitOptions
	return &cli.Command{
		Name:      "split",
		Usage:     "propose train, val and test classes, or check a split for leaks",
		ArgsUsage: "NAME",
		Description: `A proposal keeps similar classes in one subset: those whose names differ only in case,
punctuation or a leading number such as 001., those with the same description, and those
that share a sample. It balances the samples, and prefers splits whose train classes have the
attributes of val and test classes. The same seed proposes the same split.

A folder in the open layout needs no splits.csv for a proposal. With --check or --own
the command ends with exit code 1 if something leaks.

Examples:
   lago-train dataset split --out data/animals/splits.csv --test-share 0.25 animals
   lago-train dataset split --own cub`,
		Flags: []cli.Flag{
			o.dirFlag(), o.cacheFlag(), threadsFlag(),
			&cli.Float64Flag{Name: "val-share", Category: group, Value: 0.2, Usage: "`S` share of the classes for val, between 0 and 1", Destination: &o.valShare},
			&cli.Float64Flag{Name: "test-share", Category: group, Value: 0.2, Usage: "`S` share of the classes for test, between 0 and 1", Destination: &o.testShare},
			&cli.IntFlag{Name: "val-classes", Category: group, DefaultText: "from --val-share", Usage: "`N` number of classes for val", Destination: &o.Val},
			&cli.IntFlag{Name: "test-classes", Category: group, DefaultText: "from --test-share", Usage: "`N` number of classes for test", Destination: &o.Test},
			&cli.Uint64Flag{Name: "seed", Category: group, Usage: "`SEED` random seed of the proposal", Destination: &o.Seed},
			&cli.Float64Flag{Name: "tolerance", Category: group, Value: split.Tolerance, Usage: "`D` difference per attribute up to which descriptions are the same; negative: never", Destination: &o.Tolerance},
			&cli.PathFlag{Name: "check", Category: inputGroup, Usage: "`FILE` splits.csv to check instead of proposing a split", Destination: &o.check},
			&cli.BoolFlag{Name: "own", Category: inputGroup, Usage: "check the splits of the data set instead of proposing one", Destination: &o.own},
			&cli.PathFlag{Name: "out", Category: outputGroup, Usage: "`FILE` splits.csv to write, which must not exist", Destination: &o.out},
			jsonFlag(&o.json),
		},
		Action: o.run,
	}
}

func (o *splitOptions) run(c *cli.Context) error {
	name, err := oneDataset(c)
	if err != nil {
		return err
	}
	ofProposals := []string{"val-share", "test-share", "val-classes", "test-classes", "seed", "out"}
	if err := cmp.Or(
		excludes(c, "own", append(ofProposals, "check")...),
		excludes(c, "check", ofProposals...),
		excludes(c, "val-classes", "val-share"),
		excludes(c, "test-classes", "test-share"),
	); err != nil {
		return err
	}
	from := o.catalog()
	from.WithoutSplit = !o.own
	d, err := catalog.Open(c.Context, name, from)
	if err != nil {
		return err
	}
	var splits []dataset.Split
	switch {
	case o.own:
		splits = d.Splits()
	case o.check != "":
		if splits, err = openlayout.ReadSplits(c.Context, o.check, d.Classes); err != nil {
			return err
		}
	default:
		return o.propose(c, d)
	}
	return o.reportLeaks(d, splits)
}

// reportLeaks prints a report on each split. It returns an error if something leaks.
func (o *splitOptions) reportLeaks(d *dataset.Dataset, splits []dataset.Split) error {
	var r splitReports
	leaks := 0
	for _, s := range splits {
		r.Splits = append(r.Splits, split.Describe(d, s, o.Tolerance))
		leaks += len(r.Splits[len(r.Splits)-1].Leaks)
	}
	if err := output(o.json, r); err != nil {
		return err
	}
	if leaks > 0 {
		return fmt.Errorf("%s: %s between subsets", d.Name, format.Count(leaks, "leak"))
	}
	return nil
}

func (o *splitOptions) propose(c *cli.Context, d *dataset.Dataset) error {
	if _, err := os.Stat(o.out); o.out != "" && !errors.Is(err, fs.ErrNotExist) {
		return wrong("--out", "a new file", o.out+", which exists")
	}
	usable := float64(len(split.Usable(d)))
	for _, n := range []struct {
		classes, flag string
		share         float64
		to            *int
	}{{"val-classes", "val-share", o.valShare, &o.Val}, {"test-classes", "test-share", o.testShare, &o.Test}} {
		switch {
		case c.IsSet(n.classes):
		case !(n.share > 0 && n.share < 1):
			return wrong("--"+n.flag, "a number between 0 and 1", fmt.Sprint(n.share))
		default:
			*n.to = int(math.Round(n.share * usable))
		}
	}
	s, err := split.Propose(d, o.Options)
	if err != nil {
		return err
	}
	r := splitReports{Splits: []split.Report{split.Describe(d, s, o.Tolerance)}, written: "not written; --out FILE writes the split"}
	if o.out != "" {
		if err := openlayout.WriteSplits(o.out, d.Classes, s); err != nil {
			return err
		}
		r.written = "written to " + o.out
	}
	return output(o.json, r)
}

// splitReports are reports on one or more splits.
type splitReports struct {
	Splits  []split.Report `json:"splits"`
	written string         // where a proposal is
}

// Tables has those of each split, and where a proposal is.
func (r splitReports) Tables() (tables []*table.Table) {
	for n, s := range r.Splits {
		of := s.Tables()
		if len(r.Splits) > 1 {
			of[0].Title = fmt.Sprintf("split %d", n+1)
		}
		tables = append(tables, of...)
	}
	if r.written != "" {
		tables[0].Note("%s", r.written)
	}
	return tables
}
