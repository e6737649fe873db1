package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/robustness"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/methods"
)

func noiseCommand() *cli.Command {
	return &cli.Command{
		Name:  "noise",
		Usage: "test accuracy by noisy descriptions, the paper's figure A.1",
		Description: `Trains the variants by the full protocol, and judges the test classes by descriptions
of which entries p(a|z) are replaced by 0 or 1 (salt and pepper), --ratios of them.
Prints the accuracy of each method against its own without noise, as the figure
does, and the accuracy itself; mean and s.e.m. are over the seeds of the noise, each
value the mean over the seeds of the method.

Every model meets the same noise. Settings are found as in reproduce, and runs that
other commands have finished are not done again.`,
		Flags: append(append(protocolFlags(), gridFlags()...),
			variantsFlag(string(model.SemanticHard), string(model.Singletons), tuning.ESZSLMethod),
			&cli.Float64SliceFlag{
				Name: "ratios", Usage: "`R,R...` of the entries that are replaced, 0 to 1",
				Value: cli.NewFloat64Slice(0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5),
			},
			&cli.IntFlag{Name: "noise-seeds", Value: 5, Usage: "`N` seeds of the noise"}),
		Action: noise,
	}
}

func noise(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	n := robustness.NoiseConfig{Ratios: c.Float64Slice("ratios"), Seeds: c.Int("noise-seeds")}
	var err error
	if n.Variants, n.Baselines, err = variantsAndBaselines(c); err != nil {
		return err
	}
	if err := n.Check(); err != nil {
		return err
	}
	l, err := openLab(c, strings.ToLower(c.String(datasetFlag)), c.Int("dev-split"))
	if err != nil {
		return err
	}
	r, err := robustness.RunNoise(c.Context, l, n)
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(r)
	}
	return r.WriteText(os.Stdout)
}

// variantsFlag is that of commands that compare variants, and baselines beside them.
func variantsFlag(names ...string) cli.Flag {
	return &cli.StringSliceFlag{
		Name: "variants", Usage: "`NAME,NAME...` of what to compare: the variants, and baselines such as eszsl",
		Value: cli.NewStringSlice(names...),
	}
}

// variantsAndBaselines returns the configs of the variants that --variants names, and
// the baselines.
func variantsAndBaselines(c *cli.Context) (configs []protocol.Config, baselines []string, err error) {
	var variants []model.Variant
	for _, name := range c.StringSlice("variants") {
		if slices.Contains(methods.Names(), name) {
			baselines = append(baselines, name)
			continue
		}
		var v model.Variant
		if err := v.UnmarshalText([]byte(name)); err != nil {
			return nil, nil, fmt.Errorf("--variants: %w; the baselines are %s", err, strings.Join(methods.Names(), ", "))
		}
		variants = append(variants, v)
	}
	configs, err = protocolConfigs(c, variants)
	return configs, baselines, err
}
