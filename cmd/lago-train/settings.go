package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/format"
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
	fromFlag    = "from"
	jobsFlag    = "jobs"
	threadsFlag = "threads"
	rotateFlag  = "rotate"
	writeFlag   = "write"

	foldsFlagName = "folds"
	shardFlagName = "shard"
)

// defaultRuns is the folder of runs if no flag names another one.
const defaultRuns = "runs"

// dataFlags say where data sets are.
func dataFlags() []cli.Flag {
	return []cli.Flag{
		dataDirFlag(),
		&cli.IntFlag{Name: "dev-split", Category: dataGroup, Value: 1, Usage: "`N` split, 1 to 3, of the seen classes into train and validation classes"},
		&cli.BoolFlag{Name: "no-cache", Category: dataGroup, Usage: "read .mat files again, without the cache of parsed files"},
		threadsFlagOf(),
	}
}

func threadsFlagOf() cli.Flag {
	return &cli.IntFlag{Name: threadsFlag, Category: runGroup, DefaultText: "number of cores", Usage: "`N` threads to compute with, in Go and in the BLAS"}
}

func dataDirFlag() cli.Flag {
	return &cli.PathFlag{Name: "data-dir", Category: dataGroup, DefaultText: "$" + catalog.EnvDataDir + ", otherwise ./data", Usage: "`DIR` folder that holds the data sets"}
}

// openDataset reads a data set as the flags say.
func openDataset(c *cli.Context, name string, devSplit int) (*dataset.Dataset, error) {
	o := catalogOptions(c)
	o.DevSplit = devSplit
	return catalog.Open(c.Context, name, o)
}

func catalogOptions(c *cli.Context) catalog.Options {
	return catalog.Options{DataDir: c.Path("data-dir"), NoCache: c.Bool("no-cache")}
}

// settingFlags are those of the settings of a run, except dev-split, which is one of
// dataFlags, and --config.
func settingFlags() []cli.Flag {
	var flags []cli.Flag
	for _, s := range protocol.All() {
		options, list := s.Words()
		switch {
		case s.Key == "dev_split":
		case list:
			f := choices(flagOf(s.Key), s.Group, s.Help, nil, options...)
			f.DefaultText = s.DefaultText()
			flags = append(flags, f)
		case options != nil:
			flags = append(flags, optional(flagOf(s.Key), s.Group, s.Help, s.DefaultText(), options...))
		case s.IsBool():
			flags = append(flags, &cli.BoolFlag{Name: flagOf(s.Key), Category: s.Group, Usage: s.Help})
		default: // the table of settings parses the text
			flags = append(flags, &cli.StringFlag{Name: flagOf(s.Key), Category: s.Group, DefaultText: s.DefaultText(), Usage: s.Help})
		}
	}
	return append(flags, &cli.PathFlag{Name: configFlag, Category: protocol.ProtocolGroup, Usage: "`FILE` settings in JSON, keys as the flags with _ for -; flags override it"})
}

// devSettingFlags are the flags of settings but some, for commands whose dev stage decides
// the epochs of the test stage, if they have one.
func devSettingFlags(epochs string, but ...string) []cli.Flag {
	flags := without(settingFlags(), append(but, "stage")...)
	for _, f := range flags {
		if f.Names()[0] == "epochs" {
			epochsFlag := f.(*cli.StringFlag)
			epochsFlag.DefaultText, epochsFlag.Usage = epochs, "`N` number of epochs, at most, of the dev stage"
		}
	}
	return flags
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
		name := flagOf(s.Key)
		if !c.IsSet(name) {
			continue
		}
		text := fmt.Sprint(c.Value(name))
		if list := c.StringSlice(name); list != nil {
			text = strings.Join(list, ",")
		}
		given = append(given, protocol.Given{Key: s.Key, Text: text, Flag: dashed(name)})
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

// configOf resolves the settings of a run from the preset, the config file and the flags. The
// first of the variants, if any, is the default, and the others are accepted.
func configOf(c *cli.Context, variants ...model.Variant) (protocol.Preset, error) {
	if variants == nil {
		variants = append([]model.Variant{model.SemanticHard}, model.Variants...)
	}
	given := append(searchLength(c), protocol.Given{Key: variantFlag, Text: string(variants[0])})
	file := c.Path(configFlag)
	if file != "" {
		read, err := protocol.ReadFile(c.Context, file)
		if err != nil {
			return protocol.Preset{}, err
		}
		given = append(given, usable(c, file, read)...)
	}
	p, err := protocol.Resolve(append(given, settingsGiven(c)...), startOf(c))
	if err == nil && !slices.Contains(variants, p.Variant) {
		err = &invalid.Error{Where: file, Field: variantFlag, Want: format.List(format.Strings(variants), "or"), Got: string(p.Variant)}
	}
	return p, err
}

// startOf returns what the settings of a run are before files and flags. Published settings were
// chosen on validation classes, some of which are unseen in a rotation.
func startOf(c *cli.Context) func(string, model.Variant) protocol.Preset {
	if c.IsSet(rotateFlag) {
		return protocol.GeneralFor
	}
	return protocol.PresetFor
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

// protocolFlags are the settings that several variants have in common, for commands that
// run the full protocol.
func protocolFlags() []cli.Flag {
	return append(devSettingFlags(devEpochs, variantFlag, configFlag, "k", "lr-v", "psi", "zeta"), configsDirFlag())
}

func configsDirFlag() cli.Flag {
	return &cli.PathFlag{Name: configsFlag, Category: protocol.ProtocolGroup, Usage: "`DIR` folder with config files that search wrote, one per variant"}
}

// devEpochs is the default of --epochs in the dev stage.
const devEpochs = "200"

// protocolPresets resolves the settings of variants from their presets, the files of
// --configs and the flags. The first preset is what the flags say for methods of any kind.
func protocolPresets(c *cli.Context, variants []model.Variant) ([]protocol.Preset, error) {
	dir := c.Path(configsFlag)
	if dir != "" {
		if _, err := os.Stat(dir); err != nil {
			return nil, invalid.At("--"+configsFlag, invalid.File(dir, err))
		}
	}
	flags := settingsGiven(c)
	ofAll := slices.DeleteFunc(slices.Clone(flags), func(g protocol.Given) bool { return !slices.Contains(commonKeys, g.Key) })
	common, err := protocol.Resolve(append(searchLength(c), ofAll...), startOf(c))
	if err != nil {
		return nil, err
	}
	presets := []protocol.Preset{common}
	for _, v := range variants {
		given, err := protocol.ReadSearched(c.Context, dir, common.Dataset, common.DevSplit, v)
		if err != nil {
			return nil, err
		}
		given = slices.Concat(searchLength(c), []protocol.Given{{Key: variantFlag, Text: string(v)}}, given, flags)
		p, err := protocol.Resolve(given, startOf(c))
		if err != nil {
			return nil, err
		}
		presets = append(presets, p)
	}
	return presets, nil
}

func configsOf(presets []protocol.Preset) []protocol.Config {
	configs := make([]protocol.Config, len(presets))
	for i, p := range presets {
		configs[i] = p.Config
	}
	return configs
}

// commonKeys are the settings of methods of any kind.
var commonKeys = []string{"dataset", "dev_split", "seeds", "seed", "epochs", "patience", "hold_out", "preprocess", "ridge"}
