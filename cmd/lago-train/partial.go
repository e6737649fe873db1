package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/robustness"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
)

func partialCommand() *cli.Command {
	return &cli.Command{
		Name:  "partial",
		Usage: "test accuracy when only a part of each class's attributes is given",
		Description: `Trains the variants by the full protocol, and judges the test classes when each of them
gives a part of its attributes, and leaves the others out: any of them, or those with
the highest p(a|z) first, as people tell what is there (--given strongest). Mean and
s.e.m. are over the seeds of the mask, each value the mean over the seeds of the
method. Every model is given the same.

What is left out is filled by the classes that were learned from, from what is given of
the same group of attributes (neutral: a group of which nothing is given speaks neither
for the class nor against it), or of all of them (inferred).

Settings are found as in reproduce, and runs that other commands have finished are not
done again.`,
		Flags: append(append(protocolFlags(), gridFlags()...),
			variantsFlag(string(model.SemanticHard), tuning.ESZSLMethod),
			&cli.Float64SliceFlag{
				Name: "shares", Usage: "`S,S...` of the attributes that are given, in percent",
				Value: cli.NewFloat64Slice(100, 75, 50, 25, 10),
			},
			&cli.StringFlag{Name: "given", Value: string(robustness.AtRandom), Usage: "`WHICH` attributes are given: random or strongest"},
			&cli.StringSliceFlag{
				Name: "impute", Usage: "`KIND,KIND` of how what is left out is filled: neutral, inferred",
				Value: cli.NewStringSlice(string(impute.Neutral), string(impute.Inferred)),
			},
			&cli.IntFlag{Name: "mask-seeds", Value: 5, Usage: "`N` seeds of what is left out"}),
		Action: partial,
	}
}

func partial(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	p, err := partialConfig(c)
	if err != nil {
		return err
	}
	l, err := openLab(c, strings.ToLower(c.String(datasetFlag)), c.Int("dev-split"))
	if err != nil {
		return err
	}
	r, err := robustness.RunPartial(c.Context, l, p)
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(r)
	}
	return r.WriteText(os.Stdout)
}

func partialConfig(c *cli.Context) (robustness.PartialConfig, error) {
	p := robustness.PartialConfig{Seeds: c.Int("mask-seeds")}
	for _, s := range c.Float64Slice("shares") {
		p.Shares = append(p.Shares, s/100)
	}
	if err := setText(&p.Given, c, "given"); err != nil {
		return p, err
	}
	for _, name := range c.StringSlice("impute") {
		var kind impute.Kind
		if err := kind.UnmarshalText([]byte(name)); err != nil {
			return p, fmt.Errorf("--impute: %w", err)
		}
		p.Impute = append(p.Impute, kind)
	}
	var err error
	if p.Variants, p.Baselines, err = variantsAndBaselines(c); err != nil {
		return p, err
	}
	return p, p.Check()
}
