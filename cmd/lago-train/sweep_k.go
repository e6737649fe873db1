package main

import (
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/ksweep"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
)

func sweepKCommand() *cli.Command {
	return &cli.Command{
		Name:  "sweep-k",
		Usage: "validation accuracy of k-soft against the number of groups",
		Description: `Trains k-soft on the dev stage with each number of groups K, and for comparison singletons and, if
the data set has groups, semantic-hard. The settings given are those of k-soft; the other two have
their own defaults, with the same data, seeds, epochs, patience, batch, preprocessing, prior and
complement. With --rotate N every class is a validation class once.

Examples:
   lago-train sweep-k --dataset cub
   lago-train sweep-k --ks 5,10,20 --seeds 3`,
		Flags: append(append(devSettingFlags(devEpochs, variantFlag, "k"), append(gridFlags(), rotationFlags()...)...),
			&cli.IntSliceFlag{Name: "ks", Category: protocol.ModelGroup, DefaultText: "1,10,20,30,40,60, as far as there are attributes", Usage: "`K,...` numbers of groups"}),
		Action: sweepK,
	}
}

func sweepK(c *cli.Context) error {
	p, err := configOf(c, model.KSoft)
	if err != nil {
		return err
	}
	l, err := openLab(c, p)
	if err != nil {
		return err
	}
	s, err := ksweep.Run(c.Context, l, p.Config, c.IntSlice("ks"))
	if err != nil {
		return err
	}
	return output(c, l, s, s.WriteText)
}
