package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/reproduction"
	"github.com/lago-train/lago-train/model"
)

func reproduceCommand() *cli.Command {
	return &cli.Command{
		Name:  "reproduce",
		Usage: "the paper's protocol from start to end, tables 1 and A.1",
		Description: `Trains every variant on the dev stage, retrains it on train and val classes for as
many epochs as its average curve says, and judges it on the test classes. The
variant with the best val accuracy is the result, table 1. What the others score on
the test classes is printed for reference, as in the paper's table A.1, with ESZSL
beside them, its ridges chosen on the val classes too.

A variant has the settings of its preset or, with --configs, of the file
search-<dataset>-<variant>.json where there is one. Settings that are given by flags
are those of every variant. Runs that other commands have finished are not done
again.`,
		Flags:  append(protocolFlags(), gridFlags()...),
		Action: reproduce,
	}
}

func reproduce(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	configs, err := protocolConfigs(c, model.Variants)
	if err != nil {
		return err
	}
	l, err := openLab(c, configs[0].Dataset, configs[0].DevSplit)
	if err != nil {
		return err
	}
	r, err := reproduction.Run(c.Context, l, configs)
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(r)
	}
	return r.WriteText(os.Stdout)
}

// protocolFlags are the settings that several variants can have in common, for
// commands that carry out the full protocol.
func protocolFlags() []cli.Flag {
	return append(settingFlagsBut(variantFlag, "stage", "epochs", configFlag, "k", "lr-v", "psi", "zeta"),
		devEpochsFlag(), configsFlag())
}

func configsFlag() cli.Flag {
	return &cli.PathFlag{Name: "configs", Category: "protocol", Usage: "`DIR` of config files that searches wrote"}
}

// devEpochsFlag is --epochs where the dev stage decides on those of the test stage.
func devEpochsFlag() cli.Flag {
	return &cli.IntFlag{Name: "epochs", Category: "training", DefaultText: "200", Usage: "`N` epochs of the dev stage at most"}
}

// protocolConfigs makes the configs of variants of the presets, the files of
// --configs and the flags, each over the one before.
func protocolConfigs(c *cli.Context, variants []model.Variant) ([]protocol.Config, error) {
	if dir := c.Path("configs"); dir != "" {
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("--configs: %w", err)
		}
	}
	configs := make([]protocol.Config, len(variants))
	for i, v := range variants {
		config, err := protocol.ConfigFor(c.Path("configs"), c.String(datasetFlag), v)
		if err != nil {
			return nil, err
		}
		if err := setFlags(&config, c); err != nil {
			return nil, err
		}
		if err := config.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", v, err)
		}
		configs[i] = config
	}
	return configs, nil
}
