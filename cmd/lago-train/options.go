package main

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
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
	out     string
	jobs    int
	shard   lab.Shard
	csv     string
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
	o.request.Flags = nil
	for _, key := range config.General().Keys() {
		if name := flagOf(key); c.isSet(name) {
			o.request.Flags = append(o.request.Flags, config.Given{Assignment: setting.Assignment{Key: key, Text: c.text(name)}, Flag: dashed(name)})
		}
	}
}

// openLab opens a data set and the lab for its trials as the flags and the first preset say. It
// warns about presets that a search chose on other data.
func (o *gridOptions) openLab(c *call, presets ...config.Preset) (*lab.Lab, error) {
	p := presets[0]
	for _, p := range presets {
		if err := o.request.CheckRotation(p); err != nil {
			return nil, err
		}
	}
	threads := runtime.GOMAXPROCS(0)
	if c.isSet("threads") && o.jobs > threads {
		return nil, wrong("--jobs", "at most the number of --threads", strconv.Itoa(o.jobs))
	}
	shard, err := shardOf(c, o.shard)
	if err != nil {
		return nil, err
	}
	name := p.Dataset // in lower case, but folders may differ by case only
	if typed := c.text("dataset"); strings.EqualFold(typed, name) {
		name = typed
	}
	o.DevSplit = p.DevSplit
	d, err := catalog.Open(c, name, o.Options)
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
	if err := cmp.Or(checkFile("csv", o.csv), checkFile("to", c.text("to"))); err != nil {
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
	l.OnRun = func(r lab.Run) {
		entry := logrus.WithField("run", r.Name())
		if r.Missing != nil {
			entry.WithField("error", r.Missing.Why).Warn("run failed")
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
