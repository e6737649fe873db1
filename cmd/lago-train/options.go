package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/table"
)

// defaultRuns is the folder of runs if no flag names another one.
const defaultRuns = "runs"

// dataOptions say where data sets are.
type dataOptions struct {
	dir      string
	devSplit int
	noCache  bool
	json     bool
}

func (o *dataOptions) dirFlag() cli.Flag {
	return &cli.PathFlag{Name: "data-dir", Category: dataGroup, DefaultText: "$" + catalog.EnvDataDir + ", otherwise ./data", Usage: "`DIR` folder that holds the data sets", Destination: &o.dir}
}

// flags are those of every command that reads data sets.
func (o *dataOptions) flags() []cli.Flag {
	return []cli.Flag{
		o.dirFlag(),
		&cli.BoolFlag{Name: "no-cache", Category: dataGroup, Usage: "read .mat files again, without the cache of parsed files", Destination: &o.noCache},
		threadsFlag(), o.jsonFlag(),
	}
}

// splitFlags are those of every command that reads a data set with its split.
func (o *dataOptions) splitFlags() []cli.Flag {
	return append(o.flags(),
		&cli.IntFlag{Name: "dev-split", Category: dataGroup, Value: 1, Usage: "`N` split, 1 to 3, of the seen classes into train and validation classes", Destination: &o.devSplit})
}

func (o *dataOptions) catalog() catalog.Options {
	return catalog.Options{DataDir: o.dir, NoCache: o.noCache, DevSplit: o.devSplit}
}

// open reads a data set as the flags say.
func (o *dataOptions) open(ctx context.Context, name string) (*dataset.Dataset, error) {
	return catalog.Open(ctx, name, o.catalog())
}

// threadsFlag is applied by setUp, before the action of a command.
func threadsFlag() cli.Flag {
	return &cli.IntFlag{Name: "threads", Category: runGroup, DefaultText: "number of cores", Usage: "`N` threads to compute with, in Go and in the BLAS"}
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
	shard      string
	rotate     int
	rotateSeed uint64
	folds      int
	config     string // file
	configs    string // folder
	csv        string
}

// flags are those of every command that runs many trials.
func (o *gridOptions) flags() []cli.Flag {
	return append(o.splitFlags(), o.outFlag(),
		atLeast(1, &cli.IntFlag{Name: "jobs", Category: runGroup, DefaultText: "--threads", Usage: "`N` runs trained in parallel", Destination: &o.jobs}),
		shardFlag(&o.shard, "runs"))
}

func (o *gridOptions) outFlag() cli.Flag {
	return &cli.PathFlag{Name: "out", Value: defaultRuns, Category: outputGroup, Usage: "`DIR` folder that holds the runs", Destination: &o.out}
}

func (o *dataOptions) jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Category: outputGroup, Usage: "print one JSON object, with fractions instead of percentages", Destination: &o.json}
}

func csvFlag(to *string, what string) cli.Flag {
	return &cli.PathFlag{Name: "csv", Category: outputGroup, Usage: "`FILE` also write " + what + " to this CSV file", Destination: to}
}

func shardFlag(to *string, what string) cli.Flag {
	return &cli.StringFlag{Name: "shard", Category: runGroup, DefaultText: "from Slurm or Kubernetes, otherwise all", Usage: "`I/N` only part I, from 0, of N parts of the " + what, Destination: to}
}

// shardOf returns the shard of the flag or else of the scheduler.
func shardOf(flag string) (lab.Shard, error) {
	if flag != "" {
		return lab.ParseShard(flag)
	}
	return lab.ShardFromEnvironment()
}

// rotationFlags are those of commands that can take each class as unseen once.
func (o *gridOptions) rotationFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "rotate", Category: dataGroup, DefaultText: "no rotation", Usage: "`N` parts, at least 3, into which the classes are divided; each is unseen once", Destination: &o.rotate},
		&cli.Uint64Flag{Name: "rotate-seed", Category: dataGroup, Usage: "`SEED` random seed of the parts of --rotate", Destination: &o.rotateSeed},
	}
}

