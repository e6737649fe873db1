package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/convert"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

func convertCommand() *cli.Command {
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
		Flags: append(dataFlagsBut("dev-split"),
			&cli.PathFlag{Name: outFlag, Usage: "`DIR` to write, empty or missing (default: NAME-open in the data directory)"},
			&cli.StringFlag{Name: "to", Value: "open", Hidden: true},
			&cli.BoolFlag{Name: jsonFlag, Usage: "print one JSON object"}),
		Action: convertDataset,
	}
}

// dataFlagsBut returns dataFlags without one.
func dataFlagsBut(name string) []cli.Flag {
	return slices.DeleteFunc(dataFlags(), func(f cli.Flag) bool { return f.Names()[0] == name })
}

func convertDataset(c *cli.Context) error {
	name, err := oneDataset(c)
	if err != nil {
		return err
	}
	if to := c.String("to"); to != "open" {
		return &invalid.Error{Where: "--to", Want: "open, the only layout that is written", Got: invalid.Quote(to)}
	}
	o := catalog.Options{DataDir: c.Path("data-dir"), NoCache: c.Bool("no-cache")}
	r, err := convert.Convert(c.Context, name, o, c.Path(outFlag))
	if err != nil {
		return err
	}
	return output(c, nil, r, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s, with %s, written to %s\nread again and found to be the same: fingerprint %s\n",
			r.Name, format.Count(r.Splits, "split"), r.Dir, r.Fingerprint)
		return err
	})
}
