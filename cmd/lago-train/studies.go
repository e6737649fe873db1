package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/ablation"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/ksweep"
	"github.com/lago-train/lago-train/experiments/robustness"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/train/methods"
)

func ablateCommand() *cli.Command {
	var o gridOptions
	var config ablation.Config
	var alphas cli.Float64Slice
	return &cli.Command{
		Name:  "ablate",
		Usage: "validation accuracy by design decision (table A.2)",
		Description: `Trains every seed on the dev stage in eight designs: attribute prior p(a) uniform or per attribute,
none-of-group term p(ac|x) constant or by De Morgan's rule, attribute supervision implicit
(alpha 0) or explicit (--alpha, 1 if that is 0, or the best of --alphas). Prints the accuracy of the best
epoch of each curve beside the paper's, and differences between designs with 95 % intervals over
classes. --per-group adds a row that the paper does not have: the default design with the attribute
prior per group. With --rotate N every class is a validation class once. The result is stored in
--out for the report.

Examples:
   lago-train ablate --dataset cub --seeds 3 --alphas 0.1,0.3,1
   lago-train ablate --dataset awa2 --variant k-soft --per-group`,
		Flags: append(append(o.devSettingFlags(devEpochs, "prior", "complement"), append(o.flags(), o.rotationFlags()...)...),
			&cli.BoolFlag{Name: "per-group", Category: string(setting.Method), Usage: "also train the default design with the attribute prior per group", Destination: &config.PerGroup},
			&cli.Float64SliceFlag{Name: "alphas", Category: string(setting.Method), DefaultText: "--alpha", Usage: "`VALUE,...` weights of explicit supervision to try; the one with the best validation accuracy is reported", Destination: &alphas}),
		Action: func(c *cli.Context) error {
			p, err := o.preset(c)
			if err != nil {
				return err
			}
			if err := excludes(c, "alphas", "alpha"); err != nil {
				return err
			}
			if c.IsSet("alphas") {
				config.Alphas = alphas.Value()
			}
			config.Base = p.Config
			if err := config.Check(); err != nil {
				return err
			}
			l, err := o.openLab(c, p)
			if err != nil {
				return err
			}
			r, err := ablation.Run(c.Context, l, config)
			if err != nil {
				return err
			}
			return o.outputOf(l, r)
		},
	}
}

func sweepKCommand() *cli.Command {
	var o gridOptions
	var ks cli.IntSlice
	return &cli.Command{
		Name:  "sweep-k",
		Usage: "validation accuracy of k-soft against the number of groups",
		Description: `Trains k-soft on the dev stage with each number of groups K, and for comparison singletons and, if
the data set has groups, semantic-hard. The settings given are those of k-soft; the other two have
their own defaults, with the same data, seeds, epochs, patience, batch, preprocessing, prior and
complement. With --rotate N every class is a validation class once. The result is stored in --out for
the report.

Examples:
   lago-train sweep-k --dataset cub
   lago-train sweep-k --ks 5,10,20 --seeds 3`,
		Flags: append(append(o.devSettingFlags(devEpochs, "variant", "k"), append(o.flags(), o.rotationFlags()...)...),
			&cli.IntSliceFlag{Name: "ks", Category: string(setting.Method), DefaultText: "1,10,20,30,40,60, as far as there are attributes", Usage: "`K,...` numbers of groups", Destination: &ks}),
		Action: func(c *cli.Context) error {
			p, err := o.preset(c, model.KSoft)
			if err != nil {
				return err
			}
			l, err := o.openLab(c, p)
			if err != nil {
				return err
			}
			r, err := ksweep.Run(c.Context, l, ksweep.Config{Base: p.Config, Ks: ks.Value()})
			if err != nil {
				return err
			}
			return o.outputOf(l, r)
		},
	}
}

// robustnessModels returns the variants and baselines of --methods with their settings, and
// the presets that these are from.
func (o *gridOptions) robustnessModels(c *cli.Context, names []string) (m robustness.Models, presets []engine.Preset, err error) {
	var variants []model.Variant
	for _, name := range names {
		if slices.Contains(methods.Names(), name) {
			m.Baselines = append(m.Baselines, name)
		} else {
			variants = append(variants, model.Variant(name))
		}
	}
	if common := engine.CommonKeys(); len(variants) == 0 {
		for _, g := range settingsGiven(c) {
			if !slices.Contains(common, g.Key) {
				return m, nil, wrong(g.Flag, "a variant of LAGO among --methods", "only baselines")
			}
		}
	}
	if presets, err = o.presets(c, variants); err != nil {
		return m, nil, err
	}
	m.Like, m.Variants = presets[0].Config, configsOf(presets[1:])
	if len(m.Variants) > 0 {
		m.Like = engine.ForBaselines(m.Variants)
	}
	return m, presets, nil
}

