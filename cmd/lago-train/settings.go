package main

import (
	"os"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// general lists all settings of LAGO, with their defaults.
func general() setting.List {
	c := engine.Defaults(methods.Of(model.SemanticHard))
	return c.Settings()
}

// settingFlags are those of the settings of a run, except dev-split, which is one of
// dataOptions, and --config.
func (o *gridOptions) settingFlags() []cli.Flag {
	var flags []cli.Flag
	for _, s := range general() {
		name, group := flagOf(s.Key), string(s.Scope)
		switch {
		case s.Key == "dev_split":
		case s.List:
			f := choices(new([]string), name, group, s.Help, nil, s.Options...)
			f.DefaultText = s.DefaultText()
			flags = append(flags, f)
		case s.Options != nil:
			flags = append(flags, optional(new(string), name, group, s.Help, s.DefaultText(), s.Options...))
		case s.Kind() == "boolean":
			flags = append(flags, &cli.BoolFlag{Name: name, Category: group, Usage: s.Help})
		default: // the setting parses the text
			flags = append(flags, &cli.StringFlag{Name: name, Category: group, DefaultText: s.DefaultText(), Usage: s.Help})
		}
	}
	return append(flags, &cli.PathFlag{Name: "config", Category: string(setting.Protocol), Usage: "`FILE` settings in JSON, keys as the flags with _ for -; flags override it", Destination: &o.config})
}

// devEpochs is the default of --epochs in the dev stage.
const devEpochs = "200"

// devSettingFlags are the flags of settings but some, for commands whose dev stage decides
// the epochs of the test stage, if they have one.
func (o *gridOptions) devSettingFlags(epochs string, but ...string) []cli.Flag {
	flags := without(o.settingFlags(), append(but, "stage")...)
	if f, ok := findFlag(flags, "epochs").(*cli.StringFlag); ok {
		f.DefaultText, f.Usage = epochs, "`N` number of epochs, at most, of the dev stage"
	}
	return flags
}

// The default epochs and patience of commands that search settings: so many trials cannot
// each have the length of a single run. rotationSeeds is their default number of seeds with
// --rotate: intervals are over classes.
const searchEpochs, searchPatience, rotationSeeds = "60", "10", "3"

// searchedFlagsBut are devSettingFlags with these defaults.
func (o *gridOptions) searchedFlagsBut(names ...string) []cli.Flag {
	flags := o.devSettingFlags(searchEpochs, names...)
	findFlag(flags, "patience").(*cli.StringFlag).DefaultText = searchPatience
	findFlag(flags, "seeds").(*cli.StringFlag).DefaultText += ", or " + rotationSeeds + " with --rotate"
	return flags
}

// given is the value of a setting without a place.
func given(key, text string) engine.Given {
	return engine.Given{Given: setting.Given{Key: key, Text: text}}
}

// searchLength gives these defaults to commands that choose settings.
func searchLength(c *cli.Context) []engine.Given {
	if !hasFlag(c.Command, "folds") {
		return nil
	}
	list := []engine.Given{given("epochs", searchEpochs), given("patience", searchPatience)}
	if c.IsSet("rotate") {
		list = append(list, given("seeds", rotationSeeds))
	}
	return list
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
func settingsGiven(c *cli.Context) []engine.Given {
	var list []engine.Given
	for _, s := range general() {
		name := flagOf(s.Key)
		if !c.IsSet(name) {
			continue
		}
		g := given(s.Key, c.String(name))
		g.Flag = dashed(name)
		list = append(list, g)
	}
	return list
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

// preset resolves the settings of a run from the preset, the config file and the flags. The
// first of the variants, if any, is the default, and the others are accepted.
func (o *gridOptions) preset(c *cli.Context, variants ...model.Variant) (engine.Preset, error) {
	if variants == nil {
		variants = append([]model.Variant{model.SemanticHard}, model.Variants...)
	}
	list := append(searchLength(c), given("variant", string(variants[0])))
	if o.config != "" {
		read, err := engine.ReadFile(c.Context, o.config)
		if err != nil {
			return engine.Preset{}, err
		}
		list = append(list, usable(c, o.config, read)...)
	}
	p, err := engine.Resolve(append(list, settingsGiven(c)...), startOf(c))
	if found := p.Method.Variant(); err == nil && !slices.Contains(variants, found) {
		err = &invalid.Error{Where: o.config, Field: "variant", Want: format.List(format.Strings(variants), "or"), Got: string(found)}
	}
	return p, err
}

// startOf returns what the settings of a run are before files and flags. Published settings were
// chosen on validation classes, some of which are unseen in a rotation.
func startOf(c *cli.Context) func(string, methods.Spec) engine.Preset {
	if c.IsSet("rotate") {
		return engine.GeneralFor
	}
	return engine.PresetFor
}

// usable removes the keys of a config file that the command decides itself: stage, for a
// command that has no such flag, with the epochs of a test stage.
func usable(c *cli.Context, file string, list []engine.Given) []engine.Given {
	if hasFlag(c.Command, "stage") {
		return list
	}
	ofTest := slices.ContainsFunc(list, func(g engine.Given) bool { return g.Key == "stage" && g.Text == string(engine.OnlyTest) })
	return slices.DeleteFunc(list, func(g engine.Given) bool {
		unused := g.Key == "stage" || ofTest && g.Key == "epochs"
		if unused {
			logrus.Infof("%s: %s is not used: %s sets the stages itself", file, g.Key, c.Command.Name)
		}
		return unused
	})
}

// protocolFlags are the settings that several variants have in common, for commands that
// run the full protocol.
func (o *gridOptions) protocolFlags() []cli.Flag {
	return append(o.devSettingFlags(devEpochs, "variant", "config", "k", "lr-v", "psi", "zeta"), o.configsFlag())
}

func (o *gridOptions) configsFlag() cli.Flag {
	return &cli.PathFlag{Name: "configs", Category: string(setting.Protocol), Usage: "`DIR` folder with config files that search wrote, one per variant", Destination: &o.configs}
}

// presets resolves the settings of variants from their presets, the files of --configs and
// the flags. The first preset is what the flags say for methods of any kind.
func (o *gridOptions) presets(c *cli.Context, variants []model.Variant) ([]engine.Preset, error) {
	if o.configs != "" {
		if _, err := os.Stat(o.configs); err != nil {
			return nil, atFlag("configs", invalid.File(o.configs, err))
		}
	}
	flags, common := settingsGiven(c), engine.CommonKeys()
	ofAll := slices.DeleteFunc(slices.Clone(flags), func(g engine.Given) bool { return !slices.Contains(common, g.Key) })
	first, err := engine.Resolve(append(searchLength(c), ofAll...), startOf(c))
	if err != nil {
		return nil, err
	}
	presets := []engine.Preset{first}
	for _, v := range variants {
		searched, err := engine.ReadSearched(c.Context, o.configs, first.Dataset, first.DevSplit, v)
		if err != nil {
			return nil, err
		}
		p, err := engine.Resolve(slices.Concat(searchLength(c), []engine.Given{given("variant", string(v))}, searched, flags), startOf(c))
		if err != nil {
			return nil, err
		}
		presets = append(presets, p)
	}
	return presets, nil
}

func configsOf(presets []engine.Preset) []engine.Config {
	configs := make([]engine.Config, len(presets))
	for i, p := range presets {
		configs[i] = p.Config
	}
	return configs
}
