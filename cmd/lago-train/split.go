package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/dataset/split"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

func splitCommand() *cli.Command {
	const group = protocol.ProtocolGroup
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
		Flags: append(without(dataFlags(), "dev-split"),
			&cli.Float64Flag{Name: "val-share", Category: group, Value: 0.2, Usage: "`S` share of the classes for val, between 0 and 1"},
			&cli.Float64Flag{Name: "test-share", Category: group, Value: 0.2, Usage: "`S` share of the classes for test, between 0 and 1"},
			&cli.IntFlag{Name: "val-classes", Category: group, DefaultText: "from --val-share", Usage: "`N` number of classes for val"},
			&cli.IntFlag{Name: "test-classes", Category: group, DefaultText: "from --test-share", Usage: "`N` number of classes for test"},
			&cli.Uint64Flag{Name: "seed", Category: group, Usage: "`SEED` random seed of the proposal"},
			&cli.Float64Flag{Name: "tolerance", Category: group, Value: split.Tolerance, Usage: "`D` difference per attribute up to which descriptions are the same; negative: never"},
			&cli.PathFlag{Name: "check", Category: inputGroup, Usage: "`FILE` splits.csv to check instead of proposing a split"},
			&cli.BoolFlag{Name: "own", Category: inputGroup, Usage: "check the splits of the data set instead of proposing one"},
			&cli.PathFlag{Name: outFlag, Category: outputGroup, Usage: "`FILE` splits.csv to write, which must not exist"},
			jsonFlagOf()),
		Action: splitDataset,
	}
}

func splitDataset(c *cli.Context) error {
	name, err := oneDataset(c)
	if err != nil {
		return err
	}
	own, file, out := c.Bool("own"), c.Path("check"), c.Path(outFlag)
	ofProposals := []string{"val-share", "test-share", "val-classes", "test-classes", "seed", outFlag}
	if err := cmp.Or(
		excludes(c, "own", append(ofProposals, "check")...),
		excludes(c, "check", ofProposals...),
		excludes(c, "val-classes", "val-share"),
		excludes(c, "test-classes", "test-share"),
	); err != nil {
		return err
	}
	o := catalogOptions(c)
	o.WithoutSplit = !own
	d, err := catalog.Open(c.Context, name, o)
	if err != nil {
		return err
	}
	var splits []dataset.Split
	switch {
	case own:
		splits = d.Splits()
	case file != "":
		splits, err = openlayout.ReadSplits(c.Context, file, d.Classes)
	default:
		return proposeSplit(c, d, out)
	}
	if err != nil {
		return err
	}
	return reportLeaks(c, d, splits)
}

// reportLeaks prints a report on each split. It returns an error if something leaks.
func reportLeaks(c *cli.Context, d *dataset.Dataset, splits []dataset.Split) error {
	reports := make([]split.Report, len(splits))
	leaks := 0
	for n, s := range splits {
		reports[n] = split.Describe(d, s, c.Float64("tolerance"))
		leaks += len(reports[n].Leaks)
	}
	if err := printSplits(c, reports); err != nil {
		return err
	}
	if leaks > 0 {
		return fmt.Errorf("%s: %s between subsets", d.Name, format.Count(leaks, "leak"))
	}
	return nil
}

func proposeSplit(c *cli.Context, d *dataset.Dataset, out string) error {
	if _, err := os.Stat(out); out != "" && !errors.Is(err, fs.ErrNotExist) {
		return &invalid.Error{Where: "--" + outFlag, Want: "a new file", Got: out + ", which exists"}
	}
	o := split.Options{Val: c.Int("val-classes"), Test: c.Int("test-classes"), Seed: c.Uint64("seed"), Tolerance: c.Float64("tolerance")}
	usable := float64(len(split.Usable(d)))
	for _, n := range []struct {
		classes, share string
		to             *int
	}{{"val-classes", "val-share", &o.Val}, {"test-classes", "test-share", &o.Test}} {
		share := c.Float64(n.share)
		switch {
		case c.IsSet(n.classes):
		case !(share > 0 && share < 1):
			return &invalid.Error{Where: "--" + n.share, Want: "a number between 0 and 1", Got: fmt.Sprint(share)}
		default:
			*n.to = int(math.Round(share * usable))
		}
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
		fmt.Printf("not written; --%s FILE writes the split\n", outFlag)
		return nil
	}
	fmt.Printf("written to %s\n", out)
	return nil
}

func printSplits(c *cli.Context, reports []split.Report) error {
	return output(c, nil, map[string]any{"splits": reports}, func(w io.Writer) error {
		for n, r := range reports {
			if len(reports) > 1 {
				if _, err := fmt.Fprintf(w, "split %d\n", n+1); err != nil {
					return err
				}
			}
			if err := r.WriteText(w); err != nil {
				return err
			}
		}
		return nil
	})
}
