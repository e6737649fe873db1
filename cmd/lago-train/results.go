package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/report"
	"github.com/lago-train/lago-train/experiments/runs"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train"
)

// runsSetting is that of commands that read runs.
func runsSetting(to *string) setting.Setting {
	return setting.Raw("from", to, defaultRuns).In(inputGroup).Describe("`RUNS` folder of the runs")
}

func runsCommand() *command {
	var from, csv string
	var o dataOptions
	var filter runs.Filter
	return &command{
		name: "runs",
		flags: setting.List{
			runsSetting(&from),
			setting.Raw("dataset", &filter.Dataset, "").In(inputGroup).Noted("all").Describe("`NAME` only runs on this data set"),
			setting.Choice("variant", &filter.Variant, "", methodNames()...).In(inputGroup).Noted("all").Describe("only runs of this variant or baseline"),
			setting.Choice("stage", &filter.Stage, "", string(train.Dev), string(train.Test)).In(inputGroup).Noted("all").Describe("only runs of this stage"),
			setting.Choice("status", &filter.Status, "", format.Strings(runs.Statuses)...).In(inputGroup).Noted("all").Describe("only runs with this status"),
			csvSetting(&csv, "the list"),
			o.jsonSetting(),
		}.Common(),
		run: func(c *call) error {
			if len(c.args) > 0 {
				return noCommand(c)
			}
			filter.Dataset = catalog.NameOf(filter.Dataset)
			l, err := filter.List(from)
			if err == nil {
				err = writeCSV(csv, l.WriteCSV)
			}
			return o.print(l, err)
		},
		below: []*command{showCommand(), removeCommand()},
	}
}

func showCommand() *command {
	var csv string
	var o dataOptions
	return &command{
		name:     "show",
		argument: "RUN",
		flags:    setting.List{csvSetting(&csv, "the learning curve"), o.jsonSetting()},
		run: withArgument(func(c *call, dir string) error {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				model, err := findModel(c.path, dir)
				if err != nil {
					return err
				}
				dir = filepath.Dir(model)
			}
			d, err := runs.Show(dir)
			if err == nil {
				err = writeCSV(csv, d.WriteCurve)
			}
			return o.print(d, err)
		}),
	}
}

func removeCommand() *command {
	var yes bool
	return &command{
		name:     "rm",
		argument: "RUN...",
		flags:    setting.List{setting.Switch("yes", &yes, false).In(runGroup).Common().Describe("delete without asking")},
		run: func(c *call) error {
			if len(c.args) == 0 {
				return wrong(c.path, "runs to delete", "none")
			}
			dirs := c.args
			for i, name := range dirs {
				file, err := findRun(c.path, name, train.TrialFile, "a run's folder, or the start of the name of a run")
				if err != nil {
					return err
				}
				dirs[i] = filepath.Dir(file)
			}
			held, err := runs.Hold(dirs...)
			if err != nil {
				return err
			}
			defer held.Close()
			if err := table.WriteText(os.Stderr, held.Table()); err != nil {
				return err
			}
			if yes {
				return held.Delete()
			}
			if !term.IsTerminal(int(os.Stdin.Fd())) {
				return wrong(c.path, "--yes, or a terminal to ask on", "neither")
			}
			_, _ = fmt.Fprint(os.Stderr, "Delete? [y/N] ")
			if answer, _ := bufio.NewReader(os.Stdin).ReadString('\n'); !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
				return errors.New("nothing was deleted")
			}
			return held.Delete()
		},
	}
}

func reportCommand() *command {
	var from, to, figures string
	var as plot.Format
	var o dataOptions
	return &command{
		name: "report",
		flags: setting.List{
			runsSetting(&from),
			setting.Raw("to", &to, "report.html").In(outputGroup).OrAs("out").Describe("`FILE` page to write"),
			setting.Raw("figures", &figures, "").In(outputGroup).Describe("`DIR` also write each figure to this folder"),
			setting.Choice("format", &as, plot.SVG, plot.SVG, plot.PDF, plot.PNG, plot.CSV).In(outputGroup).Describe("format of --figures; csv has their numbers"),
			o.jsonSetting(),
		}.Common(),
		run: func(c *call) error {
			if err := requires(c, "figures", "format"); err != nil {
				return err
			}
			page, err := report.Read(c, from)
			if err != nil {
				return err
			}
			if err := page.WriteFile(to); err != nil {
				return err
			}
			s := page.Summary()
			s.Page = to
			if figures != "" {
				s.Figures, err = plot.WriteFiles(figures, as, page.Figures()...)
			}
			return o.print(s, err)
		},
	}
}
