package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/summary"
)

func datasetCommand() *cli.Command {
	return &cli.Command{
		Name:  "dataset",
		Usage: "get, check, convert, split and look at data sets",
		Subcommands: []*cli.Command{{
			Name:      "info",
			Usage:     "check a data set and print its sizes, classes, groups and samples",
			ArgsUsage: "NAME",
			Flags: append(dataFlags(),
				&cli.BoolFlag{Name: jsonFlag, Usage: "print one JSON object on stdout"}),
			Action: datasetInfo,
		}, fetchCommand(), convertCommand(), checkCommand(), splitCommand()},
	}
}

func datasetInfo(c *cli.Context) error {
	if c.NArg() != 1 {
		return fmt.Errorf("dataset info: expected the name of one data set, found %d arguments", c.NArg())
	}
	d, err := openDataset(c, c.Args().First(), c.Int("dev-split"))
	if err != nil {
		return err
	}
	s := summary.Of(d)
	if c.Bool(jsonFlag) {
		return printJSON(s)
	}
	return s.WriteText(os.Stdout)
}

// noArguments refuses what would otherwise be passed over in silence.
func noArguments(c *cli.Context) error {
	if c.NArg() > 0 {
		return fmt.Errorf("%s: expected flags only, found the argument %q", c.Command.Name, c.Args().First())
	}
	return nil
}