// foldsFlag is that of commands that choose settings.
func (o *gridOptions) foldsFlag() cli.Flag {
	return atLeast(1, &cli.IntFlag{
		Name: "folds", Category: searchGroup, DefaultText: "3, or 1 with --rotate or --dev-split", Destination: &o.folds,
		Usage: "`N` divisions of the seen classes on which settings are chosen: those of the data set if it has N, otherwise N random parts in turn; 1 takes the split of --dev-split",
	})
}

// defaultFolds is the number of divisions of the seen classes in the xlsa17 release.
const defaultFolds = 3

// foldsOf reads foldsFlag. The split of the settings may come from a config file.
func (o *gridOptions) foldsOf(c *cli.Context, p engine.Preset) (int, error) {
	ofSplit := c.IsSet("dev-split") || p.DevSplit != 1
	switch {
	case !c.IsSet("folds") && (ofSplit || c.IsSet("rotate")):
		return 1, nil
	case !c.IsSet("folds"):
		return defaultFolds, nil
	case o.folds > 1 && ofSplit:
		return 0, wrong("--folds", "1, because "+p.Origins["dev_split"]+" names one split", strconv.Itoa(o.folds))
	}
	return o.folds, nil
}

// checkRotation returns an error for settings that --rotate leaves no place for.
func (o *gridOptions) checkRotation(c *cli.Context, p engine.Preset) error {
	if err := cmp.Or(requires(c, "rotate", "rotate-seed"), excludes(c, "rotate", "hold-out", "dev-split", "configs")); err != nil || !c.IsSet("rotate") {
		return err
	}
	in := func(field, want, got string) error {
		return &invalid.Error{Where: o.config, Field: field, Want: want, Got: got}
	}
	switch {
	case p.HoldOut:
		return in("hold_out", "false beside --rotate", "true")
	case p.DevSplit != 1:
		return in("dev_split", "1 beside --rotate", strconv.Itoa(p.DevSplit))
	case p.ChosenOn != "": // some of the classes that it was chosen on are unseen here
		return in("", "settings that no search chose, beside --rotate", "those of a search")
	}
	return nil
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
	var shard lab.Shard
	if hasFlag(c.Command, "shard") { // a command without it, such as run, is never divided
		var err error
		if shard, err = shardOf(o.shard); err != nil {
			return nil, err
		}
	}
	name := p.Dataset // in lower case, but folders may differ by case only
	if typed := c.String("dataset"); strings.EqualFold(typed, name) {
		name = typed
	}
	o.devSplit = p.DevSplit
	d, err := o.open(c.Context, name)
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
	if file == "" {
		return nil
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return wrong("--"+flag, "a file", file+", a folder")
	}
	dir := filepath.Dir(file)
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return wrong("--"+flag, "a file in a folder", "a file, "+dir)
	}
	return atFlag(flag, invalid.File(dir, err))
}

// writeCSV writes the file of csvFlag if it is given.
func writeCSV(file string, write func(io.Writer) error) error {
	if file == "" {
		return nil
	}
	return atFlag("csv", fileio.Write(file, write))
}

// tabled is a result, which is also the JSON output.
type tabled interface{ Tables() []*table.Table }

// printing is the action of a command that prints a result.
func (o *dataOptions) printing(find func(c *cli.Context) (tabled, error)) cli.ActionFunc {
	return func(c *cli.Context) error {
		r, err := find(c)
		if err != nil {
			return err
		}
		return o.print(r)
	}
}

// print prints a result, as JSON or as tables.
func (o *dataOptions) print(result tabled) error {
	display.clear()
	if o.json {
		return format.WriteJSON(os.Stdout, result)
	}
	return table.WriteText(os.Stdout, result.Tables()...)
}
