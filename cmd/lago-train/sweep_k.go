package main

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/ksweep"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/invalid"
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
			&cli.StringFlag{Name: "ks", Category: protocol.ModelGroup, DefaultText: "1,10,20,30,40,60, as far as there are attributes", Usage: "`K,...` numbers of groups"}),
		Action: sweepK,
	}
}

func sweepK(c *cli.Context) error {
	ks, err := wholeNumbers(c, "ks")
	if err != nil {
		return err
	}
	p, err := configOfVariant(c, model.KSoft)
	if err != nil {
		return err
	}
	l, err := openLab(c, p.Config)
	if err != nil {
		return err
	}
	s, err := ksweep.Run(c.Context, l, p.Config, ks)
	if err != nil {
		return err
	}
	return output(c, l, s, s.WriteText)
}

// wholeNumbers reads the list in a flag, nil if the flag is not given.
func wholeNumbers(c *cli.Context, name string) ([]int, error) {
	if !c.IsSet(name) {
		return nil, nil
	}
	var list []int
	for word := range strings.SplitSeq(c.String(name), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			return nil, &invalid.Error{Where: "--" + name, Want: "whole numbers, separated by commas", Got: strconv.Quote(word)}
		}
		list = append(list, n)
	}
	return list, nil
}