// methodsFlag is that of commands that evaluate variants, and baselines beside them.
func methodsFlag(to *[]string, names ...string) cli.Flag {
	return choices(to, "methods", methodGroup, "variants of LAGO, and baselines", names, methodNames()...)
}

func noiseCommand() *cli.Command {
	var o gridOptions
	var config robustness.NoiseConfig
	var names []string
	var ratios cli.Float64Slice
	return &cli.Command{
		Name:  "noise",
		Usage: "test accuracy with noisy class descriptions (figure A.1)",
		Description: `Trains the methods by the full protocol, and evaluates them on the test classes with descriptions in
which a ratio of the entries p(a|z) is replaced by 0 or 1 (salt and pepper noise). Prints accuracy,
and accuracy relative to the same model without noise. The noise is the same for every model.
Settings are found as in reproduce, and finished runs are reused. The result is stored in --out for
the report.

Examples:
   lago-train noise --dataset cub
   lago-train noise --methods semantic-hard,k-soft,eszsl --ratios 0.1,0.3,0.5 --noise-seeds 10`,
		Flags: append(append(o.protocolFlags(), o.flags()...),
			methodsFlag(&names, string(model.SemanticHard), string(model.Singletons), "eszsl"),
			&cli.Float64SliceFlag{
				Name: "ratios", Category: classGroup, Usage: "`R,...` noise ratios, from 0 to 1", Destination: &ratios,
				Value: cli.NewFloat64Slice(0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5),
			},
			&cli.IntFlag{Name: "noise-seeds", Category: classGroup, Value: 5, Usage: "`N` random seeds of the noise", Destination: &config.Seeds}),
		Action: func(c *cli.Context) error {
			var presets []engine.Preset
			var err error
			if config.Models, presets, err = o.robustnessModels(c, names); err != nil {
				return err
			}
			config.Ratios = ratios.Value()
			if err := config.Check(); err != nil {
				return err
			}
			l, err := o.openLab(c, presets...)
			if err != nil {
				return err
			}
			r, err := robustness.RunNoise(c.Context, l, config)
			if err != nil {
				return err
			}
			return o.outputOf(l, r)
		},
	}
}

func partialCommand() *cli.Command {
	var o gridOptions
	var config robustness.PartialConfig
	var names []string
	var shares cli.Float64Slice
	return &cli.Command{
		Name:  "partial",
		Usage: "test accuracy with only a part of each class's attributes",
		Description: `Trains the methods by the full protocol, and evaluates them on the test classes when each class
gives only a share of its attributes, at random or the strongest first. Missing attributes are
imputed from the given ones of their group (neutral) or from all given ones (inferred). The masks
are the same for every model. Settings are found as in reproduce, and finished runs are reused. The
result is stored in --out for the report.

Examples:
   lago-train partial --dataset cub
   lago-train partial --methods k-soft --shares 0.5,0.1 --given strongest --impute inferred`,
		Flags: append(append(o.protocolFlags(), o.flags()...),
			methodsFlag(&names, string(model.SemanticHard), "eszsl"),
			&cli.Float64SliceFlag{
				Name: "shares", Category: classGroup, Usage: "`S,...` shares of the attributes that are given, above 0 and up to 1", Destination: &shares,
				Value: cli.NewFloat64Slice(1, 0.75, 0.5, 0.25, 0.1),
			},
			choice(&config.Given, "given", classGroup, "which attributes are given: random ones, or the strongest", robustness.AtRandom, robustness.AtRandom, robustness.Strongest),
			choices(&config.Impute, "impute", classGroup, "imputation of missing attributes: neutral (within the group) or inferred (from all entries)", impute.Kinds, impute.Kinds...),
			&cli.IntFlag{Name: "mask-seeds", Category: classGroup, Value: 5, Usage: "`N` random masks", Destination: &config.Seeds}),
		Action: func(c *cli.Context) error {
			config.Shares = shares.Value()
			var presets []engine.Preset
			var err error
			if config.Models, presets, err = o.robustnessModels(c, names); err != nil {
				return err
			}
			if err := config.Check(); err != nil {
				return err
			}
			l, err := o.openLab(c, presets...)
			if err != nil {
				return err
			}
			r, err := robustness.RunPartial(c.Context, l, config)
			if err != nil {
				return err
			}
			return o.outputOf(l, r)
		},
	}
}
