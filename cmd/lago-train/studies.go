package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/ablation"
	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/reproduction"
	"github.com/lago-train/lago-train/experiments/robustness"
	"github.com/lago-train/lago-train/experiments/search"
	"github.com/lago-train/lago-train/experiments/sweep"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/train/methods"
)

// study is a command that asks a question: it resolves the settings that the flags give, and unless
// there are none opens the lab of their data set, asks, and prints the result.
func (o *gridOptions) study(
	name string, flags []cli.Flag, settings func(*cli.Context) ([]config.Preset, error), ask func(context.Context, *lab.Lab) (tabled, error),
) *cli.Command {
	return &cli.Command{Name: name, Flags: flags, Action: func(c *cli.Context) error {
		presets, err := settings(c)
		if err != nil || presets == nil {
			return err
		}
		l, err := o.openLab(c, presets...)
		if err != nil {
			return err
		}
		r, err := ask(c.Context, l)
		if err != nil {
			return err
		}
		err = o.print(r, nil)
		if w, ok := r.(interface{ WriteCSV(io.Writer) error }); ok {
			err = errors.Join(err, writeCSV(o.csv, w.WriteCSV))
		}
		if err == nil && l.Failed() > 0 {
			err = fmt.Errorf("%s failed in %s, missing from the output", format.Count(l.Failed(), "run"), l.Root)
		}
		return err
	}}
}

func runCommand() *cli.Command {
	var o gridOptions
	var p config.Preset
	var printOnly bool
	return o.study("run",
		flags(o.settings(), o.gridSettings().Without("shard"), setting.List{
			setting.Switch("print_config", &printOnly, false).In(outputGroup).Common().Describe("print the settings as JSON for --config, and train nothing"),
		}),
		func(c *cli.Context) (_ []config.Preset, err error) {
			if p, err = o.preset(c); err == nil && printOnly {
				return nil, printConfig(os.Stdout, os.Stderr, p)
			}
			o.jobs = cmp.Or(o.jobs, min(p.Seeds, runtime.GOMAXPROCS(0)))
			return []config.Preset{p}, err
		},
		func(ctx context.Context, l *lab.Lab) (tabled, error) {
			logrus.WithFields(logrus.Fields{"dataset": l.Data.Name, "variant": p.Method.Label(), "stage": p.Stage, "seeds": p.Seeds}).Info("training")
			logrus.WithField("blas", blas.Current().String()).Debug(p.Source)
			l.OnProgress, l.Options.OnResume, l.Options.OnEpoch = nil, logResume, showEpoch(p.Seed, p.Seeds, l.Jobs)
			r, err := protocol.Run(ctx, l, p)
			if err == nil {
				r.Next = o.next(r)
			}
			return r, err
		})
}

// next is the command to go on with: it evaluates a model or, without a test stage, searches settings.
func (o *gridOptions) next(r *protocol.Result) string {
	command := "lago-train evaluate --model " + r.RunDirs[len(r.RunDirs)-1]
	if r.Test == nil {
		command = fmt.Sprintf("lago-train search --dataset %s --variant %s", r.Config.Dataset, r.Variant)
	} else if r.Reused == 0 {
		command = "lago-train evaluate --model " + strings.TrimPrefix(filepath.Join(o.out, latest), defaultRuns+string(filepath.Separator))
	}
	if o.DataDir != "" {
		command += " --data-dir " + o.DataDir
	}
	return command
}

// printConfig writes the settings that apply to a run, and where each comes from.
func printConfig(stdout, stderr io.Writer, p config.Preset) error {
	p.Epochs = p.EpochsOf()
	for _, s := range p.Settings().Used() {
		origin := cmp.Or(p.Origins[s.Key], "default")
		if origin == config.FromPreset {
			origin += ": " + p.Source
		}
		if _, err := fmt.Fprintf(stderr, "%-12s %-14v %s\n", s.Key, s.Value(), origin); err != nil {
			return err
		}
	}
	return format.WriteJSON(stdout, p.Config)
}

