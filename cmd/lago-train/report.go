package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/report"
	"github.com/lago-train/lago-train/internal/invalid"
)

const figuresFlag = "figures"

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:  "report",
		Usage: "write an HTML page with the results of a folder of runs",
		Description: `Reads the runs in a folder and what compare, noise and partial stored there, and trains
nothing. For each data set the page starts with a summary, compares variants and baselines
and shows learning curves, the ablation, the K sweep, noisy and partial descriptions, learned
groups, confusion matrices and settings. It lists the commands for what has not been run.
The page is one file that needs no network.

Examples:
   lago-train report
   lago-train report --from runs --out report.html --figures figures --format png`,
		Flags: []cli.Flag{
			runsFlag(),
			&cli.PathFlag{Name: outFlag, Category: outputGroup, Value: "report.html", Usage: "`FILE` page to write"},
			&cli.PathFlag{Name: figuresFlag, Category: outputGroup, Usage: "`DIR` also write each figure to this folder"},
			choice(formatFlag, outputGroup, "format of --figures; csv has their numbers", report.SVG, report.SVG, report.PDF, report.PNG, report.CSV),
			jsonFlagOf(),
		},
		Action: interruptible(writeReport),
	}
}

func writeReport(c *cli.Context) error {
	if err := requires(c, figuresFlag, formatFlag); err != nil {
		return err
	}
	page, err := report.Read(c.Path(fromFlag))
	if err != nil {
		return err
	}
	out := c.Path(outFlag)
	if err := page.WriteFile(out); err != nil {
		return err
	}
	s := page.Summary()
	s.Page = out
	if dir := c.Path(figuresFlag); dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return invalid.File(dir, err)
		}
		if s.Figures, err = page.WriteFigures(dir, report.Format(c.String(formatFlag))); err != nil {
			return err
		}
	}
	return output(c, nil, s, s.WriteText)
}
