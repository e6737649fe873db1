package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/runs"
)

func runsCommand() *cli.Command {
	return &cli.Command{
		Name:  "runs",
		Usage: "list the runs that a folder holds",
		Description: `Lists a run a line: its folder, what defines it in short, why it ended (patience,
epochs, not finite) or how far it is (unfinished), and what its model scores on the
val classes in the dev stage, on the test classes in the test stage. A run whose
files don't read is broken, with the reason below the table.

   lago-train runs --from runs --variant k-soft --status unfinished
   lago-train runs show runs/<folder>   shows all of one`,
		Flags: []cli.Flag{
			&cli.PathFlag{Name: fromFlag, Value: "runs", Usage: "`DIR` that holds the folders of the runs"},
			&cli.StringFlag{Name: datasetFlag, Usage: "only those of the data set `NAME`"},
			&cli.StringFlag{Name: variantFlag, Usage: "only those of the variant `NAME`"},
			&cli.StringFlag{Name: "stage", Usage: "only those of the stage `NAME`, dev or test"},
			&cli.StringFlag{Name: "status", Usage: "only those with the status `NAME`: patience, epochs, \"not finite\", unfinished or broken"},
			runsJSON(),
		},
		Action: listRuns,
		Subcommands: []*cli.Command{{
			Name:        "show",
			Usage:       "show all of one run",
			ArgsUsage:   "DIR",
			Description: `Shows the settings of a run, why it ended, what it scored, and its files.`,
			Flags:       []cli.Flag{runsJSON()},
			Action:      showRun,
		}},
	}
}

func runsJSON() cli.Flag {
	return &cli.BoolFlag{Name: jsonFlag, Usage: "print one JSON object on stdout, accuracies as fractions"}
}

func listRuns(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	l, err := runs.Filter{
		Dataset: c.String(datasetFlag), Variant: c.String(variantFlag), Stage: c.String("stage"), Status: c.String("status"),
	}.List(c.Path(fromFlag))
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(l)
	}
	return l.WriteText(os.Stdout)
}

func showRun(c *cli.Context) error {
	if c.NArg() != 1 {
		return fmt.Errorf("runs show: expected the folder of one run, found %d arguments", c.NArg())
	}
	d, err := runs.Show(c.Args().First())
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(d)
	}
	return d.WriteText(os.Stdout)
}
