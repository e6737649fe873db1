package main

import (
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/reproduction"
	"github.com/lago-train/lago-train/model"
)

func reproduceCommand() *cli.Command {
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
once.

Examples:
   lago-train reproduce --dataset awa2
   lago-train reproduce --dataset cub --configs runs --seeds 3`,
		Flags:  append(protocolFlags(), append(gridFlags(), rotationFlags()...)...),
		Action: reproduce,
	}
}

func reproduce(c *cli.Context) error {
	presets, err := protocolPresets(c, model.Variants)
	if err != nil {
		return err
	}
	l, err := openLab(c, presets...)
	if err != nil {
		return err
	}
	r, err := reproduction.Run(c.Context, l, configsOf(presets[1:]))
	if err != nil {
		return err
	}
	return output(c, l, r, r.WriteText)
}
