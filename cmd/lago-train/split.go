package main

import (
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
)

func splitCommand() *cli.Command {
	return &cli.Command{
		Name:      "split",
		Usage:     "divide the classes of a data set into train, val and test, or tell what leaks between parts",
		ArgsUsage: "NAME",
		Description: `Classes that give each other away stay in one part: those of names that differ in case,
signs or a number alone, those described alike, and those that share a sample. Parts
are balanced by samples, and attributes of val and test classes are had by train
classes, as far as this can be; the same seed proposes the same split.

A folder in the open layout needs no splits.csv for this: --out writes one. With
--check or --own the command ends with 1 where something leaks.`,
		Flags: append(dataFlagsBut("dev-split"),
			&cli.Float64Flag{Name: "val-share", Value: 0.2, Usage: "`SHARE` of the classes for val"},
			&cli.Float64Flag{Name: "test-share", Value: 0.2, Usage: "`SHARE` of the classes for test"},
			&cli.IntFlag{Name: "val-classes", DefaultText: "by the share", Usage: "`N` classes for val"},
			&cli.IntFlag{Name: "test-classes", DefaultText: "by the share", Usage: "`N` classes for test"},
			&cli.Uint64Flag{Name: "seed", Usage: "`SEED` of the proposal"},
			&cli.Float64Flag{Name: "tolerance", Value: split.Tolerance, Usage: "`DIFFERENCE` in no attribute above which two classes are described alike; negative to compare no descriptions"},
			&cli.PathFlag{Name: outFlag, Usage: "`FILE` to write the proposal to, as splits.csv; it must not be there"},
			&cli.PathFlag{Name: "check", Usage: "`FILE` in the form of splits.csv: tell what leaks in it, and propose nothing"},
			&cli.BoolFlag{Name: "own", Usage: "tell what leaks in the data set's own split, and propose nothing"},
			&cli.BoolFlag{Name: jsonFlag, Usage: "print one JSON object on stdout"}),
		Action: splitDataset,
	}
}

func splitDataset(c *cli.Context) error {
	name, err := oneDataset(c)
	if err != nil {
		return err
	}
	own, file, out := c.Bool("own"), c.Path("check"), c.Path(outFlag)
	if own && file != "" || out != "" && (own || file != "") {
		return fmt.Errorf("dataset split: expected one of --own, --check and --%s", outFlag)
	}
	o := catalog.Options{DataDir: c.Path("data-dir"), NoCache: c.Bool("no-cache"), WithoutSplit: !own}
	d, err := catalog.Open(c.Context, name, o)
	if err != nil {
		return err
	}
	switch {
	case own:
		divisions, err := catalog.Splits(c.Context, name, d, o)
		if err != nil {
			return err
		}
		return tellLeaks(c, d, divisions...)
	case file != "":
		divisions, err := openlayout.ReadSplits(c.Context, file, d.Classes)
		if err != nil {
			return err
		}
		return tellLeaks(c, d, divisions...)
	}
	return propose(c, d, out)
}

// tellLeaks prints a report on each division, and is an error where something leaks.
func tellLeaks(c *cli.Context, d *dataset.Dataset, divisions ...dataset.Split) error {
	reports := make([]split.Report, len(divisions))
	leaks := 0
	for n, s := range divisions {
		reports[n] = split.Describe(d, s, c.Float64("tolerance"))
		leaks += len(reports[n].Leaks)
	}
	if err := printSplits(c, reports); err != nil {
		return err
	}
	if leaks > 0 {
		return fmt.Errorf("%s: %s between the parts", d.Name, plural(leaks, "leak"))
	}
	return nil
}

func propose(c *cli.Context, d *dataset.Dataset, out string) error {
	if _, err := os.Stat(out); out != "" && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--%s %s: expected a file that is not there yet", outFlag, out)
	}
	o := split.Options{Val: c.Int("val-classes"), Test: c.Int("test-classes"), Seed: c.Uint64("seed"), Tolerance: c.Float64("tolerance")}
	usable := float64(len(split.Usable(d)))
	if !c.IsSet("val-classes") {
		o.Val = int(math.Round(c.Float64("val-share") * usable))
	}
	if !c.IsSet("test-classes") {
		o.Test = int(math.Round(c.Float64("test-share") * usable))
	}
	s, err := split.Propose(d, o)
	if err != nil {
		return err
	}
	if out != "" {
		if err := openlayout.WriteSplits(out, d.Classes, s); err != nil {
			return err
		}
	}
	if err := printSplits(c, []split.Report{split.Describe(d, s, o.Tolerance)}); err != nil || c.Bool(jsonFlag) {
		return err
	}
	if out == "" {
		fmt.Printf("not written: --%s FILE writes it\n", outFlag)
		return nil
	}
	fmt.Printf("written to %s\n", out)
	return nil
}

// printSplits prints one report, or a list of several.
func printSplits(c *cli.Context, reports []split.Report) error {
	if c.Bool(jsonFlag) {
		return printJSON(map[string]any{"splits": reports})
	}
	for n, r := range reports {
		if len(reports) > 1 {
			fmt.Printf("division %d\n", n+1)
		}
		if err := r.WriteText(os.Stdout); err != nil {
			return err
		}
	}
	return nil
}
