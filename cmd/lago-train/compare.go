package main

import (
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline/methods"
)

const tuneFlag = "tune"

// The settings of each method to try. With --rotate there is a search for each part.
const defaultTune, rotationTune = 8, 4

func compareCommand() *cli.Command {
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
		Flags: append(append(append(searchedFlagsBut(
			variantFlag, "lr", "lr-v", "bias-factor", "batch", "beta", "lambda", "alpha", "psi", "zeta", "k", "prior",
			"complement", configFlag), gridFlags()...), rotationFlags()...),
			configsDirFlag(), foldsFlag(),
			choices(methodsFlag, methodGroup, "lago, variants of it, and baselines", append([]string{tuning.LAGOMethod}, methods.Names()...), tuning.Names()...),
			adaptFlag(),
			&cli.IntFlag{Name: tuneFlag, Category: searchGroup, Value: defaultTune, DefaultText: fmt.Sprintf("%d, or %d with --%s", defaultTune, rotationTune, rotateFlag), Usage: "`N` settings to try for each method; 0 takes its defaults"},
			&cli.StringSliceFlag{Name: "set", Category: methodGroup, Usage: "`NAME=VALUE` setting of a baseline to fix, as in ale.lr=0.1"},
			csvFlagOf("the accuracy of each method on each class")),
		Action: compare,
	}
}

func compare(c *cli.Context) error {
	config, presets, err := compareConfig(c)
	if err != nil {
		return err
	}
	l, err := openLab(c, presets...)
	if err != nil {
		return err
	}
	r, err := comparison.Run(c.Context, l, config)
	if err != nil {
		return err
	}
	return errors.Join(output(c, l, r, r.WriteText), writeCSV(c, r.WriteCSV))
}

// compareConfig returns the configuration of the comparison, and its protocolPresets.
func compareConfig(c *cli.Context) (config tuning.Config, presets []protocol.Preset, err error) {
	config = tuning.Config{
		Budget: c.Int(tuneFlag), Adapt: c.Bool(adaptArg), Given: givenSettings(c), OnRound: logRound,
		OnAdapt: func(method string) { logrus.WithField("method", method).Info("adapt") },
	}
	if config.Methods, err = methodsOf(c, tuning.Names()); err != nil {
		return config, nil, err
	}
	if c.IsSet(rotateFlag) && !c.IsSet(tuneFlag) {
		config.Budget = rotationTune
	}
	if err := excludes(c, rotateFlag, configsFlag); err != nil {
		return config, nil, err
	}
	if c.IsSet(configsFlag) && config.Budget != 0 {
		return config, nil, &invalid.Error{Where: "--" + configsFlag, Want: "--" + tuneFlag + " 0 beside it: a search of every method starts from the defaults"}
	}
	if presets, err = protocolPresets(c, tuning.VariantsOf(config.Methods)); err != nil {
		return config, nil, err
	}
	config.Common, config.LAGO = presets[0].Config, configsOf(presets[1:])
	if config.Folds, err = folds(c, presets[0]); err != nil {
		return config, nil, err
	}
	for _, s := range c.StringSlice("set") {
		f, err := tuning.ParseFixed(s)
		if err != nil {
			return config, nil, invalid.At("--set", err)
		}
		config.Fixed = append(config.Fixed, f)
	}
	return config, presets, config.Check()
}