func searchCommand() *cli.Command {
	var o gridOptions
	var s search.Config
	return o.study("search",
		flags(o.searchedSettings(), o.gridSettings(), o.rotationSettings(), setting.List{
			o.foldsSetting(),
			setting.Whole("budget", &s.Budget, 24, setting.Between(engine.MinBudget, maxBudget)).In(searchGroup).Common().
				Describe(fmt.Sprintf("`N` settings to try, at least %d", engine.MinBudget)),
			setting.Raw("to", &s.File, "").In(outputGroup).OrAs("write").Common().Noted("search-<dataset>-<variant>.json in --out").Describe("`FILE` config file to write"),
		}),
		func(c *cli.Context) ([]config.Preset, error) {
			p, err := o.preset(c)
			if err := cmp.Or(err, requires(c, "rotate", "seeds"), excludes(c, "rotate", "to")); err != nil {
				return nil, err
			}
			if s.File == "" && !c.IsSet("rotate") {
				s.File = config.SearchFile(o.out, p.Dataset, p.DevSplit, p.Method.Variant())
			}
			s.Start, s.Fixed = p.Config, givenSettings(c)
			s.Folds, err = o.foldsOf(c, p)
			return []config.Preset{p}, err
		},
		func(ctx context.Context, l *lab.Lab) (tabled, error) {
			if len(l.Parts) > 1 {
				return search.RunRotation(ctx, l, s)
			}
			return search.Run(ctx, l, s)
		})
}

// defaultTune is the number of settings of each method to try.
const defaultTune = 16

// maxBudget is more settings than a search can try in a year.
const maxBudget = 10_000

func compareCommand() *cli.Command {
	var o gridOptions
	var asked comparison.Config
	return o.study("compare",
		flags(o.searchedSettings(
			"variant", "lr", "lr_v", "bias_factor", "batch", "beta", "lambda", "alpha", "psi", "zeta", "k", "prior", "complement", "config",
		), o.gridSettings(), o.rotationSettings(), setting.List{
			o.configsSetting(), o.foldsSetting(),
			setting.Choices("methods", &asked.Methods, methods.Names(), comparison.Names()...).In(methodGroup).Common().Noted("lago and all baselines").Describe("variants of LAGO, lago for the best of them, and baselines"),
			setting.Switch("ladder", &asked.Ladder, false).In(methodGroup).
				Describe("in place of --methods, LAGO as published and ESZSL, with one setting after the other changed to its default"),
			adaptSetting(&asked.Adapt),
			setting.Whole("partitions", &asked.Partitions, 1, setting.Between(1, 100)).In(setting.Data).
				Describe("`N` partitions of the classes into the parts of --rotate; settings are searched in the first alone"),
			setting.Whole("tune", &asked.Budget, defaultTune, setting.Between(0, maxBudget)).In(searchGroup).Common().
				Describe("`N` settings to try for each method, and all of the grid of ESZSL; 0 takes its defaults"),
			setting.Several("set", &asked.Fixed, nil, "", comparison.ParseFixed).In(methodGroup).Common().
				Describe("`NAME=VALUE` setting of a baseline to fix, as in ale.lr=0.1"),
			csvSetting(&o.csv, "the accuracy of each method on each class"),
		}),
		func(c *cli.Context) ([]config.Preset, error) { return o.comparison(c, &asked) },
		func(ctx context.Context, l *lab.Lab) (tabled, error) { return comparison.Run(ctx, l, asked) })
}

