package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
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
	return &cli.Command{
		Name:  "list",
		Usage: "list the data sets that can be used, with their sizes",
		Description: `Lists the data sets that the program generates, and the folders of the data directory, each of
which is read and checked.

Examples:
   lago-train dataset list
   lago-train dataset list --data-dir ~/data --json`,
		Flags: append(without(dataFlags(), "dev-split"),
			jsonFlagOf()),
		Action: listDatasets,
	}
}

func listDatasets(c *cli.Context) error {
	l, err := catalog.List(c.Context, catalogOptions(c), func(name string) { display.show("checking "+name, false) })
	if err != nil {
		return err
	}
	return output(c, nil, l, l.WriteText)
}

func datasetInfoCommand() *cli.Command {
	return &cli.Command{
		Name:      "info",
		Usage:     "print the samples, classes, attribute groups and split of a data set",
		ArgsUsage: "NAME",
		Description: `NAME is glyphs, simulated-cub, simulated-awa2, simulated-sun, or a folder of the
data directory.

Examples:
   lago-train dataset info glyphs
   lago-train dataset info --json cub`,
		Flags: append(dataFlags(),
			jsonFlagOf()),
		Action: datasetInfo,
	}
}

func datasetInfo(c *cli.Context) error {
	name, err := oneDataset(c)
	if err != nil {
		return err
	}
	d, err := openDataset(c, name, c.Int("dev-split"))
	if err != nil {
		return err
	}
	s := catalog.Summarise(d)
	return output(c, nil, s, s.WriteText)
}

func checkCommand() *cli.Command {
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
		Flags: append(without(dataFlags(), "dev-split"),
			jsonFlagOf()),
		Action: checkDataset,
	}
}

func checkDataset(c *cli.Context) error {
	name, err := oneDataset(c)
	if err != nil {
		return err
	}
	r, err := catalog.Check(c.Context, name, catalogOptions(c))
	if err != nil {
		return err
	}
	if err = output(c, nil, r, r.WriteText); err == nil && !r.OK {
		err = fmt.Errorf("%s: %s", name, format.Count(len(r.Errors), "problem"))
	}
	return err
}

// oneDataset returns the only argument of a command, the name of a data set.
func oneDataset(c *cli.Context) (string, error) {
	if c.NArg() == 1 {
		return c.Args().First(), nil
	}
	return "", &invalid.Error{Where: c.Command.HelpName, Want: "the name of one data set", Got: format.Count(c.NArg(), "argument")}
}
