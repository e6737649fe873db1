package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/published"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/experiments/studies"
	"github.com/lago-train/lago-train/experiments/studies/grouping"
	"github.com/lago-train/lago-train/experiments/studies/protocol"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model/preprocess"
)

// study is the command of a study, and what some commands do beside.
type study struct {
	gridOptions
	question studies.Question
	settings setting.List // of the command alone
	instead  func(c *call) (done bool, err error)
	prepare  func(l *lab.Lab)
	finish   func(results.Result)
}

// How the files begin that studies write for users.
const (
	beginsClasses = "class,part,samples"
	beginsConfig  = `{"fingerprint": "", "dataset": ""`
)

// csvOf says what --csv of a study writes.
var csvOf = map[string]string{"compare": "the accuracy of each method on each class, and the chosen settings beside it,"}

// studyCommands are the commands of studies.
func studyCommands() (list []*command) {
	for _, entry := range studies.Studies {
		s := &study{question: entry.New()}
		switch q := s.question.(type) {
		case *protocol.Method:
			s.ofMethod(q)
		case *grouping.Analysis:
			s.ofGroups(q)
		}
		if what := csvOf[entry.Command]; what != "" {
			s.settings = append(s.settings, csvSetting(&s.csv, what), s.outputs.setting())
		}
		if entry.Command == "search" {
			s.settings = append(s.settings, s.outputs.setting())
		}
		list = append(list, s.command(entry.Command))
	}
	return list
}

// command resolves the settings that the flags give, opens the lab of their data set, asks, and
// prints the result.
func (s *study) command(name string) *command {
	grid := s.gridSettings()
	if name == "run" { // which is never divided
		grid = grid.Without("shard")
	}
	return &command{name: name, graceful: true, flags: slices.Concat(s.question.Settings(&s.request), grid, s.settings), run: func(c *call) error {
		s.read(c)
		if s.instead != nil {
			if done, err := s.instead(c); done || err != nil {
				return err
			}
		}
		presets, err := s.question.Resolve(c, &s.request)
		if err != nil {
			return err
		}
		d, err := s.openFor(c, presets)
		if err != nil {
			return err
		}
		if s.request.Covered = published.Covers(d); s.request.Covered {
			if presets, err = s.question.Resolve(c, &s.request); err != nil {
				return err
			}
		} else if p := presets[0]; s.request.From == config.Auto && config.PresetFor(p.Dataset, p.Method).Paper() && !c.isSet("rotate") {
			logrus.Infof("%s: not the features and split of the paper, so settings start from general defaults; --preset paper takes those of the authors", d.Name)
		}
		l, err := s.openLab(c, d, presets)
		if err != nil {
			return err
		}
		if s.prepare != nil {
			s.prepare(l)
		}
		r, err := s.question.Ask(c, l)
		if err != nil {
			return err
		}
		if s.finish != nil {
			s.finish(r)
		}
		err = s.print(r, nil)
		if w, ok := r.(interface{ WriteCSV(io.Writer) error }); ok {
			err = errors.Join(err, s.outputs.writeCSV(s.csv, w.WriteCSV))
		}
		if w, ok := r.(interface{ WriteSettings(io.Writer) error }); ok && strings.HasSuffix(s.csv, ".csv") { // no pipe or device
			err = errors.Join(err, s.outputs.writeCSV(strings.TrimSuffix(s.csv, ".csv")+"-settings.csv", w.WriteSettings))
		}
		if err == nil && l.Failed() > 0 {
			err = fmt.Errorf("%s failed in %s, missing from the output", format.Count(l.Failed(), "run"), l.Root)
		}
		return err
	}}
}

// ofMethod is for run: it prints the settings alone if that is asked, shows epochs, and names the next command.
func (s *study) ofMethod(q *protocol.Method) {
	var printOnly bool
	s.settings = setting.List{
		setting.Switch("print_config", &printOnly, false).In(outputGroup).Common().Describe("print the settings as JSON for --config, and train nothing"),
	}
	s.instead = func(c *call) (bool, error) {
		if _, err := q.Resolve(c, &s.request); err != nil || !printOnly {
			s.jobs = cmp.Or(s.jobs, min(q.Seeds, runtime.GOMAXPROCS(0)))
			return false, err
		}
		if d, err := s.openFor(c, []config.Preset{q.Preset}); err != nil || published.Covers(d) {
			s.request.Covered = true // without the data they are those of the paper
			if _, err := q.Resolve(c, &s.request); err != nil {
				return true, err
			}
		}
		return true, printConfig(os.Stdout, os.Stderr, q.Preset)
	}
	s.prepare = func(l *lab.Lab) {
		logrus.WithFields(logrus.Fields{"dataset": l.Data.Name, "method": q.Method.Label(), "stage": q.Stage, "seeds": q.Seeds}).Info("training")
		logrus.WithField("blas", blas.Current().String()).Debug(q.Source)
		l.OnProgress, l.Options.OnResume, l.Options.OnEpoch = nil, logResume, showEpochs(q.Seed, q.Seeds, l.Jobs)
	}
	s.finish = func(r results.Result) {
		found := r.(*protocol.Result)
		found.Next = s.next(found)
	}
}

// ofGroups is for groups: with --model nothing is trained.
func (s *study) ofGroups(q *grouping.Analysis) {
	var name string
	ofTraining := append(config.All().Without("dataset", "dev_split").Keys(), "config", "jobs", "shard", "out")
	s.settings = setting.List{modelSetting(&name).Excludes(ofTraining...)}
	s.instead = func(c *call) (bool, error) {
		if name == "" {
			return false, nil
		}
		return true, s.print(s.groupsOf(c, name, q))
	}
}

