package main

import (
	"os"
	"slices"

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

// settings are those of a run but some and dev_split, which is one of dataOptions, and config.
func (o *gridOptions) settings(but ...string) setting.List {
	list := append(general(), setting.Raw("config", &o.config, "").In(setting.Protocol).
		Describe("`FILE` settings in JSON, keys as the flags with _ for -; flags override it"))
	return slices.DeleteFunc(list, func(s setting.Setting) bool { return s.Key == "dev_split" || slices.Contains(but, s.Key) })
}

// devEpochs is the default of --epochs in the dev stage.
const devEpochs = "200"

// devSettings are settings for commands whose dev stage decides the epochs of the test stage, if
// they have one.
func (o *gridOptions) devSettings(epochs string, but ...string) setting.List {
	list := o.settings(append(but, "stage")...)
	i := slices.Index(list.Keys(), "epochs")
	list[i].Note, list[i].Help = epochs, "`N` number of epochs, at most, of the dev stage"
	return list
}

// The default epochs and patience of commands that search settings: so many trials cannot
// each have the length of a single run. rotationSeeds is their default number of seeds with
// --rotate: intervals are over classes.
const searchEpochs, searchPatience, rotationSeeds = "60", "10", "3"

// searchedSettings are devSettings with these defaults.
func (o *gridOptions) searchedSettings(but ...string) setting.List {
	list := o.devSettings(searchEpochs, but...)
	for i, s := range list {
		switch s.Key {
		case "patience":
			list[i].Note = searchPatience
		case "seeds":
			list[i].Note = s.DefaultText() + ", or " + rotationSeeds + " with --rotate"
		}
	}
	return list
}

// given is the value of a setting without a place.
func given(key, text string) engine.Given {
	return engine.Given{Given: setting.Given{Key: key, Text: text}}
}

// settingsGiven are the values of settings in flags.
func settingsGiven(c *cli.Context) []engine.Given {
	var list []engine.Given
	for _, key := range general().Keys() {
		if name := flagOf(key); c.IsSet(name) {
			g := given(key, c.String(name))
			g.Flag = dashed(name)
			list = append(list, g)
		}
	}
	return list
}

// givenSettings are the keys of settings in flags, without that of the data's split.
func givenSettings(c *cli.Context) []string {
	return slices.DeleteFunc(general().Keys(), func(key string) bool { return key == "dev_split" || !c.IsSet(flagOf(key)) })
}

// resolve returns the settings of a run: its preset, over it what commands that choose settings
// have as defaults, and over these what is given. Published settings were chosen on validation
// classes, some of which are unseen in a rotation.
func resolve(c *cli.Context, values ...engine.Given) (engine.Preset, error) {
	start, list := engine.PresetFor, []engine.Given{}
	if c.IsSet("rotate") {
		start = engine.GeneralFor
	}
	if hasFlag(c.Command, "folds") {
		list = append(list, given("epochs", searchEpochs), given("patience", searchPatience))
		if c.IsSet("rotate") {
			list = append(list, given("seeds", rotationSeeds))
		}
	}
	return engine.Resolve(append(list, values...), start)
}

// preset resolves the settings of a run from the preset, the config file and the flags. The
// first of the variants, if any, is the default, and the others are accepted.
func (o *gridOptions) preset(c *cli.Context, variants ...model.Variant) (engine.Preset, error) {
	if variants == nil {
		variants = append([]model.Variant{model.SemanticHard}, model.Variants...)
	}
	list := []engine.Given{given("variant", string(variants[0]))}
	if o.config != "" {
		read, err := engine.ReadFile(c.Context, o.config)
		if err != nil {
			return engine.Preset{}, err
		}
		list = append(list, usable(c, o.config, read)...)
	}
	p, err := resolve(c, append(list, settingsGiven(c)...)...)
	if found := p.Method.Variant(); err == nil && !slices.Contains(variants, found) {
		err = &invalid.Error{Where: o.config, Field: "variant", Want: format.List(format.Strings(variants), "or"), Got: string(found)}
	}
	return p, err
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

// protocolSettings are those that several variants have in common, for commands that run the full
// protocol.
func (o *gridOptions) protocolSettings() setting.List {
	return append(o.devSettings(devEpochs, "variant", "config", "k", "lr_v", "psi", "zeta"), o.configsSetting())
}

func (o *gridOptions) configsSetting() setting.Setting {
	return setting.Raw("configs", &o.configs, "").In(setting.Protocol).Describe("`DIR` folder with config files that search wrote, one per variant")
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
	first, err := resolve(c, ofAll...)
	if err != nil {
		return nil, err
	}
	presets := []engine.Preset{first}
	for _, v := range variants {
		searched, err := engine.ReadSearched(c.Context, o.configs, first.Dataset, first.DevSplit, v)
		if err != nil {
			return nil, err
		}
		p, err := resolve(c, slices.Concat([]engine.Given{given("variant", string(v))}, searched, flags)...)
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
