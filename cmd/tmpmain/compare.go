package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/reproduction"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// The settings of each method to try. With --rotate there is a search for each part.
const defaultTune, rotationTune = 8, 4

func compareCommand() *cli.Command {
	var o gridOptions
	var config comparison.Config
	var fixed cli.StringSlice
	return &cli.Command{
		Name:  "compare",
		Usage: "compare LAGO with the baselines by one protocol (table 1)",
		Description: `Chooses the settings of each method by the same search, which tries the same number of settings
and the same preprocessing for each, by the mean validation accuracy over folds of the seen classes.
Then chooses the number of epochs on the dev stage over all seeds, trains on train and validation
classes, and evaluates once on the test classes. "lago" is the variant with the best validation
accuracy: after a search for each variant, the two best are compared over all seeds. A search starts
from the defaults, on features with and without preprocessing, and leaves settings given by flags
fixed; --tune 0 takes the defaults of each method, and for LAGO those of --configs if it is given.

With --rotate N each class is unseen once: the classes are divided into N parts, and each part in
turn holds the test classes. The next part is the validation classes unless --folds is given.
LAGO then starts from its general defaults, since published settings were chosen on classes that are
unseen here. Differences between methods have 95 % bootstrap intervals over classes, and p values by
paired permutation. The result is stored in --out for the report. --adapt also adapts each method to
all unlabelled samples of the evaluated classes, with settings chosen on the validation classes.

Examples:
   lago-train compare --dataset awa2
   lago-train compare --dataset cub --rotate 5 --csv classes.csv
   lago-train compare --dataset cub --methods lago,eszsl,ale --tune 0 --set ale.lr=0.1`,
		Flags: append(append(append(o.searchedFlagsBut(
			"variant", "lr", "lr-v", "bias-factor", "batch", "beta", "lambda", "alpha", "psi", "zeta", "k", "prior",
			"complement", "config"), o.flags()...), o.rotationFlags()...),
			o.configsFlag(), o.foldsFlag(),
			choices(&config.Methods, "methods", methodGroup, "lago, variants of it, and baselines", methods.Names(), comparison.Names()...),
			adaptFlag(&config.Adapt),
			&cli.IntFlag{Name: "tune", Category: searchGroup, Value: defaultTune, DefaultText: fmt.Sprintf("%d, or %d with --rotate", defaultTune, rotationTune), Usage: "`N` settings to try for each method; 0 takes its defaults", Destination: &config.Budget},
			&cli.StringSliceFlag{Name: "set", Category: methodGroup, Usage: "`NAME=VALUE` setting of a baseline to fix, as in ale.lr=0.1", Destination: &fixed},
			csvFlag(&o.csv, "the accuracy of each method on each class")),
		Action: func(c *cli.Context) error {
			presets, err := o.comparison(c, &config, fixed.Value())
			if err != nil {
				return err
			}
			l, err := o.openLab(c, presets...)
			if err != nil {
				return err
			}
			r, err := comparison.Run(c.Context, l, config)
			if err != nil {
				return err
			}
			return errors.Join(o.outputOf(l, r), writeCSV(o.csv, r.WriteCSV))
		},
	}
}

// comparison completes the configuration of a comparison, and returns its presets.
func (o *gridOptions) comparison(c *cli.Context, config *comparison.Config, fixed []string) ([]engine.Preset, error) {
	if c.IsSet("rotate") && !c.IsSet("tune") {
		config.Budget = rotationTune
	}
	if err := excludes(c, "rotate", "configs"); err != nil {
		return nil, err
	}
	if c.IsSet("configs") && config.Budget != 0 {
		return nil, wrong("--configs", "--tune 0 beside it: a search of every method starts from the defaults", "")
	}
	var variants []model.Variant
	for _, v := range model.Variants {
		if slices.Contains(config.Methods, engine.LAGOMethod) || slices.Contains(config.Methods, string(v)) {
			variants = append(variants, v)
		}
	}
	presets, err := o.presets(c, variants)
	if err != nil {
		return nil, err
	}
	config.Common, config.LAGO, config.Given = presets[0].Config, configsOf(presets[1:]), givenSettings(c)
	if config.Folds, err = o.foldsOf(c, presets[0]); err != nil {
		return nil, err
	}
	for _, s := range fixed {
		f, err := comparison.ParseFixed(s)
		if err != nil {
			return nil, atFlag("set", err)
		}
		config.Fixed = append(config.Fixed, f)
	}
	config.OnRound = logRound
	config.OnAdapt = func(method string) { logrus.WithField("method", method).Info("adapt") }
	return presets, config.Check()
}

// methodNames are the variants of LAGO and the baselines.
func methodNames() []string { return append(format.Strings(model.Variants), methods.Names()[1:]...) }

func reproduceCommand() *cli.Command {
	var o gridOptions
	return &cli.Command{
		Name:  "reproduce",
		Usage: "run the paper's protocol for all variants (tables 1 and A.1)",
		Description: `Trains every variant on the dev stage, retrains it on train and validation classes for the number
of epochs of its average curve, and evaluates it on the test classes. The variant with the best
validation accuracy is the result (table 1); the test accuracies of the others, and of ESZSL, are
printed for reference (table A.1). Where ESZSL has a published number, it is trained without the
held-out samples of seen classes, as that number was. A variant has its default settings or, with
--configs, those of search-<dataset>-<variant>.json if there is one. Settings given by flags are
those of every variant. Finished runs are reused. With --rotate N every class is unseen
once. The result is stored in --out for the report.

Examples:
   lago-train reproduce --dataset awa2
   lago-train reproduce --dataset cub --configs runs --seeds 3`,
		Flags: append(o.protocolFlags(), append(o.flags(), o.rotationFlags()...)...),
		Action: func(c *cli.Context) error {
			presets, err := o.presets(c, model.Variants)
			if err != nil {
				return err
			}
			l, err := o.openLab(c, presets...)
			if err != nil {
				return err
			}
			r, err := reproduction.Run(c.Context, l, configsOf(presets[1:]))
			if err != nil {
				return err
			}
			return o.outputOf(l, r)
		},
	}
}