// groupsOf analyses the model of --model on the data set that it was trained on, which --dataset may name.
func (s *study) groupsOf(c *call, name string, q *grouping.Analysis) (*grouping.Result, error) {
	m, err := openLAGO(name)
	if err != nil {
		return nil, err
	}
	d, err := openData(c, m, c.typed["dataset"], s.Options)
	if err != nil {
		return nil, err
	}
	r, err := grouping.Run(d, m.Saved, q.Config)
	if err == nil {
		r.Top = q.Top
	}
	return r, err
}

// next is the command to go on with: it evaluates a model or, without a test stage, searches settings.
func (o *gridOptions) next(r *protocol.Result) string {
	command := "lago-train evaluate --model " + r.RunDirs[len(r.RunDirs)-1]
	if r.Test == nil {
		command = fmt.Sprintf("lago-train search --dataset %s --method %s", r.Config.Dataset, r.Method)
	} else if r.Reused == 0 {
		command = "lago-train evaluate --model " + strings.TrimPrefix(filepath.Join(o.out, latest), defaultRuns+string(filepath.Separator))
	}
	if r.Test != nil && catalog.IsPath(r.Config.Dataset) { // of which a model has the name alone
		command += " --dataset " + r.Config.Dataset
	}
	if o.DataDir != "" {
		command += " --data-dir " + o.DataDir
	}
	return command
}

// printConfig writes the settings that apply to a run, and where each comes from.
func printConfig(stdout, stderr io.Writer, p config.Preset) error {
	if p.Epochs = p.DevEpochs(); p.Stage == config.OnlyTest {
		p.Epochs = p.TestEpochs()
	}
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
	out     string
	jobs    int
	shard   lab.Shard
	csv     string
	outputs outputs
	request config.Request
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
func shardOf(c *call, given lab.Shard) (lab.Shard, error) {
	if c.isSet("shard") || c.flag("shard") == nil {
		return given, nil
	}
	return lab.ShardFromEnvironment()
}

// read takes what the flags give to the request of a study.
func (o *gridOptions) read(c *call) {
	o.request.Has = func(key string) bool { return c.isSet(flagOf(key)) }
	o.request.Offers = func(key string) bool { return c.flag(flagOf(key)) != nil }
	o.request.OnUnused = func(file, key string) {
		logrus.Infof("%s: %s is not used: %s sets the stages itself", file, key, c.name)
	}
	o.request.Assigned = nil
	for _, key := range config.All().Keys() {
		if name := flagOf(key); c.isSet(name) {
			o.request.Assigned = append(o.request.Assigned, setting.Assignment{Key: key, Text: c.text(name), Where: dashed(name)})
		}
	}
}

// openFor opens the data set that the flags and the first preset say.
func (o *gridOptions) openFor(c *call, presets []config.Preset) (*dataset.Dataset, error) {
	for _, p := range presets {
		if err := o.request.CheckRotation(p); err != nil {
			return nil, err
		}
	}
	name := presets[0].Dataset // in lower case, but folders may differ by case only
	if typed := c.text("dataset"); strings.EqualFold(typed, name) {
		name = typed
	}
	o.DevSplit = presets[0].DevSplit
	return catalog.Open(c, name, o.Options)
}

// openLab opens the lab for the trials on a data set. It warns about presets that a search chose on other
// data.
func (o *gridOptions) openLab(c *call, d *dataset.Dataset, presets []config.Preset) (*lab.Lab, error) {
	threads := runtime.GOMAXPROCS(0)
	if c.isSet("threads") && o.jobs > threads {
		return nil, wrong("--jobs", "at most the number of --threads", strconv.Itoa(o.jobs))
	}
	shard, err := shardOf(c, o.shard)
	if err != nil {
		return nil, err
	}
	asTheyAre := false // whether a method learns from features that are not standardised
	for _, p := range presets {
		if err := p.CheckOn(d); err != nil {
			return nil, err
		}
		asTheyAre = asTheyAre || !p.On(d).Preprocess.Has(preprocess.Standardize)
	}
	warnData(d, asTheyAre)
	if err := os.MkdirAll(o.out, 0o755); err != nil { // now rather than after the first epochs
		return nil, atFlag("out", invalid.File(o.out, err))
	}
	if err := cmp.Or(o.outputs.checkFile("csv", o.csv, beginsClasses), o.outputs.checkFile("to", c.text("to"), beginsConfig)); err != nil {
		return nil, err
	}
	l := lab.New(d, o.out)
	for _, p := range presets {
		if p.ChosenOn != "" && p.ChosenOn != l.Fingerprint() {
			logrus.Warnf("%s: the settings were chosen on other data or another split of them", p.Origins["fingerprint"])
		}
	}
	if c.isSet("rotate") {
		if err := l.Rotate(o.request.Rotate, o.request.RotateSeed); err != nil {
			return nil, atFlag("rotate", err)
		}
	}
	l.Jobs = cmp.Or(o.jobs, threads)
	useThreads(threads, l.Jobs)
	if len(d.Features.Data) >= fileio.Large {
		debug.SetGCPercent(garbage)
	}
	l.Options.OnWarning = logRunWarning
	l.Shard, l.OnProgress = shard, display.show
	l.OnStep = func(what string) { logrus.Info(what) }
	var first sync.Once
	l.OnRun = func(r lab.Run) {
		entry := logrus.WithField("run", r.Name())
		if r.Missing != nil {
			entry.WithField("error", r.Missing.Why).Warn("run failed")
			return
		}
		if l.OnProgress != nil {
			first.Do(func() { logrus.Infof("the first run took %.1f s", r.Result.Seconds) })
		}
		entry.WithFields(logrus.Fields{"status": r.Result.Status, "epochs": r.Result.Epochs}).Debug("run ended")
	}
	return l, nil
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
