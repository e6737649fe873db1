package main

import (
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/runs"
	"github.com/lago-train/lago-train/internal/invalid"
)

func runsCommand() *cli.Command {
	json := func() cli.Flag {
		return &cli.BoolFlag{Name: jsonFlag, Usage: "print one JSON object on stdout, accuracies as fractions"}
	}
	return &cli.Command{
		Name:  "runs",
		Usage: "list the runs in a folder",
		Description: `Lists one run per line: its folder, its main settings, why it ended (patience, epochs, not finite) or
how far it is (unfinished), and its accuracy, on the validation classes in the dev stage and on the
test classes in the test stage. A run with files that can't be read is broken.

Examples:
   lago-train runs --from runs --variant k-soft --status unfinished
   lago-train runs show runs/<folder>`,
		Flags: []cli.Flag{
			&cli.PathFlag{Name: fromFlag, Value: defaultRuns, Usage: "`DIR` that holds the folders of the runs"},
			&cli.StringFlag{Name: datasetFlag, Usage: "only runs on the data set `NAME`"},
			&cli.StringFlag{Name: variantFlag, Usage: "only runs of the variant or baseline `NAME`"},
			&cli.StringFlag{Name: "stage", Usage: "only runs of the `STAGE`: dev or test"},
			&cli.StringFlag{Name: "status", Usage: "only runs with the `STATUS`: patience, epochs, \"not finite\", unfinished or broken"},
			csvFlagOf("the list"),
			json(),
		},
		Action: listRuns,
		Subcommands: []*cli.Command{{
			Name:        "show",
			Usage:       "show one run",
			ArgsUsage:   "DIR",
			Description: "Shows the settings of a run, why it ended, its accuracy, and its files.",
			Flags:       []cli.Flag{csvFlagOf("the learning curve"), json()},
			Action:      showRun,
		}},
	}
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
		return &invalid.Error{Where: usage + " runs show", Want: "the folder of one run", Got: fmt.Sprintf("%s arguments", strconv.Itoa(c.NArg()))}
	}
	d, err := runs.Show(c.Args().First())
	if err != nil {
		return err
	}
	if err := writeCSV(c, d.WriteCurve); err != nil {
		return err
	}
	return output(c, nil, d, d.WriteText)
}
