package main

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/search"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/train"
)

func runCommand() *cli.Command {
	var o gridOptions
	var printOnly bool
	return &cli.Command{
		Name:  "run",
		Usage: "train a variant on a data set and evaluate it on unseen classes",
		Description: `Follows the paper's protocol. The dev stage trains on the train classes and stops by the
validation classes. The epoch with the best average validation accuracy over seeds is the number
of epochs of the test stage, which trains on train and validation classes and is evaluated once on
the test classes. The models also get the settings of predict --adapt, chosen on the validation
classes. Each run has a folder in --out, which also gets the result for the report. Finished runs are
reused; an interrupted run resumes from its checkpoint to bit-identical results. On CUB, AWA2 and SUN
the defaults are the published settings of the variant; --print-config shows them.

Examples:
   lago-train run
   lago-train run --dataset awa2 --variant k-soft --seeds 3
   lago-train run --dataset cub --print-config > settings.json`,
		Flags: append(append(o.settingFlags(), o.dataOptions.flags()...), o.outFlag(),
			&cli.IntFlag{Name: "jobs", Category: runGroup, Value: 1, Usage: "`N` seeds trained in parallel", Destination: &o.jobs},
			jsonFlag(&o.json),
			&cli.BoolFlag{Name: "print-config", Category: outputGroup, Usage: "print the settings as JSON for --config, and train nothing", Destination: &printOnly}),
		Action: func(c *cli.Context) error {
			p, err := o.preset(c)
			if err != nil {
				return err
			}
			if printOnly {
				return printConfig(os.Stdout, os.Stderr, p)
			}
			l, err := o.openLab(c, p)
			if err != nil {
				return err
			}
			logrus.WithFields(logrus.Fields{"dataset": l.Data.Name, "variant": p.Method.Label(), "stage": p.Stage, "seeds": p.Seeds}).Info("run")
			logrus.WithField("blas", blas.Current().String()).Debug(p.Source)
			l.OnProgress = nil
			l.Options = train.Options{OnEpoch: showEpoch(p.Seed, p.Seeds), OnResume: logResume, OnWarning: logRunWarning}
			r, err := protocol.Run(c.Context, l, p, func() { logrus.Info("choosing the settings of predict --adapt on the validation classes") })
			if err != nil {
				return err
			}
			return output(o.json, r)
		},
	}
}

// printConfig writes the settings that apply to a run, and where each comes from.
func printConfig(stdout, stderr io.Writer, p engine.Preset) error {
	p.Epochs = p.EpochsOf()
	for _, s := range p.Settings().Used() {
		origin := p.Origins[s.Key]
		if origin == engine.FromPreset {
			origin += ": " + p.Source
		}
		if _, err := fmt.Fprintf(stderr, "%-12s %-14v %s\n", s.Key, s.Value(), origin); err != nil {
			return err
		}
	}
	return format.WriteJSON(stdout, p.Config)
}

func searchCommand() *cli.Command {
	var o gridOptions
	var s search.Config
	return &cli.Command{
		Name:  "search",
		Usage: "find settings of a variant on the validation classes, and write a config file",
		Description: `Searches on the dev stage, as the paper does. A coarse round tries the default settings, features
without preprocessing, and others spread over the space; refining rounds try neighbours of the best.
The best are then trained with three further seeds: their mean accuracy decides, and their mean curve
gives the number of epochs. Each setting is trained once for each fold of the seen classes and ranked
by the mean validation accuracy. Of 24 settings, 12 are coarse, 12 refine, and 3 get further seeds.
Settings given by flags stay fixed. The chosen settings are written to a file for run --config.

Finished runs are reused when the command is repeated. With --shard, repeat it on every machine until
it prints the table, because each round needs the one before. With --rotate N, the search is repeated
without each part of the classes and its choice is evaluated on that part, which estimates the
accuracy of searched settings. No config file is then written.

Examples:
   lago-train search --dataset awa2 --budget 40
   lago-train search --variant k-soft --k 20 --preprocess sqrt,l2,whiten
   lago-train search --dataset cub --rotate 5`,
		Flags: append(append(append(o.searchedFlagsBut(), o.flags()...), o.rotationFlags()...),
			o.foldsFlag(),
			&cli.IntFlag{Name: "budget", Category: searchGroup, Value: 24, Usage: fmt.Sprintf("`N` settings to try, at least %d", engine.MinBudget), Destination: &s.Budget},
			&cli.PathFlag{Name: "write", Category: outputGroup, DefaultText: "search-<dataset>-<variant>.json in --out", Usage: "`FILE` config file to write", Destination: &s.File}),
		Action: func(c *cli.Context) error {
			p, err := o.preset(c)
			if err != nil {
				return err
			}
			if s.File == "" {
				s.File = engine.SearchFile(o.out, p.Dataset, p.DevSplit, p.Method.Variant())
			}
			if err := cmp.Or(requires(c, "rotate", "seeds"), excludes(c, "rotate", "write")); err != nil {
				return err
			}
			s.Start, s.Fixed, s.OnRound = p.Config, givenSettings(c), logRound
			if s.Folds, err = o.foldsOf(c, p); err != nil {
				return err
			}
			if err := s.Check(); err != nil {
				return err
			}
			l, err := o.openLab(c, p)
			if err != nil {
				return err
			}
			if len(l.Parts) > 1 {
				s.File = ""
				r, err := search.RunRotation(c.Context, l, s)
				if err != nil {
					return err
				}
				return o.outputOf(l, r)
			}
			r, err := search.Run(c.Context, l, s)
			if err != nil {
				return err
			}
			return o.outputOf(l, r)
		},
	}
}