// comparison completes the configuration of a comparison, and returns its presets.
func (o *gridOptions) comparison(c *cli.Context, asked *comparison.Config) ([]config.Preset, error) {
	if err := cmp.Or(requires(c, "rotate", "partitions"), excludes(c, "ladder", "methods", "configs", "tune", "set", "correction", "omega", "preprocess", "ridge")); err != nil {
		return nil, err
	}
	asked.RotateSeed = o.rotateSeed
	if c.IsSet("configs") && asked.Budget != 0 {
		return nil, wrong("--configs", "--tune 0 beside it: a search of every method starts from the defaults", "")
	}
	var variants []model.Variant
	for _, v := range model.Variants {
		if slices.Contains(asked.Methods, engine.LAGOMethod) || slices.Contains(asked.Methods, string(v)) {
			variants = append(variants, v)
		}
	}
	presets, configs, err := o.presets(c, variants)
	if err != nil {
		return nil, err
	}
	asked.Common, asked.LAGO, asked.Given = presets[0].Config, configs, givenSettings(c)
	if asked.Folds, err = o.foldsOf(c, presets[0]); err != nil {
		return nil, err
	}
	return presets, asked.Check()
}

// methodNames are the variants of LAGO and the baselines.
func methodNames() []string { return append(format.Strings(model.Variants), methods.Names()[1:]...) }

func reproduceCommand() *cli.Command {
	var o gridOptions
	var variants []config.Config
	return o.study("reproduce",
		flags(o.protocolSettings(), o.gridSettings(), o.rotationSettings()),
		func(c *cli.Context) (presets []config.Preset, err error) {
			presets, variants, err = o.presets(c, model.Variants)
			return presets, err
		},
		func(ctx context.Context, l *lab.Lab) (tabled, error) { return reproduction.Run(ctx, l, variants) })
}

func ablateCommand() *cli.Command {
	var o gridOptions
	var asked ablation.Config
	var groups bool
	return o.study("ablate",
		flags(o.devSettings(devEpochs, "prior", "complement"), o.gridSettings(), o.rotationSettings(), setting.List{
			setting.Switch("groups", &groups, false).Common().
				Describe("in place of the designs, compare semantic groups with singletons and with random groups of the same sizes"),
			setting.Switch("per_group", &asked.PerGroup, false).Common().Describe("also train the default design with the attribute prior per group"),
			setting.Numbers("alphas", &asked.Alphas).Common().Noted("--alpha").
				Describe("`VALUE,...` weights of explicit supervision to try; the one with the best validation accuracy is reported"),
		}),
		func(c *cli.Context) ([]config.Preset, error) {
			p, err := o.preset(c)
			if err := cmp.Or(err, excludes(c, "alphas", "alpha"), excludes(c, "groups", "alphas", "per-group")); err != nil {
				return nil, err
			}
			if v := p.Method.Variant(); groups && !v.Semantic() {
				return nil, wrong("--groups", "a variant with semantic groups beside it", string(v))
			}
			asked.Base = p.Config
			return []config.Preset{p}, asked.Check()
		},
		func(ctx context.Context, l *lab.Lab) (tabled, error) {
			if groups {
				return ablation.Groups{Base: asked.Base}.Ask(ctx, l)
			}
			return asked.Ask(ctx, l)
		})
}

func sweepKCommand() *cli.Command {
	var o gridOptions
	var asked sweep.GroupNumbers
	return o.study("sweep-k",
		flags(o.devSettings(devEpochs, "variant", "k"), o.gridSettings(), o.rotationSettings(), setting.List{
			setting.Several("ks", &asked.Ks, nil, "whole numbers, separated by commas", strconv.Atoi).
				Noted("1,10,20,30,40,60, as far as there are attributes").Common().Describe("`K,...` numbers of groups"),
		}),
		func(c *cli.Context) ([]config.Preset, error) {
			p, err := o.preset(c, model.KSoft)
			asked.Base = p.Config
			return []config.Preset{p}, err
		},
		func(ctx context.Context, l *lab.Lab) (tabled, error) { return asked.Ask(ctx, l) })
}

