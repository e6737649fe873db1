package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/grouping"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/report"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/experiments/runs"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// runsSetting is that of commands that read runs.
func runsSetting(to *string) setting.Setting {
	return setting.Raw("from", to, defaultRuns).In(inputGroup).Describe("`RUNS` folder of the runs")
}

func runsCommand() *cli.Command {
	var from, csv string
	var o dataOptions
	var filter runs.Filter
	return &cli.Command{
		Name: "runs",
		Flags: flags(setting.List{
			runsSetting(&from),
			setting.Raw("dataset", &filter.Dataset, "").In(inputGroup).Noted("all").Describe("`NAME` only runs on this data set"),
			setting.Choice("variant", &filter.Variant, "", methodNames()...).In(inputGroup).Noted("all").Describe("only runs of this variant or baseline"),
			setting.Choice("stage", &filter.Stage, "", string(train.Dev), string(train.Test)).In(inputGroup).Noted("all").Describe("only runs of this stage"),
			setting.Choice("status", &filter.Status, "", format.Strings(runs.Statuses)...).In(inputGroup).Noted("all").Describe("only runs with this status"),
			csvSetting(&csv, "the list"),
			o.jsonSetting(),
		}.Common()),
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return noCommand(c)
			}
			filter.Dataset = catalog.NameOf(filter.Dataset)
			l, err := filter.List(from)
			if err == nil {
				err = writeCSV(csv, l.WriteCSV)
			}
			return o.print(l, err)
		},
		Subcommands: []*cli.Command{showCommand(), removeCommand()},
	}
}

func showCommand() *cli.Command {
	var csv string
	var o dataOptions
	return &cli.Command{
		Name:      "show",
		ArgsUsage: "RUN",
		Flags:     flags(setting.List{csvSetting(&csv, "the learning curve"), o.jsonSetting()}),
		Action: withArgument(func(c *cli.Context, dir string) error {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				model, err := findModel(c.Command.HelpName, dir)
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

func removeCommand() *cli.Command {
	var yes bool
	return &cli.Command{
		Name:      "rm",
		ArgsUsage: "RUN...",
		Flags:     flags(setting.List{setting.Switch("yes", &yes, false).In(runGroup).Common().Describe("delete without asking")}),
		Action: interruptible(func(c *cli.Context) error {
			if c.NArg() == 0 {
				return wrong(c.Command.HelpName, "runs to delete", "none")
			}
			dirs := c.Args().Slice()
			for i, name := range dirs {
				file, err := findRun(c.Command.HelpName, name, train.TrialFile, "a run's folder, or the start of the name of a run")
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
				return wrong(c.Command.HelpName, "--yes, or a terminal to ask on", "neither")
			}
			_, _ = fmt.Fprint(os.Stderr, "Delete? [y/N] ")
			if answer, _ := bufio.NewReader(os.Stdin).ReadString('\n'); !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
				return errors.New("nothing was deleted")
			}
			return held.Delete()
		}),
	}
}

func reportCommand() *cli.Command {
	var from, to, figures string
	var as plot.Format
	var o dataOptions
	return &cli.Command{
		Name: "report",
		Flags: flags(setting.List{
			runsSetting(&from),
			setting.Raw("to", &to, "report.html").In(outputGroup).OrAs("out").Describe("`FILE` page to write"),
			setting.Raw("figures", &figures, "").In(outputGroup).Describe("`DIR` also write each figure to this folder"),
			setting.Choice("format", &as, plot.SVG, plot.SVG, plot.PDF, plot.PNG, plot.CSV).In(outputGroup).Describe("format of --figures; csv has their numbers"),
			o.jsonSetting(),
		}.Common()),
		Action: interruptible(func(c *cli.Context) error {
			if err := requires(c, "figures", "format"); err != nil {
				return err
			}
			page, err := report.Read(c.Context, from)
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
		}),
	}
}

func groupsCommand() *cli.Command {
	var o gridOptions
	var asked grouping.Config
	var name string
	var top int
	var p config.Preset
	return o.study("groups",
		flags(o.devSettings(devEpochs, "variant"), o.gridSettings(), setting.List{modelSetting(&name)}, asked.Settings().In(classGroup).Common(), setting.List{
			setting.Whole("top", &top, 5, setting.Between(0, int(setting.Count.Most))).In(outputGroup).Common().Describe("`N` attributes to print per group; --json has all"),
		}),
		func(c *cli.Context) (_ []config.Preset, err error) {
			if name != "" { // nothing is trained
				return nil, interruptible(func(c *cli.Context) error { return o.print(o.groupsOf(c, name, asked, top)) })(c)
			}
			p, err = o.preset(c, model.KSoft, model.SemanticSoft)
			return []config.Preset{p}, err
		},
		func(ctx context.Context, l *lab.Lab) (tabled, error) {
			return trainedGroups(ctx, l, p.Config, asked, top)
		})
}

// groupsOf analyses the model of --model on the data set that it was trained on.
func (o *gridOptions) groupsOf(c *cli.Context, name string, asked grouping.Config, top int) (*grouping.Result, error) {
	ofTraining := []string{"config", "jobs", "shard", "out"}
	for _, key := range givenSettings(c) {
		ofTraining = append(ofTraining, flagOf(key))
	}
	if err := excludes(c, "model", ofTraining...); err != nil {
		return nil, err
	}
	m, err := openModel(name)
	if err != nil {
		return nil, err
	}
	d, err := openData(c.Context, m, "", o.Options)
	if err != nil {
		return nil, err
	}
	r, err := grouping.Run(d, m.Saved, asked)
	if err == nil {
		r.Top = top
	}
	return r, err
}

// trainedGroups trains by the full protocol, analyses the model of the first seed, and stores
// the result.
func trainedGroups(ctx context.Context, l *lab.Lab, p config.Config, asked grouping.Config, top int) (tabled, error) {
	done, err := engine.Run(ctx, l, engine.Plan{Arms: []engine.Arm{{Name: p.Method.Label(), Starts: []config.Config{p}}}, Stage: config.DevThenTest})
	switch {
	case err != nil:
		return nil, err
	case done.Waiting != nil:
		return nil, done.Waiting
	}
	if _, err := results.TrainedOf(done.Failed()); err != nil {
		return nil, err
	}
	file := lab.ModelFiles(done.Arms[0][0].Test)[0]
	m, err := train.Load(file)
	if err != nil {
		return nil, err
	}
	r, err := grouping.Run(l.Data, m, asked)
	if err != nil {
		return nil, err
	}
	r.Top, r.Model = top, file
	return r, l.Store(grouping.Kind, []any{p, asked}, r)
}
