package main

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/engine"
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

func (o *dataOptions) dirSetting() setting.Setting {
	return setting.Raw("data_dir", &o.DataDir, "").In(setting.Data).Noted("$" + catalog.EnvDataDir + ", otherwise ./data").
		Describe("`DIR` folder that holds the data sets")
}

func (o *dataOptions) jsonSetting() setting.Setting {
	return setting.Switch("json", &o.json, false).In(outputGroup).Describe("print one JSON object, with fractions instead of percentages")
}

// readSettings are those of every command that reads data sets.
func (o *dataOptions) readSettings() setting.List {
	return setting.List{
		o.dirSetting(),
		setting.Switch("no_cache", &o.NoCache, false).In(setting.Data).Describe("read .mat files again, without the cache of parsed files"),
		threadsSetting(),
	}
}

// listSettings are those of commands that print what they read.
func (o *dataOptions) listSettings() setting.List { return append(o.readSettings(), o.jsonSetting()) }

// splitSetting is that of every command that reads a data set with its split.
func (o *dataOptions) splitSetting() setting.Setting {
	return setting.Whole("dev_split", &o.DevSplit, 1, setting.Between(1, 3)).In(setting.Data).
		Describe("`N` split, 1 to 3, of the seen classes into train and validation classes")
}

// threadsSetting is applied by setUp, before the action of a command.
func threadsSetting() setting.Setting {
	return setting.Whole("threads", new(int), 0, setting.AtLeast(1)).In(runGroup).Noted("number of cores").
		Describe("`N` threads to compute with, in Go and in the BLAS")
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
	return append(o.listSettings(), o.splitSetting(), o.outSetting(),
		setting.Whole("jobs", &o.jobs, 0, setting.AtLeast(1)).In(runGroup).Noted("--threads").Describe("`N` runs trained in parallel"),
		shardSetting(&o.shard, "runs"))
}

func (o *gridOptions) outSetting() setting.Setting {
	return setting.Raw("out", &o.out, defaultRuns).In(outputGroup).Describe("`DIR` folder that holds the runs")
}

func csvSetting(to *string, what string) setting.Setting {
	return setting.Raw("csv", to, "").In(outputGroup).Describe("`FILE` also write " + what + " to this CSV file")
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
		setting.Whole("rotate", &o.rotate, 0, setting.AtLeast(1)).In(setting.Data).Noted("no rotation").
			Describe("`N` parts, at least 3, into which the classes are divided; each is unseen once"),
		setting.Seed("rotate_seed", &o.rotateSeed).In(setting.Data).Describe("`SEED` random seed of the parts of --rotate"),
	}
}

// foldsSetting is that of commands that choose settings.
func (o *gridOptions) foldsSetting() setting.Setting {
	return setting.Whole("folds", &o.folds, 0, setting.AtLeast(1)).In(searchGroup).Noted("3, or 1 with --rotate or --dev-split").
		Describe("`N` divisions of the seen classes on which settings are chosen: those of the data set if it has N, otherwise N random parts in turn; 1 takes the split of --dev-split")
}

// defaultFolds is the number of divisions of the seen classes in the xlsa17 release.
const defaultFolds = 3

// foldsOf reads foldsSetting. The split of the settings may come from a config file.
func (o *gridOptions) foldsOf(c *cli.Context, p engine.Preset) (int, error) {
	ofSplit := c.IsSet("dev-split") || p.DevSplit != 1
	switch {
	case o.folds == 0 && (ofSplit || c.IsSet("rotate")):
		return 1, nil
	case o.folds > 1 && ofSplit:
		return 0, wrong("--folds", "1, because "+p.Origins["dev_split"]+" names one split", strconv.Itoa(o.folds))
	}
	return cmp.Or(o.folds, defaultFolds), nil
}

// logRound logs the start of a round of a search.
func logRound(round string, trials int) {
	logrus.WithFields(logrus.Fields{"round": round, "runs": trials}).Info("search")
}

// checkRotation returns an error for settings that --rotate leaves no place for.
func (o *gridOptions) checkRotation(c *cli.Context, p engine.Preset) error {
	if err := cmp.Or(requires(c, "rotate", "rotate-seed"), excludes(c, "rotate", "hold-out", "dev-split", "configs")); err != nil || !c.IsSet("rotate") {
		return err
	}
	e := &invalid.Error{Where: o.config}
	switch {
	case p.HoldOut:
		e.Field, e.Want, e.Got = "hold_out", "false beside --rotate", "true"
	case p.DevSplit != 1:
		e.Field, e.Want, e.Got = "dev_split", "1 beside --rotate", strconv.Itoa(p.DevSplit)
	case p.ChosenOn != "": // some of the classes that it was chosen on are unseen here
		e.Want, e.Got = "settings that no search chose, beside --rotate", "those of a search"
	default:
		return nil
	}
	return e
}

// openLab opens a data set and the lab for its trials as the flags and the first preset say. It
// warns about presets that a search chose on other data.
func (o *gridOptions) openLab(c *cli.Context, presets ...engine.Preset) (*lab.Lab, error) {
	p := presets[0]
	if err := o.checkRotation(c, p); err != nil {
		return nil, err
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
	if err := os.MkdirAll(o.out, 0o755); err != nil { // now rather than after the first epochs
		return nil, atFlag("out", invalid.File(o.out, err))
	}
	if err := cmp.Or(checkFile("csv", o.csv), checkFile("write", c.String("write"))); err != nil {
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
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return wrong("--"+flag, "a file", file+", a folder")
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
