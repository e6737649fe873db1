package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/preprocess"
)

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:  "compare",
		Usage: "LAGO and its baselines by one protocol, table 1",
		Description: `Trains LAGO and the methods of the paper's table 1 on one data set. Settings are tuned
on the val classes with the first seed; the dev stage over all seeds says for how many
epochs to train on train and val classes together; what that gives is judged once on
the test classes. LAGO is the variant with the best val accuracy; a variant can be
named by itself too.

--tune N tries N settings of each method, its defaults among them; those of LAGO are
found as in search, at least 5 trials a variant. With 0 every method has its defaults, and LAGO the settings of its
preset or of --configs. ESZSL, which is solved in closed form, is searched whole in
any case. --set pins a setting of a baseline.

Baselines see the features as they are, unless --preprocess says otherwise for all methods;
left out, LAGO has the preprocessing of its preset or finds one in its search.

The trials are those of the other commands, so that what was trained once is not done
again; --shard and --jobs spread them. The table is stored as compare-<dataset>.json
in --out, where the report finds it.`,
		Flags: append(append(settingFlagsBut(
			variantFlag, "stage", "epochs", "lr", "lr-v", "batch", "beta", "lambda", "alpha", "psi", "zeta", "k", "prior",
			"complement", configFlag), gridFlags()...),
			devEpochsFlag(), configsFlag(),
			&cli.StringSliceFlag{
				Name: "methods", Usage: "`NAME,NAME...` of what to compare: lago, a variant of it, or a baseline",
				Value: cli.NewStringSlice(append([]string{tuning.LAGOMethod}, methods.Names()...)...),
			},
			&cli.IntFlag{Name: "tune", Value: 16, Usage: "`N` settings of each method to try on the val classes"},
			&cli.StringSliceFlag{Name: "set", Usage: "`METHOD.SETTING=VALUE` of a baseline that is not tuned, as in ale.lr=0.1"}),
		Action: compare,
	}
}

func compare(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	config, err := compareConfig(c)
	if err != nil {
		return err
	}
	p := protocol.PresetFor(c.String(datasetFlag), "")
	l, err := openLab(c, p.Dataset, c.Int("dev-split"))
	if err != nil {
		return err
	}
	r, err := comparison.Run(c.Context, l, config)
	if err != nil {
		return err
	}
	if err := r.Store(comparison.File(l.Root, r.Dataset)); err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(r)
	}
	return r.WriteText(os.Stdout)
}

func compareConfig(c *cli.Context) (tuning.Config, error) {
	names := c.StringSlice("methods")
	// What the protocol is told is the same for all methods.
	common := protocol.PresetFor(c.String(datasetFlag), "").Config
	if err := setFlags(&common, c); err != nil {
		return tuning.Config{}, err
	}
	config := tuning.Config{
		Methods: names, Budget: c.Int("tune"), Seeds: common.Seeds, Seed: common.Seed,
		Epochs: common.DevEpochs(), Patience: common.Patience, HoldOut: common.HoldOut,
		Preprocess: preprocess.None, Given: givenSettings(c),
	}
	if c.IsSet("preprocess") {
		config.Preprocess, config.Ridge = common.Preprocess, common.Ridge
	}
	for _, s := range c.StringSlice("set") {
		f, err := tuning.ParseFixed(s)
		if err != nil {
			return config, fmt.Errorf("--set: %w", err)
		}
		config.Fixed = append(config.Fixed, f)
	}
	var err error
	if config.LAGO, err = protocolConfigs(c, tuning.VariantsOf(names)); err != nil {
		return config, err
	}
	return config, config.Check()
}
