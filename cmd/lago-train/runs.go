package main

import (
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/runs"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train"
)

func runsCommand() *cli.Command {
	return &cli.Command{
		Name:  "runs",
		Usage: "list the runs in a folder",
		Description: `Lists one run per line: its folder, its main settings, why it ended (patience, epochs, not finite) or
how far it is (unfinished), and its accuracy, on the validation classes in the dev stage and on the
test classes in the test stage. A run with files that can't be read is broken.

Examples:
   lago-train runs --variant k-soft --status unfinished
   lago-train runs --from runs --csv runs.csv`,
		Flags: []cli.Flag{
			runsFlag(),
			&cli.StringFlag{Name: datasetFlag, Category: inputGroup, DefaultText: "all", Usage: "`NAME` only runs on this data set"},
			optional(variantFlag, inputGroup, "only runs of this variant or baseline", "all", methodNames()...),
			optional("stage", inputGroup, "only runs of this stage", "all", train.Dev, train.Test),
			optional("status", inputGroup, "only runs with this status", "all", runs.Statuses...),
			csvFlagOf("the list"),
			jsonFlagOf(),
		},
		Action: listRuns,
		Subcommands: []*cli.Command{{
			Name:      "show",
			Usage:     "show one run",
			ArgsUsage: "DIR",
			Description: `Shows the settings of a run, why it ended, its accuracy, and its files. DIR is its folder; of
finished runs the start of the name in ./runs and latest are accepted as well, as by --model.

Examples:
   lago-train runs show latest
   lago-train runs show runs/glyphs-k-soft-dev-seed0-0f72bb99bcf2 --csv curve.csv`,
			Flags:  []cli.Flag{csvFlagOf("the learning curve"), jsonFlagOf()},
			Action: showRun,
		}},
	}
}

// runsFlag is that of commands that read runs.
func runsFlag() cli.Flag {
	return &cli.PathFlag{Name: fromFlag, Category: inputGroup, Value: defaultRuns, Usage: "`DIR` folder that holds the runs"}
}

func listRuns(c *cli.Context) error {
	if c.NArg() > 0 {
		return noCommand(c)
	}
	l, err := runs.Filter{
		Dataset: c.String(datasetFlag), Variant: c.String(variantFlag), Stage: c.String("stage"), Status: c.String("status"),
	}.List(c.Path(fromFlag))
	if err != nil {
		return err
	}
	if err := writeCSV(c, l.WriteCSV); err != nil {
		return err
	}
	return output(c, nil, l, l.WriteText)
}

func showRun(c *cli.Context) error {
	if c.NArg() != 1 {
		return &invalid.Error{Where: usage + " runs show", Want: "the folder of one run", Got: format.Count(c.NArg(), "argument")}
	}
	dir := c.Args().First()
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		model, err := findModel(c.Command.HelpName, dir)
		if err != nil {
			return err
		}
		dir = filepath.Dir(model)
	}
	d, err := runs.Show(dir)
	if err != nil {
		return err
	}
	if err := writeCSV(c, d.WriteCurve); err != nil {
		return err
	}
	return output(c, nil, d, d.WriteText)
}
