package main

import (
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/report"
	"github.com/lago-train/lago-train/internal/atomicfile"
)

const (
	figuresFlag = "figures"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:  "report",
		Usage: "show what a folder of trials holds, in one HTML page with pictures",
		Description: `Reads the folders of trials in --from, and DIR/noise.json where "lago-train noise
--json" was written there, and trains nothing. The page holds, for each data set,

   variants side by side, on val and test classes
   learning curves, with their spread over seeds and the epoch they stop at
   the design decisions of the ablation
   accuracy against the number of groups, and against noise in descriptions
   the groups that the best soft model learned
   the confusion between unseen classes
   the settings of every configuration

and names the command that makes what is not there. It opens anywhere without a
network, and prints. --figures writes each picture into a file as well.`,
		Flags: []cli.Flag{
			&cli.PathFlag{Name: fromFlag, Value: "runs", Usage: "`DIR` with the folders of the trials"},
			&cli.PathFlag{Name: outFlag, Value: "report.html", Usage: "`FILE` to write the page to"},
			&cli.PathFlag{Name: figuresFlag, Usage: "write each picture into a file of `DIR`"},
			&cli.StringFlag{Name: formatFlag, Value: "svg", Usage: "`FORMAT` of --figures: svg or png"},
			&cli.BoolFlag{Name: jsonFlag, Usage: "print one JSON object on stdout: what each configuration scored, as fractions, and the files"},
		},
		Action: writeReport,
	}
}

func writeReport(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	var format report.Format
	if err := setText(&format, c, formatFlag); err != nil {
		return err
	}
	runs, err := report.Read(c.Path(fromFlag))
	if err != nil {
		return err
	}
	page := report.NewPage(runs)
	out := c.Path(outFlag)
	if err := atomicfile.Write(out, func(w io.Writer) error { return page.WriteHTML(w) }); err != nil {
		return err
	}
	s := runs.Summary()
	s.Page = out
	if dir := c.Path(figuresFlag); dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if s.Figures, err = page.WriteFigures(dir, format); err != nil {
			return err
		}
	}
	if c.Bool(jsonFlag) {
		return printJSON(s)
	}
	return s.WriteText(os.Stdout)
}
