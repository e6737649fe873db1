package main

import (
	"encoding"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/protocol"
)

// The names of flags that more than one function reads.
const (
	datasetFlag = "dataset"
	variantFlag = "variant"
	configFlag  = "config"
	jsonFlag    = "json"
	outFlag     = "out"
	jobsFlag    = "jobs"
)

// defaultRuns is the folder of runs if no flag names another one.
const defaultRuns = "runs"

// dataFlags say where data sets are.
func dataFlags() []cli.Flag {
	return []cli.Flag{
		&cli.PathFlag{Name: "data-dir", Usage: "`DIR` that holds data sets (default: $LAGO_DATA, then ./data)"},
		&cli.IntFlag{Name: "dev-split", Value: 1, Usage: "`N` of the three splits into train and val classes, 1 to 3"},
		&cli.BoolFlag{Name: "no-cache", Usage: "read the .mat files anew, and keep no parsed copy in the user's cache folder"},
	}
}

// openDataset reads a data set as the flags say.
func openDataset(c *cli.Context, name string, devSplit int) (*dataset.Dataset, error) {
	return catalog.Open(c.Context, name, catalog.Options{
		DataDir: c.Path("data-dir"), DevSplit: devSplit, NoCache: c.Bool("no-cache"),
	})
}

// settingFlags are those of experiments.Config. What a flag does not set comes
// from the config file, and what that does not set from the preset.
func settingFlags() []cli.Flag {
	const model, training, protocol = "model", "training", "protocol"
	const preset = "by the preset" // of the data set and variant
	return []cli.Flag{
		&cli.StringFlag{Name: datasetFlag, Value: "glyphs", Category: protocol, Usage: "`NAME` of a data set: glyphs (drawn by the program), simulated-cub, -awa2 or -sun, or a folder of the data dir"},
		&cli.StringFlag{Name: variantFlag, Value: "semantic-hard", Category: model, Usage: "`NAME`: singletons, semantic-hard, k-soft or semantic-soft"},
		&cli.StringFlag{Name: "stage", Category: protocol, DefaultText: preset, Usage: "`NAME`: dev learns from the train classes, test from train and val, full takes the number of epochs of test from dev"},
		&cli.IntFlag{Name: "seeds", Category: protocol, DefaultText: preset, Usage: "`N` seeds to run"},
		&cli.Uint64Flag{Name: "seed", Category: protocol, DefaultText: preset, Usage: "the first `SEED`"},
		&cli.IntFlag{Name: "epochs", Category: training, DefaultText: preset, Usage: "`N` epochs: of dev at most, of test exactly"},
		&cli.Float64Flag{Name: "lr", Category: training, DefaultText: preset, Usage: "learning `RATE` of the detectors W"},
		&cli.Float64Flag{Name: "lr-v", Category: training, DefaultText: preset, Usage: "learning `RATE` of the grouping V"},
		&cli.IntFlag{Name: "batch", Category: training, DefaultText: preset, Usage: "`N` samples a step"},
		&cli.IntFlag{Name: "patience", Category: training, DefaultText: preset, Usage: "`N` epochs without a better val accuracy that end the dev stage"},
		&cli.StringFlag{Name: "preprocess", Category: training, DefaultText: preset, Usage: "`KIND` of affine map of the features, fitted on the samples learned from: none, standardize or whiten"},
		&cli.Float64Flag{Name: "ridge", Category: training, DefaultText: preset, Usage: "`G` of whiten, X (X'X + G I)^(-1/2) sqrt(n); 0 for one by the scale of the features"},
		&cli.BoolFlag{Name: "hold-out", Category: protocol, Usage: "learn from no sample that generalised zero-shot learning judges by (test_seen_loc), so that evaluate --split gzsl can judge the model"},
		&cli.Float64Flag{Name: "beta", Category: model, DefaultText: preset, Usage: "`WEIGHT` of |W|^2"},
		&cli.Float64Flag{Name: "lambda", Category: model, DefaultText: preset, Usage: "`WEIGHT` of |W U'|^2"},
		&cli.Float64Flag{Name: "alpha", Category: model, DefaultText: preset, Usage: "`WEIGHT` of the explicit supervision of attributes"},
		&cli.Float64Flag{Name: "psi", Category: model, DefaultText: preset, Usage: "`WEIGHT` of the pull of semantic-soft towards the groups of the data set"},
		&cli.Float64Flag{Name: "zeta", Category: model, DefaultText: preset, Usage: "`SCALE` of the softmax that makes groups; from about 1000 on, hard groups are exactly one-hot"},
		&cli.IntFlag{Name: "k", Category: model, DefaultText: preset, Usage: "`N` groups of k-soft; 0 for 30, or as many as there are attributes"},
		&cli.StringFlag{Name: "prior", Category: model, DefaultText: preset, Usage: "`KIND` of p(a): uniform or per-attribute"},
		&cli.StringFlag{Name: "complement", Category: model, DefaultText: preset, Usage: "`KIND` of p(none of the group | x): const, demorgan or none, which leaves it out"},
		&cli.PathFlag{Name: configFlag, Category: protocol, Usage: "JSON `FILE` of settings, named as the flags with _ for -"},
	}
}

