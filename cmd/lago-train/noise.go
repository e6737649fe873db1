package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/robustness"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/impute"
)

func noiseCommand() *cli.Command {
	return &cli.Command{
		Name:  "noise",
		Usage: "test accuracy with noisy class descriptions (figure A.1)",
		Description: `Trains the methods by the full protocol, and evaluates them on the test classes with descriptions in
which a ratio of the entries p(a|z) is replaced by 0 or 1 (salt and pepper noise). Prints accuracy,
and accuracy relative to the same model without noise. The noise is the same for every model.
Settings are found as in reproduce, and finished runs are reused. The result is stored as
noise-<dataset>-<digest>.json in --out for the report.

Examples:
   lago-train noise --dataset cub
   lago-train noise --methods semantic-hard,k-soft,eszsl --ratios 0.1,0.3,0.5 --noise-seeds 10`,
		Flags: append(append(protocolFlags(), gridFlags()...),
			methodsFlagOf(string(model.SemanticHard), string(model.Singletons), tuning.ESZSLMethod),
			&cli.Float64SliceFlag{
				Name: "ratios", Category: classGroup, Usage: "`R,...` noise ratios, from 0 to 1",
				Value: cli.NewFloat64Slice(0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5),
			},
			&cli.IntFlag{Name: "noise-seeds", Category: classGroup, Value: 5, Usage: "`N` random seeds of the noise"}),
		Action: noise,
	}
}

func noise(c *cli.Context) error {
	n := robustness.NoiseConfig{Ratios: c.Float64Slice("ratios"), Seeds: c.Int("noise-seeds")}
	var presets []protocol.Preset
	var err error
	if n.Models, presets, err = modelsOf(c); err != nil {
		return err
	}
	if err := n.Check(); err != nil {
		return err
	}
	l, err := openLab(c, presets...)
	if err != nil {
		return err
	}
	r, err := robustness.RunNoise(c.Context, l, n)
	if err != nil {
		return err
	}
	return output(c, l, r, r.WriteText)
}

func partialCommand() *cli.Command {
	return &cli.Command{
		Name:  "partial",
		Usage: "test accuracy with only a part of each class's attributes",
		Description: `Trains the methods by the full protocol, and evaluates them on the test classes when each class
gives only a share of its attributes, at random or the strongest first. Missing attributes are
imputed from the given ones of their group (neutral) or from all given ones (inferred). The masks
are the same for every model. Settings are found as in reproduce, and finished runs are reused. The
result is stored as partial-<dataset>-<digest>.json in --out for the report, or as
partial-strongest-<dataset>-<digest>.json.

Examples:
   lago-train partial --dataset cub
   lago-train partial --methods k-soft --shares 0.5,0.1 --given strongest --impute inferred`,
		Flags: append(append(protocolFlags(), gridFlags()...),
			methodsFlagOf(string(model.SemanticHard), tuning.ESZSLMethod),
			&cli.Float64SliceFlag{
				Name: "shares", Category: classGroup, Usage: "`S,...` shares of the attributes that are given, above 0 and up to 1",
				Value: cli.NewFloat64Slice(1, 0.75, 0.5, 0.25, 0.1),
			},
			choice("given", classGroup, "which attributes are given: random ones, or the strongest", robustness.AtRandom, robustness.AtRandom, robustness.Strongest),
			choices("impute", classGroup, "imputation of missing attributes: neutral (within the group) or inferred (from all entries)", impute.Kinds, impute.Kinds...),
			&cli.IntFlag{Name: "mask-seeds", Category: classGroup, Value: 5, Usage: "`N` random masks"}),
		Action: partial,
	}
}

func partial(c *cli.Context) error {
	p, presets, err := partialConfig(c)
	if err != nil {
		return err
	}
	l, err := openLab(c, presets...)
	if err != nil {
		return err
	}
	r, err := robustness.RunPartial(c.Context, l, p)
	if err != nil {
		return err
	}
	return output(c, l, r, r.WriteText)
}

func partialConfig(c *cli.Context) (p robustness.PartialConfig, presets []protocol.Preset, err error) {
	p = robustness.PartialConfig{Shares: c.Float64Slice("shares"), Given: robustness.Order(c.String("given")), Seeds: c.Int("mask-seeds")}
	for _, name := range c.StringSlice("impute") {
		kind, err := invalid.OneOf(name, impute.Kinds...)
		if err != nil {
			return p, nil, invalid.At("--impute", err)
		}
		p.Impute = append(p.Impute, kind)
	}
	if p.Models, presets, err = modelsOf(c); err != nil {
		return p, nil, err
	}
	return p, presets, p.Check()
}

// methodsFlagOf is that of commands that evaluate variants, and baselines beside them.
func methodsFlagOf(names ...string) cli.Flag {
	return choices(methodsFlag, methodGroup, "variants of LAGO, and baselines", names, methodNames()...)
}

// methodNames are the variants of LAGO and the baselines.
func methodNames() []string { return append(format.Strings(model.Variants), methods.Names()...) }

const methodsFlag = "methods"

// methodsOf returns --methods, spelt as in known.
func methodsOf(c *cli.Context, known []string) ([]string, error) {
	var names []string
	for _, given := range c.StringSlice(methodsFlag) {
		name, err := invalid.OneOf(given, known...)
		if err != nil {
			return nil, invalid.At("--"+methodsFlag, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// modelsOf returns the variants and baselines of --methods with their settings, and the
// protocolPresets that these are from.
func modelsOf(c *cli.Context) (m robustness.Models, presets []protocol.Preset, err error) {
	names, err := methodsOf(c, methodNames())
	if err != nil {
		return m, nil, err
	}
	var variants []model.Variant
	for _, name := range names {
		if slices.Contains(methods.Names(), name) {
			m.Baselines = append(m.Baselines, name)
		} else {
			variants = append(variants, model.Variant(name))
		}
	}
	if len(variants) == 0 {
		for _, g := range settingsGiven(c) {
			if !slices.Contains(commonKeys, g.Key) {
				return m, nil, &invalid.Error{Where: g.Flag, Want: "a variant of LAGO among --" + methodsFlag, Got: "only baselines"}
			}
		}
	}
	if presets, err = protocolPresets(c, variants); err != nil {
		return m, nil, err
	}
	m.Like, m.Variants = presets[0].Config, configsOf(presets[1:])
	if len(m.Variants) > 0 {
		m.Like = protocol.ForBaselines(m.Variants)
	}
	return m, presets, nil
}
