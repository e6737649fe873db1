package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/ksweep"
	"github.com/lago-train/lago-train/model"
)

func sweepKCommand() *cli.Command {
	return &cli.Command{
		Name:  "sweep-k",
		Usage: "val accuracy of k-soft against the number of groups",
		Description: `Trains k-soft on the dev stage with each number of groups K, for each seed, and
beside it singletons and, where the data set names its groups, semantic-hard.

The settings that are given are k-soft's. The other two have those of their own
presets, but for the number of seeds and epochs, patience, batch, preprocessing,
p(a_m) and p(ac|x), which are the same for all three.`,
		Flags: append(append(settingFlagsBut("stage", variantFlag, "k"), gridFlags()...),
			&cli.IntSliceFlag{Name: "ks", Usage: "`N,N...` groups to try (default: 1, 10, 20, 30, 40, 60, those of them that the attributes can form)"},
			// configOf reads the variant from its flag.
			&cli.StringFlag{Name: variantFlag, Value: string(model.KSoft), Hidden: true}),
		Action: sweepK,
	}
}

func sweepK(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	p, err := configOf(c)
	if err != nil {
		return err
	}
	l, err := openLab(c, p.Dataset, p.DevSplit)
	if err != nil {
		return err
	}
	s, err := ksweep.Run(c.Context, l, p.Config, c.IntSlice("ks"))
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(s)
	}
	return s.WriteText(os.Stdout)
}
