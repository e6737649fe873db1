package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// defaultRuns is the folder of runs if no flag names another one.
const defaultRuns = "runs"

// dataOptions say where data sets are, and how to print a result.
type dataOptions struct {
	catalog.Options
	json bool
}

// dataSettings are those of commands that read data sets and print a result. setUp applies
// threads, before the action of a command.
func (o *dataOptions) dataSettings() setting.List {
	return setting.List{
		setting.Raw("data_dir", &o.DataDir, "").In(setting.Data).Noted("$" + catalog.EnvDataDir + ", otherwise ./data").Common().
			Describe("`DIR` folder that holds the data sets"),
		setting.Switch("no_cache", &o.NoCache, false).In(setting.Data).Describe("read .mat files again, without the cache of parsed files"),
		setting.Whole("threads", new(int), 0, setting.Threads).In(runGroup).Noted("number of cores").
			Describe("`N` threads to compute with, in Go and in the BLAS"),
		o.jsonSetting(),
		setting.Whole("dev_split", &o.DevSplit, 1, setting.Between(1, 3)).In(setting.Data).
			Describe("`N` split, 1 to 3, of the seen classes into train and validation classes"),
	}
}

func (o *dataOptions) jsonSetting() setting.Setting {
	return setting.Switch("json", &o.json, false).In(outputGroup).Common().Describe("print one JSON object, with fractions instead of percentages")
}

// useThreads sets the number of threads, of which jobs runs have their share. Gorgonia locks
// a machine's goroutine to a thread, which blocks while another goroutine runs the step. With
// GOMAXPROCS at the number of threads they would idle, so several jobs get twice that.
func useThreads(threads, jobs int) {
	parallel.Limit(threads)
	if jobs > 1 {
		threads *= 2
	}
	runtime.GOMAXPROCS(threads)
}

// garbage is the GC percentage for large features, which have no pointers for the collector to
// follow, so that collecting often costs little.
const garbage = 5

// gridOptions are those of commands that train.
type gridOptions struct {
	dataOptions
	out        string
	jobs       int
	shard      lab.Shard
	rotate     int
	rotateSeed uint64
	folds      int
	config     string // file
	configs    string // folder
	csv        string
}

// gridSettings are those of every command that runs many trials.
func (o *gridOptions) gridSettings() setting.List {
	return append(o.dataSettings(),
		setting.Raw("out", &o.out, defaultRuns).In(outputGroup).Common().Describe("`RUNS` folder of the runs"),
		setting.Whole("jobs", &o.jobs, 0, setting.Threads).In(runGroup).Noted("number of threads").Common().Describe("`N` runs trained in parallel"),
		shardSetting(&o.shard, "runs"))
}

func csvSetting(to *string, what string) setting.Setting {
	return setting.Raw("csv", to, "").In(outputGroup).Common().Describe("`FILE` also write " + what + " to this CSV file")
}

func shardSetting(to *lab.Shard, what string) setting.Setting {
	return setting.Of("shard", to, lab.Shard{}, "I/N", lab.ParseShard).In(runGroup).Noted("from Slurm or Kubernetes, otherwise all").
		Describe("`I/N` only part I, from 0, of N parts of the " + what)
}

// shardOf returns the shard of the flag or else of the scheduler. A command without the flag,
// such as run, is never divided.
func shardOf(c *cli.Context, given lab.Shard) (lab.Shard, error) {
	if c.IsSet("shard") || !hasFlag(c.Command, "shard") {
		return given, nil
	}
	return lab.ShardFromEnvironment()
}

// rotationSettings are those of commands that can take each class as unseen once.
func (o *gridOptions) rotationSettings() setting.List {
	return setting.List{
		setting.Whole("rotate", &o.rotate, 0, setting.Count).In(setting.Data).Noted("no rotation").Common().
			Describe("`N` parts, at least 3, into which the classes are divided; each is unseen once"),
		setting.Seed("rotate_seed", &o.rotateSeed).In(setting.Data).Describe("`SEED` random seed of the parts of --rotate"),
	}
}

// foldsSetting is that of commands that choose settings.
func (o *gridOptions) foldsSetting() setting.Setting {
	return setting.Whole("folds", &o.folds, 0, setting.Count).In(searchGroup).Noted("3, or 1 with --rotate or --dev-split").
		Describe("`N` divisions of the seen classes on which settings are chosen: those of the data set if it has N, otherwise N random parts in turn; 1 takes the split of --dev-split")
}

