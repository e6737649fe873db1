package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/format"
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
		Flags: append(without(dataFlags(), "dev-split"),
			&cli.PathFlag{Name: outFlag, Category: outputGroup, DefaultText: "NAME-open in the data directory", Usage: "`DIR` folder to write, empty or missing"},
			jsonFlagOf()),
		Action: convertDataset,
	}
}

func convertDataset(c *cli.Context) error {
	name, err := oneDataset(c)
	if err != nil {
		return err
	}
	r, err := catalog.Convert(c.Context, name, catalogOptions(c), c.Path(outFlag))
	if err != nil {
		return err
	}
	return output(c, nil, r, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s, with %s, written to %s\nread again and found to be the same: fingerprint %s\n",
			r.Name, format.Count(r.Splits, "split"), r.Dir, r.Fingerprint)
		return err
	})
}
