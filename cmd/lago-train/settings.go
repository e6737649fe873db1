package main

import (
	"cmp"
	"encoding"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

// The names of flags that more than one function reads.
const (
	datasetFlag = "dataset"
	variantFlag = "variant"
	configFlag  = "config"
	configsFlag = "configs"
	csvFlag     = "csv"
	jsonFlag    = "json"
	outFlag     = "out"
	jobsFlag    = "jobs"
	threadsFlag = "threads"
	rotateFlag  = "rotate"

	foldsFlagName = "folds"
)

// defaultRuns is the folder of runs if no flag names another one.
const defaultRuns = "runs"

// dataFlags say where data sets are.
func dataFlags() []cli.Flag {
	const category = "data"
	return []cli.Flag{
		&cli.PathFlag{Name: "data-dir", Category: category, Usage: "`DIR` that holds data sets (default: $LAGO_DATA, otherwise ./data)"},
		&cli.IntFlag{Name: "dev-split", Category: category, Value: 1, Usage: "split `N`, 1 to 3, of the seen classes into train and validation classes"},
		&cli.BoolFlag{Name: "no-cache", Category: category, Usage: "read .mat files again, without the cache of parsed files"},
		threadsFlagOf(),
	}
}

func threadsFlagOf() cli.Flag {
	return &cli.IntFlag{Name: threadsFlag, Category: "execution", DefaultText: "number of cores", Usage: "`N` threads to compute with, of Go and of the BLAS"}
}

// outputDataDirFlag is --data-dir of commands that write a data set.
func outputDataDirFlag(category string) cli.Flag {
	return &cli.PathFlag{Name: "data-dir", Category: category, Usage: "`DIR` for the folder of the data set (default: $" + catalog.EnvDataDir + ", then ./data)"}
}

// openDataset reads a data set as the flags say.
func openDataset(c *cli.Context, name string, devSplit int) (*dataset.Dataset, error) {
	return catalog.Open(c.Context, name, catalog.Options{
		DataDir: c.Path("data-dir"), DevSplit: devSplit, NoCache: c.Bool("no-cache"),
	})
}

// settingFlags are those of the settings of a run, except dev-split, which is one of
// dataFlags, and --config.
func settingFlags() []cli.Flag {
	var flags []cli.Flag
	for _, s := range protocol.All() {
		switch {
		case s.Key == "dev_split":
		case s.IsBool():
			flags = append(flags, &cli.BoolFlag{Name: flagOf(s.Key), Category: s.Group, Usage: s.Help})
		default: // the table of settings parses the text
			flags = append(flags, &cli.StringFlag{Name: flagOf(s.Key), Category: s.Group, DefaultText: s.DefaultText(), Usage: s.Help})
		}
	}
	return append(flags, &cli.PathFlag{Name: configFlag, Category: protocol.ProtocolGroup, Usage: "JSON `FILE` of settings, keys as the flags with _ for -; flags override it"})
}

// settingFlagsBut are the flags of settings that a command does not decide itself.
func settingFlagsBut(names ...string) []cli.Flag {
	return slices.DeleteFunc(settingFlags(), func(f cli.Flag) bool { return slices.Contains(names, f.Names()[0]) })
}

// flagOf names the flag of a setting.
func flagOf(setting string) string { return strings.ReplaceAll(setting, "_", "-") }

// dashed returns the name of a flag as users type it: -k, --lr.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// settingsGiven are the values of settings in flags.
func settingsGiven(c *cli.Context) []protocol.Given {
	var given []protocol.Given
	for _, s := range protocol.All() {
		if name := flagOf(s.Key); c.IsSet(name) {
			given = append(given, protocol.Given{Key: s.Key, Text: fmt.Sprint(c.Value(name)), Flag: dashed(name)})
		}
	}
	return given
}

// givenSettings are the keys of settings in flags, without that of the data's split.
func givenSettings(c *cli.Context) []string {
	var keys []string
	for _, g := range settingsGiven(c) {
		if g.Key != "dev_split" {
			keys = append(keys, g.Key)
		}
	}
	return keys
}

// configOf resolves the settings of a run from the preset, the config file and the flags.
func configOf(c *cli.Context) (protocol.Preset, error) { return configOfVariant(c, "") }

// configOfVariant is configOf with another default variant.
func configOfVariant(c *cli.Context, v model.Variant) (protocol.Preset, error) {
	given := append(searchLength(c), protocol.Given{Key: variantFlag, Text: cmp.Or(string(v), string(model.SemanticHard))})
	if file := c.Path(configFlag); file != "" {
		read, err := protocol.ReadFile(c.Context, file)
		if err != nil {
			return protocol.Preset{}, err
		}
		given = append(given, usable(c, file, read)...)
	}
	return protocol.Resolve(append(given, settingsGiven(c)...))
}

// usable removes the keys of a config file that the command decides itself: stage, for a
// command that has no such flag, with the epochs of a test stage.
func usable(c *cli.Context, file string, given []protocol.Given) []protocol.Given {
	if hasFlag(c.Command, "stage") {
		return given
	}
	ofTest := slices.ContainsFunc(given, func(g protocol.Given) bool { return g.Key == "stage" && g.Text == string(protocol.OnlyTest) })
	return slices.DeleteFunc(given, func(g protocol.Given) bool {
		unused := g.Key == "stage" || ofTest && g.Key == "epochs"
		if unused {
			logrus.Infof("%s: %s is not used: %s sets the stages itself", file, g.Key, c.Command.Name)
		}
		return unused
	})
}

func hasFlag(c *cli.Command, name string) bool {
	return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// protocolFlags are the settings that several variants have in common, for commands that
// run the full protocol.
func protocolFlags() []cli.Flag {
	return append(settingFlagsBut(variantFlag, "stage", "epochs", configFlag, "k", "lr-v", "psi", "zeta"), devEpochsFlag("200"), configsDirFlag())
}

func configsDirFlag() cli.Flag {
	return &cli.PathFlag{Name: configsFlag, Category: protocol.ProtocolGroup, Usage: "`DIR` with config files that search wrote, one per variant"}
}

// devEpochsFlag is --epochs for commands whose dev stage decides the epochs of the test
// stage.
func devEpochsFlag(standard string) cli.Flag {
	return &cli.StringFlag{Name: "epochs", Category: protocol.TrainingGroup, DefaultText: standard, Usage: "at most `N` epochs in the dev stage"}
}

// protocolConfigs resolves the settings of variants from their presets, the files of
// --configs and the flags.
func protocolConfigs(c *cli.Context, variants []model.Variant) ([]protocol.Config, error) {
	dir := c.Path(configsFlag)
	if dir != "" {
		if _, err := os.Stat(dir); err != nil {
			return nil, invalid.At("--"+configsFlag, invalid.File(dir, err))
		}
	}
	flags := settingsGiven(c)
	common, err := commonConfig(c)
	if err != nil {
		return nil, err
	}
	configs := make([]protocol.Config, len(variants))
	for i, v := range variants {
		given, err := protocol.ReadSearched(c.Context, dir, common.Dataset, common.DevSplit, v)
		if err != nil {
			return nil, err
		}
		given = slices.Concat(searchLength(c), []protocol.Given{{Key: variantFlag, Text: string(v)}}, given, flags)
		p, err := protocol.Resolve(given)
		if err != nil {
			return nil, err
		}
		configs[i] = p.Config
	}
	return configs, nil
}

// commonKeys are the settings of methods of any kind.
var commonKeys = []string{"dataset", "dev_split", "seeds", "seed", "epochs", "patience", "hold_out", "preprocess", "ridge"}

// commonConfig is what the flags say for methods of any kind.
func commonConfig(c *cli.Context) (protocol.Config, error) {
	given := slices.DeleteFunc(settingsGiven(c), func(g protocol.Given) bool { return !slices.Contains(commonKeys, g.Key) })
	p, err := protocol.Resolve(append(searchLength(c), given...))
	return p.Config, err
}

// setText reads the value of a flag.
func setText(to encoding.TextUnmarshaler, c *cli.Context, name string) error {
	return invalid.At("--"+name, to.UnmarshalText([]byte(c.String(name))))
}