// defaultFolds is the number of divisions of the seen classes in the xlsa17 release.
const defaultFolds = 3

// foldsOf reads foldsSetting. The split of the settings may come from a config file.
func (o *gridOptions) foldsOf(c *cli.Context, p config.Preset) (int, error) {
	ofSplit := c.IsSet("dev-split") || p.DevSplit != 1
	switch {
	case o.folds == 0 && (ofSplit || c.IsSet("rotate")):
		return 1, nil
	case o.folds > 1 && ofSplit:
		return 0, wrong("--folds", "1, because "+p.Origins["dev_split"]+" names one split", strconv.Itoa(o.folds))
	}
	return cmp.Or(o.folds, defaultFolds), nil
}

// checkRotation returns an error for settings that --rotate leaves no place for.
func checkRotation(c *cli.Context, p config.Preset) error {
	if err := requires(c, "rotate", "rotate-seed"); err != nil || !c.IsSet("rotate") {
		return err
	}
	for _, s := range p.Settings() {
		if (s.Key == "hold_out" || s.Key == "dev_split") && s.Value() != s.Default {
			return &invalid.Error{Where: p.Origins[s.Key], Want: fmt.Sprintf("%s %v beside --rotate", s.Key, s.Default), Got: fmt.Sprint(s.Value())}
		}
	}
	if p.ChosenOn != "" { // some of the classes that it was chosen on are unseen here
		return &invalid.Error{Where: p.Origins["fingerprint"], Want: "settings that no search chose, beside --rotate", Got: "those of a search"}
	}
	return nil
}

