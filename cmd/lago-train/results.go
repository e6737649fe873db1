package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/grouping"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/report"
	"github.com/lago-train/lago-train/experiments/runs"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// runsFlag is that of commands that read runs.
func runsFlag(to *string) cli.Flag {
	return &cli.PathFlag{Name: "from", Category: inputGroup, Value: defaultRuns, Usage: "`DIR` folder that holds the runs", Destination: to}
}

func runsCommand() *cli.Command {
	var from, csv string
	var o dataOptions
	var filter runs.Filter
	return &cli.Command{
		Name:  "runs",
		Usage: "list the runs in a folder",
		Description: `Lists one run per line: its folder, its main settings, why it ended or how far it is, and its
accuracy, on the validation classes in the dev stage and on the test classes in the test stage.

Examples:
   lago-train runs --variant k-soft --status unfinished
   lago-train runs --from runs --csv runs.csv`,
		Flags: []cli.Flag{
			runsFlag(&from),
			&cli.StringFlag{Name: "dataset", Category: inputGroup, DefaultText: "all", Usage: "`NAME` only runs on this data set", Destination: &filter.Dataset},
			optional(&filter.Variant, "variant", inputGroup, "only runs of this variant or baseline", "all", methodNames()...),
			optional(&filter.Stage, "stage", inputGroup, "only runs of this stage", "all", string(train.Dev), string(train.Test)),
			optional(&filter.Status, "status", inputGroup, "only runs with this status", "all", format.Strings(runs.Statuses)...),
			csvFlag(&csv, "the list"),
			o.jsonFlag(),
		},
		Action: o.printing(func(c *cli.Context) (tabled, error) {
			if c.NArg() > 0 {
				return nil, noCommand(c)
			}
			l, err := filter.List(from)
			if err != nil {
				return nil, err
			}
			return l, writeCSV(csv, l.WriteCSV)
		}),
		Subcommands: []*cli.Command{showCommand()},
	}
}

func showCommand() *cli.Command {
	var csv string
	var o dataOptions
	return &cli.Command{
		Name:      "show",
		Usage:     "show one run",
		ArgsUsage: "DIR",
		Description: `Shows the settings of a run, why it ended, its accuracy, and its files. DIR is its folder or, for
finished runs, what --model accepts.

Examples:
   lago-train runs show latest
   lago-train runs show runs/glyphs-k-soft-dev-seed0-0f72bb99bcf2 --csv curve.csv`,
		Flags: []cli.Flag{csvFlag(&csv, "the learning curve"), o.jsonFlag()},
		Action: o.printing(func(c *cli.Context) (tabled, error) {
			if c.NArg() != 1 {
				return nil, wrong(c.Command.HelpName, "the folder of one run", format.Count(c.NArg(), "argument"))
			}
			dir := c.Args().First()
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				model, err := findModel(c.Command.HelpName, dir)
				if err != nil {
					return nil, err
				}
				dir = filepath.Dir(model)
			}
			d, err := runs.Show(dir)
			if err != nil {
				return nil, err
			}
			return d, writeCSV(csv, d.WriteCurve)
		}),
	}
}

func reportCommand() *cli.Command {
	var from, out, figures string
	var as plot.Format
	var o dataOptions
	return &cli.Command{
		Name:  "report",
		Usage: "write an HTML page with the results of a folder of runs",
		Description: `Shows the results that run, search and the experiments stored in a folder, and trains nothing:
tables, figures and learning curves of each data set. It lists the commands for what no command
stored. The page is one file that needs no network.

Examples:
   lago-train report
   lago-train report --from runs --out report.html --figures figures --format png`,
		Flags: []cli.Flag{
			runsFlag(&from),
			&cli.PathFlag{Name: "out", Category: outputGroup, Value: "report.html", Usage: "`FILE` page to write", Destination: &out},
			&cli.PathFlag{Name: "figures", Category: outputGroup, Usage: "`DIR` also write each figure to this folder", Destination: &figures},
			choice(&as, "format", outputGroup, "format of --figures; csv has their numbers", plot.SVG, plot.SVG, plot.PDF, plot.PNG, plot.CSV),
			o.jsonFlag(),
		},
		Action: interruptible(o.printing(func(c *cli.Context) (tabled, error) {
			if err := requires(c, "figures", "format"); err != nil {
				return nil, err
			}
			page, err := report.Read(c.Context, from)
			if err != nil {
				return nil, err
			}
			if err := page.WriteFile(out); err != nil {
				return nil, err
			}
			s := page.Summary()
			if s.Page = out; figures == "" {
				return s, nil
			}
			s.Figures, err = plot.WriteFiles(figures, as, page.Figures()...)
			return s, err
		})),
	}
}

