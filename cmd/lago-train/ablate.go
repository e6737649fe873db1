package main

import (
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/ablation"
	"github.com/lago-train/lago-train/experiments/protocol"
)

const (
	perGroupFlag = "per-group"
	alphasFlag   = "alphas"
)

func ablateCommand() *cli.Command {
	return &cli.Command{
		Name:  "ablate",
		Usage: "validation accuracy by design decision (table A.2)",
		Description: `Trains every seed on the dev stage in eight designs: attribute prior p(a) uniform or per attribute,
none-of-group term p(ac|x) constant or by De Morgan's rule, attribute supervision implicit
(alpha 0) or explicit (--alpha, 1 if that is 0, or the best of --alphas). Prints the accuracy of the best
epoch of each curve beside the paper's, and differences between designs with 95 % intervals over
classes. --per-group adds a row that the paper does not have: the default design with the attribute
prior per group. With --rotate N every class is a validation class once.

Examples:
   lago-train ablate --dataset cub --seeds 3 --alphas 0.1,0.3,1
   lago-train ablate --dataset awa2 --variant k-soft --per-group`,
		Flags: append(append(devSettingFlags(devEpochs, "prior", "complement"), append(gridFlags(), rotationFlags()...)...),
			&cli.BoolFlag{Name: perGroupFlag, Category: protocol.ModelGroup, Usage: "also train the default design with the attribute prior per group"},
			&cli.Float64SliceFlag{Name: alphasFlag, Category: protocol.ModelGroup, DefaultText: "--alpha", Usage: "`VALUE,...` weights of explicit supervision to try; the one with the best validation accuracy is reported"}),
		Action: ablate,
	}
}

func ablate(c *cli.Context) error {
	p, err := configOf(c)
	if err != nil {
		return err
	}
	options := ablation.Options{PerGroup: c.Bool(perGroupFlag)}
	if c.IsSet(alphasFlag) {
		if err := excludes(c, alphasFlag, "alpha"); err != nil {
			return err
		}
		options.Alphas = c.Float64Slice(alphasFlag)
	}
	l, err := openLab(c, p)
	if err != nil {
		return err
	}
	a, err := ablation.Run(c.Context, l, p.Config, options)
	if err != nil {
		return err
	}
	return output(c, l, a, a.WriteText)
}
