package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/fetch"
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
	return &cli.Command{
		Name:  "list",
		Usage: "list the data sets that can be used, with their sizes",
		Description: `Lists the data sets that the program generates, and the folders of the data directory, each of
which is read and checked.

Examples:
   lago-train dataset list
   lago-train dataset list --data-dir ~/data --json`,
		Flags: o.flags(),
		Action: o.printing(func(c *cli.Context) (tabled, error) {
			return catalog.List(c.Context, o.catalog(), func(name string) { display.show("checking "+name, false) })
		}),
	}
}

func datasetInfoCommand() *cli.Command {
	var o dataOptions
	return &cli.Command{
		Name:      "info",
		Usage:     "print the samples, classes, attribute groups and split of a data set",
		ArgsUsage: "NAME",
		Description: `NAME is glyphs, simulated-cub, simulated-awa2, simulated-sun, or a folder of the
data directory.

Examples:
   lago-train dataset info glyphs
   lago-train dataset info --json cub`,
		Flags: o.splitFlags(),
		Action: ofDataset(func(c *cli.Context, name string) error {
			d, err := o.open(c.Context, name)
			if err != nil {
				return err
			}
			return o.print(catalog.Summarise(d))
		}),
	}
}

func checkCommand() *cli.Command {
	var o dataOptions
	return &cli.Command{
		Name:      "check",
		Usage:     "list the problems of a data set",
		ArgsUsage: "NAME|DIR",
		Description: `An argument with a / in it, or . or .., is a folder; any other is the name of a data set. In the open
layout all problems of all files are listed, in the xlsa17 layout the first problem of the files, or
else all problems of the data. Problems end the command with exit code 1. Warnings do not.

Examples:
   lago-train dataset check ./data/animals
   lago-train dataset check --json awa2`,
		Flags: o.flags(),
		Action: ofDataset(func(c *cli.Context, name string) error {
			r, err := catalog.Check(c.Context, name, o.catalog())
			if err != nil {
				return err
			}
			if err = o.print(r); err == nil && !r.OK {
				err = fmt.Errorf("%s: %s", name, format.Count(len(r.Errors), "problem"))
			}
			return err
		}),
	}
}

// ofDataset is the action of a command whose only argument is the name of a data set.
func ofDataset(action func(c *cli.Context, name string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.NArg() != 1 {
			return wrong(c.Command.HelpName, "the name of one data set", format.Count(c.NArg(), "argument"))
		}
		return action(c, c.Args().First())
	}
}

func convertCommand() *cli.Command {
	var o dataOptions
	var out string
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
		Flags: append(o.flags(),
			&cli.PathFlag{Name: "out", Category: outputGroup, DefaultText: "NAME-open in the data directory", Usage: "`DIR` folder to write, empty or missing", Destination: &out}),
		Action: ofDataset(func(c *cli.Context, name string) error {
			r, err := catalog.Convert(c.Context, name, o.catalog(), out)
			if err != nil {
				return err
			}
			return o.print(r)
		}),
	}
}

// splitOptions are those of the command split.
type splitOptions struct {
	dataOptions
	split.Options
	valShare, testShare float64
	check, out          string
	own                 bool
}

func splitCommand() *cli.Command {
	const group = string(setting.Protocol)
	var o splitOptions
	return &cli.Command{
		Name:      "split",
		Usage:     "propose train, val and test classes, or check a split for leaks",
		ArgsUsage: "NAME",
		Description: `A proposal keeps similar classes in one subset: those whose names differ only in case, punctuation
or a leading number such as 001., those with the same description, and those that share a sample. It
balances the samples, and prefers train classes with the attributes of val and test classes.

A folder in the open layout needs no splits.csv for a proposal. With --check or --own the command
ends with exit code 1 if something leaks.

Examples:
   lago-train dataset split --out data/animals/splits.csv --test-share 0.25 animals
   lago-train dataset split --own cub`,
		Flags: append(o.flags(),
			&cli.Float64Flag{Name: "val-share", Category: group, Value: 0.2, Usage: "`S` share of the classes for val, between 0 and 1", Destination: &o.valShare},
			&cli.Float64Flag{Name: "test-share", Category: group, Value: 0.2, Usage: "`S` share of the classes for test, between 0 and 1", Destination: &o.testShare},
			&cli.IntFlag{Name: "val-classes", Category: group, DefaultText: "from --val-share", Usage: "`N` number of classes for val", Destination: &o.Val},
			&cli.IntFlag{Name: "test-classes", Category: group, DefaultText: "from --test-share", Usage: "`N` number of classes for test", Destination: &o.Test},
			&cli.Uint64Flag{Name: "seed", Category: group, Usage: "`SEED` random seed of the proposal", Destination: &o.Seed},
			&cli.Float64Flag{Name: "tolerance", Category: group, Value: split.Tolerance, Usage: "`D` difference per attribute up to which descriptions are the same; negative: never", Destination: &o.Tolerance},
			&cli.PathFlag{Name: "check", Category: inputGroup, Usage: "`FILE` splits.csv to check instead of proposing a split", Destination: &o.check},
			&cli.BoolFlag{Name: "own", Category: inputGroup, Usage: "check the splits of the data set instead of proposing one", Destination: &o.own},
			&cli.PathFlag{Name: "out", Category: outputGroup, Usage: "`FILE` splits.csv to write, which must not exist", Destination: &o.out}),
		Action: ofDataset(o.run),
	}
}

