package main

import (
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline/methods"
)

func compareCommand() *cli.Command {
	const category = "comparison"
	return &cli.Command{
		Name:  "compare",
		Usage: "compare LAGO with the baselines by one protocol (table 1)",
		Description: `Tunes the settings of each method on the validation classes with the first seed, chooses the number
of epochs on the dev stage over all seeds, trains on train and validation classes, and evaluates
once on the test classes. LAGO is the variant with the best validation accuracy; variants can be
named too. --tune 0 takes the defaults of each method, or for LAGO those of --configs; methods in
closed form, such as ESZSL, are always searched whole. Without --preprocess, baselines see the
features as they are, and LAGO has its default preprocessing or searches one. The table is stored as
compare-<dataset>-<digest>.json in --out for the report.

Examples:
   lago-train compare --dataset awa2
   lago-train compare --dataset cub --methods lago,eszsl,ale --tune 0 --set ale.lr=0.1`,
		Flags: append(append(settingFlagsBut(
			variantFlag, "stage", "epochs", "lr", "lr-v", "batch", "beta", "lambda", "alpha", "psi", "zeta", "k", "prior",
			"complement", configFlag), gridFlags()...),
			devEpochsFlag(), configsDirFlag(),
			&cli.StringSliceFlag{
				Name: "methods", Category: category, Usage: "methods `NAME,NAME...`: lago, a variant of it, or a baseline",
				Value: cli.NewStringSlice(append([]string{tuning.LAGOMethod}, methods.Names()...)...),
			},
			&cli.IntFlag{Name: "tune", Category: category, Value: 16, Usage: "`N` settings of each method to try, or 0"},
			&cli.StringSliceFlag{Name: "set", Category: category, Usage: "fix `METHOD.SETTING=VALUE` of a baseline, as in ale.lr=0.1"}),
		Action: compare,
	}
}

func compare(c *cli.Context) error {
	config, common, err := compareConfig(c)
	if err != nil {
		return err
	}
	l, err := openLab(c, common)
	if err != nil {
		return err
	}
	r, err := comparison.Run(c.Context, l, config)
	if err != nil {
		return err
	}
	return output(c, l, r, r.WriteText)
}

// compareConfig returns the configuration of the comparison and what is common to all
// methods.
func compareConfig(c *cli.Context) (config tuning.Config, common protocol.Config, err error) {
	config = tuning.Config{Methods: c.StringSlice("methods"), Budget: c.Int("tune"), Given: givenSettings(c)}
	if config.LAGO, err = protocolConfigs(c, tuning.VariantsOf(config.Methods)); err != nil {
		return config, common, err
	}
	// Without --preprocess, --ridge is that of LAGO.
	keys := []string{"preprocess"}
	if c.IsSet("preprocess") || len(config.LAGO) == 0 {
		keys = append(keys, "ridge")
	}
	if common, err = commonConfig(c, keys...); err != nil {
		return config, common, err
	}
	config.Preprocess, config.Ridge = common.Preprocess, common.Ridge
	config.Seeds, config.Seed, config.HoldOut = common.Seeds, common.Seed, common.HoldOut
	config.Epochs, config.Patience = common.DevEpochs(), common.Patience
	for _, s := range c.StringSlice("set") {
		f, err := tuning.ParseFixed(s)
		if err != nil {
			return config, common, invalid.At("--set", err)
		}
		config.Fixed = append(config.Fixed, f)
	}
	return config, common, config.Check()
}
