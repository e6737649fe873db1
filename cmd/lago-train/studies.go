package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/experiments/studies"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model/preprocess"
)

type studyOptions struct {
	dataOptions
	study   results.Study
	request config.Request
	jobs    int
	shard   lab.Shard
	outputs outputs

	model     string // of results.OfModel
	printOnly bool   // of results.Single
}

func studyCommands() (list []*cli.Command) {
	for _, entry := range studies.All {
		o := &studyOptions{study: entry.New()}
		list = append(list, &cli.Command{
			Name: entry.Command, Flags: flags(o.settings()), Action: graceful(o.run),
		})
	}
	return list
}

// settings are those of a study and of training many runs, with what some studies have beside.
func (o *studyOptions) settings() setting.List {
	list := slices.Concat(o.study.Settings(&o.request), o.dataSettings(), workSettings())
	list = append(list,
		o.missingSetting(),
		setting.Raw("out", &o.request.Out, defaultRuns).In(outputGroup).Common(),
		setting.Whole("jobs", &o.jobs, 0, setting.Threads).In(runGroup).Noted("number of threads").Common(),
	)
	if _, ok := o.study.(results.Single); ok {
		list = append(list, setting.Switch("print_config", &o.printOnly, false).In(outputGroup).Common())
	} else {
		list = append(list, shardSetting(&o.shard))
	}
	if _, ok := o.study.(results.OfModel); ok {
		ofTraining := append(config.All().Without("dataset").Keys(), "config", "jobs", "shard", "out")
		list = append(list, modelSetting(&o.model).Excludes(ofTraining...))
	}
	if _, ok := o.study.(results.Writer); ok {
		list = append(list, o.outputs.setting())
	}
	return list
}

func (o *studyOptions) run(c *cli.Context) error {
	if o.model != "" {
		return o.askModel(c)
	}
	r := &o.request
	ofRuns := config.All()
	for _, f := range c.Command.Flags {
		s := settingOf(f)
		if !s.typed {
			continue
		}
		r.Given = append(r.Given, s.Key)
		if ofRuns.Has(s.Key) {
			given := setting.Assignment{Key: s.Key, Text: s.text, Where: dashed(s.Key)}
			r.Assigned = append(r.Assigned, given)
		}
	}
	if err := r.Resolve(c.Context, false); err != nil {
		return err
	}
	for _, key := range r.Unused {
		logrus.Infof("%s: %s is not used: %s sets the stages itself", r.File, key, c.Command.Name)
	}
	if s, ok := o.study.(results.Checker); ok {
		if err := s.Check(r); err != nil {
			return err
		}
	}
	d, err := o.openDataset(c)
	if o.printOnly {
		if err != nil {
			logrus.Warnf("settings that the data choose are not shown: %v", err)
		}
		return o.printConfig(c, d)
	}
	if err != nil {
		return err
	}
	r.Ungrouped = d.Groups == nil
	if err := r.Resolve(c.Context, config.IsPublished(d)); err != nil {
		return err
	}
	l, err := o.openLab(c, d)
	if err != nil {
		return err
	}
	found, err := results.Ask(c.Context, o.study, r, l)
	if err != nil {
		return err
	}
	if f, ok := found.(results.Followed); ok {
		f.Follow(strings.TrimPrefix(filepath.Join(r.Out, latest), defaultRuns+string(filepath.Separator)),
			o.DataDir)
	}
	err = o.print(found, nil)
	for _, file := range o.files(found) {
		err = errors.Join(err, atFlag(file.Flag, o.outputs.Write(file.Path, file.Write)))
	}
	if err == nil && l.Failed() > 0 {
		err = fmt.Errorf("%s failed in %s, missing from the output", format.Count(l.Failed(), "run"), l.Root)
	}
	return err
}

func (o *studyOptions) files(found results.Result) []results.File {
	if w, ok := o.study.(results.Writer); ok {
		return w.Files(found)
	}
	return nil
}

// askModel asks of the model of --model on the data set that it was trained on, which --dataset may name.
func (o *studyOptions) askModel(c *cli.Context) error {
	m, err := openLAGO(o.model)
	if err != nil {
		return err
	}
	name := ""
	if c.IsSet("dataset") {
		name = c.String("dataset")
	}
	d, err := openData(c.Context, m, name, o.Options)
	if err != nil {
		return err
	}
	return o.print(o.study.(results.OfModel).AskModel(d, m.Saved))
}

// printConfig prints the settings of the only preset, on stderr with what the data choose and where each
// comes from. If the data cannot be read, these are those of the paper.
func (o *studyOptions) printConfig(c *cli.Context, d *dataset.Dataset) error {
	if err := o.request.Resolve(c.Context, d == nil || config.IsPublished(d)); err != nil {
		return err
	}
	p := o.request.Presets[0]
	if p.Epochs = p.DevEpochs(); p.Stage == config.OnlyTest {
		p.Epochs = p.TestEpochs()
	}
	chosen := p.Config
	if d != nil {
		chosen = p.On(d)
	}
	for _, s := range chosen.Settings().Used() {
		origin := cmp.Or(p.Origins[s.Key], "default")
		if origin == config.FromPreset {
			origin += ": " + p.Source
		}
		if left := p.Value(s.Key); left != s.Value() {
			origin = fmt.Sprintf("chosen from the data (%v)", left)
		}
		_, err := fmt.Fprintf(os.Stderr, "%-12s %-21s %s\n", s.Key, format.Setting(s.Value()), origin)
		if err != nil {
			return err
		}
	}
	return format.WriteJSON(os.Stdout, p.Config)
}

const defaultRuns = "runs"

type dataOptions struct {
	catalog.Options
	json bool
}