func subsetsCommand() *cli.Command {
	var o gridOptions
	var asked sweep.Subsets
	return o.study("subsets",
		flags(o.devSettings(devEpochs, "hold_out"), o.gridSettings(), o.rotationSettings(), setting.List{
			setting.Choice("of", &asked.Of, sweep.Classes, sweep.Axes...).
				Describe("what there is less of: seen classes, samples of each seen class, attributes, groups, or described entries of each class").Common(),
			setting.Several("sizes", &asked.Sizes, nil, "whole numbers, separated by commas", strconv.Atoi).
				Noted("10, 20, 40 and 60 % of all").Describe("`N,...` sizes to try, and in addition all").Common(),
			setting.Whole("draws", &asked.Draws, 3, setting.Between(1, 1000)).
				Describe("`N` random subsets of each size, for each part of --rotate").Common(),
		}.In(classGroup)),
		func(c *cli.Context) ([]config.Preset, error) {
			p, err := o.preset(c)
			asked.Base = p.Config
			return []config.Preset{p}, err
		},
		func(ctx context.Context, l *lab.Lab) (tabled, error) { return asked.Ask(ctx, l) })
}

// robustness sets the variants and baselines of --methods with their settings, and returns the
// presets that these are from.
func (o *gridOptions) robustness(c *cli.Context, asked *robustness.Config, names []string) ([]config.Preset, error) {
	var variants []model.Variant
	for _, name := range names {
		if slices.Contains(methods.Names(), name) {
			asked.Baselines = append(asked.Baselines, name)
		} else {
			variants = append(variants, model.Variant(name))
		}
	}
	for _, g := range settingsGiven(c) {
		if len(variants) == 0 && !slices.Contains(config.CommonKeys(), g.Key) {
			return nil, wrong(g.Flag, "a variant of LAGO among --methods", "only baselines")
		}
	}
	presets, configs, err := o.presets(c, variants)
	if err != nil {
		return nil, err
	}
	asked.Variants, asked.Like = configs, engine.ForBaselines(configs, presets[0].Config)
	return presets, asked.Check()
}

// robustnessCommand distorts descriptions as the settings say, for variants, and baselines beside them.
func robustnessCommand(name string, asked *robustness.Config, distortion setting.List, standard ...string) *cli.Command {
	var o gridOptions
	var names []string
	methods := setting.Choices("methods", &names, standard, methodNames()...).In(methodGroup).Common().Describe("variants of LAGO, and baselines")
	return o.study(name, flags(o.protocolSettings(), o.gridSettings(), setting.List{methods}, distortion.In(classGroup)),
		func(c *cli.Context) ([]config.Preset, error) { return o.robustness(c, asked, names) },
		func(ctx context.Context, l *lab.Lab) (tabled, error) { return robustness.Run(ctx, l, *asked) })
}

func noiseCommand() *cli.Command {
	var asked robustness.Config
	return robustnessCommand("noise", &asked, setting.List{
		setting.Numbers("ratios", &asked.Ratios, 0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5).Common().Describe("`R,...` noise ratios, from 0 to 1"),
		setting.Whole("noise_seeds", &asked.NoiseSeeds, 5, setting.Between(1, 1000)).Common().Describe("`N` random seeds of the noise"),
	}, string(model.SemanticHard), string(model.Singletons), "eszsl")
}

func partialCommand() *cli.Command {
	var asked robustness.Config
	return robustnessCommand("partial", &asked, setting.List{
		setting.Numbers("shares", &asked.Shares, 1, 0.75, 0.5, 0.25, 0.1).Common().Describe("`S,...` shares of the attributes that are given, above 0 and up to 1"),
		setting.Choice("given", &asked.Given, robustness.AtRandom, robustness.AtRandom, robustness.Strongest).Common().
			Describe("attributes that are given: random ones or the strongest"),
		setting.Choices("impute", &asked.Impute, impute.Kinds, impute.Kinds...).Common().
			Describe("imputation of missing attributes: neutral (within the group) or inferred (from all entries)"),
		setting.Whole("mask_seeds", &asked.MaskSeeds, 5, setting.Between(1, 1000)).Describe("`N` random masks"),
	}, string(model.SemanticHard), "eszsl")
}