// configOf makes a config of the preset, the config file and the flags, each over
// the one before.
func configOf(c *cli.Context) (protocol.Preset, error) {
	var named protocol.Config
	file := c.Path(configFlag)
	if file != "" {
		if err := named.ReadConfig(file); err != nil {
			return protocol.Preset{}, err
		}
	}
	if c.IsSet(datasetFlag) || named.Dataset == "" {
		named.Dataset = c.String(datasetFlag)
	}
	if c.IsSet(variantFlag) || named.Variant == "" {
		if err := setText(&named.Variant, c, variantFlag); err != nil {
			return protocol.Preset{}, err
		}
	}
	p := protocol.PresetFor(named.Dataset, named.Variant)
	if file != "" {
		if err := p.ReadConfig(file); err != nil {
			return p, err
		}
		p.Dataset, p.Variant = strings.ToLower(named.Dataset), named.Variant
	}
	if err := setFlags(&p.Config, c); err != nil {
		return p, err
	}
	return p, p.Check()
}

// setFlags writes the flags that are set into a config.
func setFlags(to *protocol.Config, c *cli.Context) error {
	for name, field := range map[string]any{
		"dev-split": &to.DevSplit, "stage": &to.Stage, "seeds": &to.Seeds, "seed": &to.Seed, "epochs": &to.Epochs,
		"lr": &to.LR, "lr-v": &to.LRV, "batch": &to.Batch, "patience": &to.Patience,
		"preprocess": &to.Preprocess, "ridge": &to.Ridge, "hold-out": &to.HoldOut, "beta": &to.Beta, "lambda": &to.Lambda,
		"alpha": &to.Alpha, "psi": &to.Psi, "zeta": &to.Zeta, "k": &to.K,
		"prior": &to.Prior, "complement": &to.Complement,
	} {
		if !c.IsSet(name) {
			continue
		}
		switch field := field.(type) {
		case *int:
			*field = c.Int(name)
		case *uint64:
			*field = c.Uint64(name)
		case *float64:
			*field = c.Float64(name)
		case *bool:
			*field = c.Bool(name)
		case encoding.TextUnmarshaler:
			if err := setText(field, c, name); err != nil {
				return err
			}
		default:
			panic(fmt.Sprintf("--%s sets a %T", name, field))
		}
	}
	return nil
}

func setText(to encoding.TextUnmarshaler, c *cli.Context, name string) error {
	if err := to.UnmarshalText([]byte(c.String(name))); err != nil {
		return fmt.Errorf("--%s: %w", name, err)
	}
	return nil
}