func (o *dataOptions) dataSettings() setting.List {
	return setting.List{
		setting.Raw("data_dir", &o.DataDir, "").In(setting.Data).
			Noted("$" + catalog.EnvDataDir + ", otherwise ./data").Common(),
		o.jsonSetting(),
	}
}

func workSettings() setting.List {
	return setting.List{
		setting.Whole("threads", new(int), 0, setting.Threads).In(runGroup).Noted("number of cores"),
		setting.Choice("log_level", new(string), "info", "debug", "info", "warning", "error").
			In(generalGroup),
	}
}

// missingSetting is that of commands that train, or check what they train on. A model has what it was trained
// with.
func (o *dataOptions) missingSetting() setting.Setting {
	code := func(text string) (dataset.Code, error) {
		v, err := strconv.ParseFloat(text, 32)
		return dataset.Code(v), err
	}
	return setting.Several("missing", &o.Missing, nil, "numbers such as -9999, nan or inf", code).
		In(setting.Data)
}

func (o *dataOptions) jsonSetting() setting.Setting {
	return setting.Switch("json", &o.json, false).In(outputGroup).Common()
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

// manyFeatures are large: 64 MB of float32.
const manyFeatures = 1 << 24

func shardSetting(to *lab.Shard) setting.Setting {
	return setting.Of("shard", to, lab.Shard{}, "I/N", lab.ParseShard).In(runGroup).
		Noted("from Slurm or Kubernetes, otherwise all")
}

// shardOf returns the shard of the flag or else of the scheduler. A command without the flag, such as run, is
// never divided.
func shardOf(c *cli.Context, given lab.Shard) (lab.Shard, error) {
	if c.IsSet("shard") || findFlag(c.Command.Flags, "shard") == nil {
		return given, nil
	}
	s, from, err := lab.ShardFromEnvironment()
	if s.Count > 1 {
		logrus.Infof("this process has shard %d/%d, from %s; --shard 0/1 does everything",
			s.Index, s.Count, from)
	}
	return s, err
}

func (o *studyOptions) openDataset(c *cli.Context) (*dataset.Dataset, error) {
	p := o.request.Presets[0]
	name := p.Dataset // in lower case, but folders may differ by case only
	if typed := c.String("dataset"); strings.EqualFold(typed, name) {
		name = typed
	}
	o.DevSplit = p.DevSplit
	return catalog.Open(c.Context, name, o.Options)
}

// openLab opens the lab for the trials on a data set. It warns about presets that a search chose on other
// data.
func (o *studyOptions) openLab(c *cli.Context, d *dataset.Dataset) (*lab.Lab, error) {
	r, threads := &o.request, runtime.GOMAXPROCS(0)
	if c.IsSet("threads") && o.jobs > threads {
		return nil, wrong("--jobs", "at most the number of --threads", strconv.Itoa(o.jobs))
	}
	var err error
	if o.shard, err = shardOf(c, o.shard); err != nil {
		return nil, err
	}
	if p := r.Presets[0]; r.From == config.Auto && !p.Paper() && config.PresetFor(p.Dataset, p.Method).
		Paper() && r.Rotate == 0 {
		logrus.Infof("%s: not the features and split of the paper, so settings start from general defaults; "+
			"--preset paper takes those of the authors", d.Name)
	}
	l := lab.New(d, r.Out)
	if r.Rotate > 0 {
		if err := l.Rotate(r.Rotate, r.RotateSeed, r.Presets[0].HoldOut); err != nil {
			return nil, atFlag("rotate", err)
		}
	}
	asTheyAre := false // whether a method learns from features that are not standardised
	for _, p := range r.Presets {
		if err := p.CheckOn(l.Parts[0].Data); err != nil {
			return nil, err
		}
		asTheyAre = asTheyAre || !p.On(d).Preprocess.Has(preprocess.Standardise)
	}
	warnData(d, asTheyAre)
	if err := os.MkdirAll(r.Out, 0o755); err != nil { // now rather than after the first epochs
		return nil, atFlag("out", invalid.Folder(r.Out, "a folder of runs", err))
	}
	for _, file := range o.files(nil) {
		if err := o.outputs.CheckFile(file.Path, file.Begins); err != nil {
			return nil, atFlag(file.Flag, err)
		}
	}
	for _, p := range r.Presets {
		if p.ChosenOn != "" && p.ChosenOn != l.Fingerprint {
			logrus.Warnf("%s: the settings were chosen on other data or another split of them",
				p.Origins["fingerprint"])
		}
	}
	if len(d.Features.Data) >= manyFeatures {
		debug.SetGCPercent(garbage)
	}
	l.Jobs, l.Shard, l.OnRun = cmp.Or(o.jobs, threads), o.shard, logRun
	l.Options.OnWarning, l.OnProgress = logRunWarning, display.show
	l.OnStep = func(what string) { logrus.Info(what) }
	if _, ok := o.study.(results.Single); ok {
		p := r.Presets[0]
		l.Jobs = cmp.Or(o.jobs, min(p.Seeds, threads))
		logrus.WithField("blas", blas.Current().String()).Debug(p.Source)
		l.OnStep = func(what string) { display.replace(what, false) }
		l.OnProgress, l.Options.OnResume, l.Options.OnEpoch = nil, logResume, showEpochs(p.Seed, p.Seeds,
			l.Jobs)
	}
	useThreads(threads, l.Jobs)
	return l, nil
}

func logRun(r lab.Run) {
	entry := logrus.WithField("run", r.Name())
	if r.Missing != nil {
		entry.WithField("error", r.Missing.Why).Warn("run failed")
		return
	}
	entry.WithFields(logrus.Fields{"status": r.Result.Status, "epochs": r.Result.Epochs}).Debug("run ended")
}

type tabled interface{ Tables() []*table.Table }

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