func (o *splitOptions) run(c *cli.Context, name string) error {
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
	if err := o.print(r); err != nil {
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
	return o.print(r)
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

func fetchCommand() *cli.Command {
	var o fetch.Options
	var data dataOptions
	return &cli.Command{
		Name:      "fetch",
		Usage:     "download a data set of the paper, or the weights of a network",
		ArgsUsage: strings.Join(slices.Concat(fetch.Names(), fetch.Networks()), "|"),
		Description: `Downloads the archives that contain a data set and unpacks its files to
<data dir>/<NAME>. The same command resumes an interrupted download. Archives are kept, so the next
data set needs no download. Features, descriptions and splits come from the xlsa17 release of Xian
et al. (about 880 MB), the attribute groups from the repository of the authors of LAGO, whose data
archive (about 500 MB) has all files and can replace the release by --archive-url:
   ` + fetch.XianURL + `
   ` + fetch.MetaURL + `
   ` + fetch.LAGOURL + `

CUB's pictures are for non-commercial research. The weights of a ResNet for photographs,
torchvision's as timm publishes them (100 to 180 MB), go to <data dir>/NAME.safetensors:
   ` + fetch.WeightsURL("resnet50") + `
   ` + fetch.WeightsURL("resnet101") + `
This download has not been tested.

Examples:
   lago-train dataset fetch awa2
   lago-train dataset fetch resnet101
   lago-train dataset fetch --archive-url ~/Downloads/xlsa17.zip sun`,
		Flags: []cli.Flag{
			data.dirFlag(),
			&cli.StringFlag{Name: "archive-url", Category: inputGroup, DefaultText: "see above", Usage: "`URL` or path of the archive with the features, or of the weights", Destination: &o.ArchiveURL},
			&cli.StringFlag{Name: "meta-url", Category: inputGroup, DefaultText: "see above", Usage: "`URL` or path of the archive with the meta folder, if the other lacks it", Destination: &o.MetaURL},
			&cli.StringFlag{Name: "sha256", Category: inputGroup, Usage: "`SUM` expected SHA-256 of the archive with the features; none was published", Destination: &o.SHA256},
			&cli.PathFlag{Name: "download-dir", Category: outputGroup, DefaultText: "lago-train/downloads in the user's cache folder", Usage: "`DIR` folder of downloaded archives", Destination: &o.DownloadDir},
			&cli.BoolFlag{Name: "delete-archives", Category: outputGroup, Usage: "remove the downloaded archives once the data set is complete", Destination: &o.DeleteArchives},
			&cli.BoolFlag{Name: "force", Category: outputGroup, Usage: "replace an existing folder of the data set and everything in it, or file of weights", Destination: &o.Force},
			atLeast(1, &cli.IntFlag{Name: "attempts", Category: runGroup, Value: 6, Usage: "`N` attempts in a row without progress before the download is given up", Destination: &o.Attempts}),
			&cli.DurationFlag{Name: "stall", Category: runGroup, Value: 30 * time.Second, Usage: "`DURATION` longest wait for the next byte from the server before a new attempt", Destination: &o.Stall},
			data.jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return wrong(c.Command.HelpName, "the name of one data set or network, "+strings.Join(slices.Concat(fetch.Names(), fetch.Networks()), ", "), format.Count(c.NArg(), "argument"))
			}
			if o.Stall <= 0 {
				return wrong("--stall", "a time above 0", o.Stall.String())
			}
			var p fetchProgress
			o.DataDir = catalog.DataDir(data.dir)
			o.Progress = func(f fetch.Progress) { display.show(p.line(f, time.Now()), false) }
			r, err := fetch.Fetch(c.Context, c.Args().First(), o)
			if err != nil {
				return err
			}
			return data.print(fetched{r, data.dir})
		},
	}
}

// fetched is what was fetched.
type fetched struct {
	*fetch.Result
	dataDir string
}

// Tables say what was fetched, and the commands that use it.
func (f fetched) Tables() []*table.Table {
	t := table.New(fmt.Sprintf("%s: %s, %s, in %s", f.Name, format.Count(len(f.Files), "file"), format.Bytes(f.Bytes), f.Folder))
	for _, a := range f.Archives {
		t.Note("  from %s (%s)\n       SHA-256 %s", a.Source, format.Bytes(a.Bytes), a.SHA256)
		if a.Kept && a.File != a.Source && filepath.Dir(a.File) != f.Folder {
			t.Note("       kept for other data sets: %s", a.File)
		}
	}
	if slices.Contains(fetch.Networks(), f.Name) {
		t.Note("features:  lago-train dataset extract NAME --images DIR --weights %s", filepath.Join(f.Folder, f.Files[0]))
		return []*table.Table{t}
	}
	flag := ""
	if f.dataDir != "" {
		flag = "--data-dir " + f.dataDir + " "
	}
	t.Note("summary:   lago-train dataset info %s%s", flag, f.Name).Note("training:  lago-train run %s--dataset %s", flag, f.Name)
	return []*table.Table{t}
}

// fetchProgress makes the progress lines of a fetch.
type fetchProgress struct {
	first, last fetch.Progress // of the step
	start       time.Time      // of first
}

// line is as in "downloading features: 300.1 MB of 879.0 MB, 12.0 MB/s, 48s left". The
// speed is the mean of the step, without what an earlier command downloaded.
func (p *fetchProgress) line(f fetch.Progress, now time.Time) string {
	if f.Step != p.last.Step || f.Total != p.last.Total || f.Done < p.last.Done {
		p.first, p.start = f, now
	}
	p.last = f
	s := f.Step + ": " + format.Bytes(f.Done)
	if f.Total >= 0 {
		s += " of " + format.Bytes(f.Total)
	}
	speed := float64(f.Done-p.first.Done) / now.Sub(p.start).Seconds()
	if speed > 0 && now.After(p.start) {
		s += ", " + format.Bytes(int64(speed)) + "/s"
		if left := float64(f.Total-f.Done) / speed; left >= 0 && left < 1e6 {
			s += fmt.Sprintf(", %v left", time.Duration(left)*time.Second)
		}
	}
	return s
}