// openLab opens a data set and the lab for its trials as the flags and the first preset say. It
// warns about presets that a search chose on other data.
func (o *gridOptions) openLab(c *cli.Context, presets ...config.Preset) (*lab.Lab, error) {
	p := presets[0]
	for _, p := range presets {
		if err := checkRotation(c, p); err != nil {
			return nil, err
		}
	}
	threads := runtime.GOMAXPROCS(0)
	if c.IsSet("threads") && o.jobs > threads {
		return nil, wrong("--jobs", "at most the number of --threads", strconv.Itoa(o.jobs))
	}
	shard, err := shardOf(c, o.shard)
	if err != nil {
		return nil, err
	}
	name := p.Dataset // in lower case, but folders may differ by case only
	if typed := c.String("dataset"); strings.EqualFold(typed, name) {
		name = typed
	}
	o.DevSplit = p.DevSplit
	d, err := catalog.Open(c.Context, name, o.Options)
	if err != nil {
		return nil, err
	}
	for _, p := range presets {
		if err := p.CheckOn(d); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil { // now rather than after the first epochs
		return nil, atFlag("out", invalid.File(o.out, err))
	}
	if err := cmp.Or(checkFile("csv", o.csv), checkFile("to", c.String("to"))); err != nil {
		return nil, err
	}
	l := lab.New(d, o.out)
	for _, p := range presets {
		if p.ChosenOn != "" && p.ChosenOn != l.Fingerprint() {
			logrus.Warnf("%s: the settings were chosen on other data or another split of them", p.Origins["fingerprint"])
		}
	}
	if c.IsSet("rotate") {
		if err := l.Rotate(o.rotate, o.rotateSeed); err != nil {
			return nil, atFlag("rotate", err)
		}
	}
	l.Jobs = cmp.Or(o.jobs, threads)
	useThreads(threads, l.Jobs)
	if len(d.Features.Data) >= fileio.Large {
		debug.SetGCPercent(garbage)
	}
	l.Options.OnWarning = logRunWarning
	l.Shard, l.OnProgress = shard, showGrid
	l.OnStep = func(what string) { logrus.Info(what) }
	l.OnRun = func(r lab.Run) {
		entry := logrus.WithField("run", r.Name())
		if r.Err != nil {
			entry.WithError(r.Err).Warn("run failed")
			return
		}
		entry.WithFields(logrus.Fields{"status": r.Result.Status, "epochs": r.Result.Epochs}).Debug("run ended")
	}
	return l, nil
}

// checkFile returns an error if the file of a flag is a folder, or its folder does not exist: now
// rather than after hours.
func checkFile(flag, file string) error {
	switch info, err := os.Stat(file); {
	case err == nil && info.IsDir():
		return wrong("--"+flag, "a file", file+", a folder")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return atFlag(flag, invalid.File(file, err))
	}
	dir := filepath.Dir(file) // "." without a file
	_, err := os.Stat(dir + string(filepath.Separator))
	return atFlag(flag, invalid.File(dir, err))
}

// writeCSV writes the file of csvSetting if it is given.
func writeCSV(file string, write func(io.Writer) error) error {
	if file == "" {
		return nil
	}
	return atFlag("csv", fileio.Write(file, write))
}

// tabled is a result, which is also the JSON output.
type tabled interface{ Tables() []*table.Table }

// print prints a result, as JSON or as tables, unless there is an error.
func (o *dataOptions) print(result tabled, err error) error {
	if err != nil {
		return err
	}
	display.clear()
	if o.json {
		return format.WriteJSON(os.Stdout, result)
	}
	return table.WriteText(os.Stdout, result.Tables()...)
}

// general lists all settings of LAGO, with their defaults.
func general() setting.List {
	c := config.Defaults(methods.Of(model.SemanticHard))
	return c.Settings()
}

// settings are those of a run but some and dev_split, which is one of dataOptions, and config.
func (o *gridOptions) settings(but ...string) setting.List {
	list := append(general(), setting.Raw("config", &o.config, "").In(setting.Protocol).Common().
		Describe("`FILE` settings in JSON, keys as the flags with _ for -; flags override it"))
	return list.Without(append(but, "dev_split")...)
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
func given(key, text string) config.Given {
	return config.Given{Given: setting.Given{Key: key, Text: text}}
}

// settingsGiven are the values of settings in flags.
func settingsGiven(c *cli.Context) []config.Given {
	var list []config.Given
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
func resolve(c *cli.Context, values ...config.Given) (config.Preset, error) {
	start, list := config.PresetFor, []config.Given{}
	if c.IsSet("rotate") {
		start = config.GeneralFor
	}
	if hasFlag(c.Command, "folds") {
		list = append(list, given("epochs", searchEpochs), given("patience", searchPatience))
		if c.IsSet("rotate") {
			list = append(list, given("seeds", rotationSeeds))
		}
	}
	return config.Resolve(append(list, values...), start)
}

// preset resolves the settings of a run from the preset, the config file and the flags. The
// first of the variants, if any, is the default, and the others are accepted.
func (o *gridOptions) preset(c *cli.Context, variants ...model.Variant) (config.Preset, error) {
	if variants == nil {
		variants = append([]model.Variant{model.SemanticHard}, model.Variants...)
	}
	list := []config.Given{given("variant", string(variants[0]))}
	if o.config != "" {
		read, err := config.ReadFile(c.Context, o.config)
		if err != nil {
			return config.Preset{}, err
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
func usable(c *cli.Context, file string, list []config.Given) []config.Given {
	if hasFlag(c.Command, "stage") {
		return list
	}
	ofTest := slices.ContainsFunc(list, func(g config.Given) bool { return g.Key == "stage" && g.Text == string(config.OnlyTest) })
	return slices.DeleteFunc(list, func(g config.Given) bool {
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
	return setting.Raw("configs", &o.configs, "").In(setting.Protocol).Common().Describe("`DIR` folder with config files, one per variant, with the names that search gives them")
}

// presets resolves the settings of variants from their presets, the files of --configs and
// the flags. The first preset is what the flags say for methods of any kind.
func (o *gridOptions) presets(c *cli.Context, variants []model.Variant) (presets []config.Preset, configs []config.Config, err error) {
	if o.configs != "" {
		if _, err := os.Stat(o.configs); err != nil {
			return nil, nil, atFlag("configs", invalid.File(o.configs, err))
		}
	}
	flags, common := settingsGiven(c), config.CommonKeys()
	ofAll := slices.DeleteFunc(slices.Clone(flags), func(g config.Given) bool { return !slices.Contains(common, g.Key) })
	first, err := resolve(c, ofAll...)
	if err != nil {
		return nil, nil, err
	}
	presets = append(presets, first)
	for _, v := range variants {
		searched, err := config.ReadSearched(c.Context, o.configs, first.Dataset, first.DevSplit, v)
		if err != nil {
			return nil, nil, err
		}
		p, err := resolve(c, slices.Concat([]config.Given{given("variant", string(v))}, searched, flags)...)
		if err != nil {
			return nil, nil, err
		}
		presets, configs = append(presets, p), append(configs, p.Config)
	}
	return presets, configs, nil
}