func groupsCommand() *cli.Command {
	var o gridOptions
	var config grouping.Config
	var name string
	var top int
	return &cli.Command{
		Name:  "groups",
		Usage: "analyse the attribute groups that a soft model learned",
		Description: `Prints the sparsity of the group assignment Gamma, the attributes of each group, and how many pairs
of attributes in the same group are anti-correlated, compared with the other pairs (permutation
test) and with the paper's numbers. Correlations are over the descriptions of classes; the paper used
the attributes of each image for CUB and SUN, and does not state which correlation counts (--below).
Without --model, k-soft is trained by the full protocol, and the model of the first seed is analysed.

Examples:
   lago-train groups --model latest
   lago-train groups --dataset awa2 --by weighted-classes --below -0.4`,
		Flags: append(append(o.devSettingFlags(devEpochs, "variant"), o.flags()...),
			modelFlag(&name),
			choice(&config.By, "by", classGroup, "correlate attributes over classes, or over classes weighted by their samples", grouping.ByClasses, grouping.ByClasses, grouping.ByWeightedClasses),
			&cli.Float64Flag{Name: "threshold", Category: classGroup, Value: 1e-3, Usage: "`T` value up to which entries of Gamma and products of its rows count as zero", Destination: &config.Threshold},
			&cli.Float64Flag{Name: "below", Category: classGroup, Usage: "`R` correlation below which attributes are anti-correlated", Destination: &config.Below},
			atLeast(0, &cli.IntFlag{Name: "top", Category: outputGroup, Value: 5, Usage: "`N` attributes to print per group; --json has all", Destination: &top})),
		Action: func(c *cli.Context) error {
			if err := config.Settings().Check(); err != nil {
				return err
			}
			if name == "" {
				var p engine.Preset
				return o.study(
					func(c *cli.Context) (_ []engine.Preset, err error) {
						p, err = o.preset(c, model.KSoft, model.SemanticSoft)
						return []engine.Preset{p}, err
					},
					func(ctx context.Context, l *lab.Lab) (tabled, error) {
						return trainedGroups(ctx, l, p.Config, config, top)
					})(c)
			}
			return interruptible(o.printing(func(c *cli.Context) (tabled, error) { return o.groupsOf(c, name, config, top) }))(c)
		},
	}
}

// groupsOf analyses the model of --model on the data set that it was trained on.
func (o *gridOptions) groupsOf(c *cli.Context, name string, config grouping.Config, top int) (*grouping.Result, error) {
	ofTraining := []string{"config", "jobs", "shard", "out"}
	for _, key := range givenSettings(c) {
		ofTraining = append(ofTraining, flagOf(key))
	}
	if err := excludes(c, "model", ofTraining...); err != nil {
		return nil, err
	}
	m, err := loadModel(name)
	if err != nil {
		return nil, err
	}
	d, err := m.open(c.Context, &o.dataOptions, "")
	if err != nil {
		return nil, err
	}
	r, err := grouping.Run(d, m.Saved, config)
	if err == nil {
		r.Top = top
	}
	return r, err
}

// trainedGroups trains by the full protocol, analyses the model of the first seed, and stores
// the result.
func trainedGroups(ctx context.Context, l *lab.Lab, p engine.Config, config grouping.Config, top int) (tabled, error) {
	done, err := engine.Run(ctx, l, engine.Plan{Arms: []engine.Arm{{Name: p.Method.Label(), Starts: []engine.Config{p}}}, Stage: engine.DevThenTest})
	switch {
	case err != nil:
		return nil, err
	case done.Waiting != nil:
		return nil, done.Waiting
	}
	if _, err := engine.TrainedOf(done.Failed()); err != nil {
		return nil, err
	}
	file := engine.ModelFiles(done.Arms[0][0].Test)[0]
	m, err := train.Load(file)
	if err != nil {
		return nil, err
	}
	r, err := grouping.Run(l.Data, m, config)
	if err != nil {
		return nil, err
	}
	r.Top, r.Model = top, file
	return r, l.Store(grouping.Kind, []any{p, config}, r)
}
