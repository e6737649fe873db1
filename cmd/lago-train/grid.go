package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// outputFlags are those of every command with runs.
func outputFlags(jobs cli.Flag) []cli.Flag {
	return []cli.Flag{
		&cli.PathFlag{Name: outFlag, Value: defaultRuns, Category: outputGroup, Usage: "`DIR` folder that holds the runs"},
		jobs,
		jsonFlagOf(),
	}
}

func jsonFlagOf() cli.Flag {
	return &cli.BoolFlag{Name: jsonFlag, Category: outputGroup, Usage: "print one JSON object, with fractions instead of percentages"}
}

// gridFlags are those of every command that runs many trials.
func gridFlags() []cli.Flag {
	jobs := &cli.IntFlag{Name: jobsFlag, Category: runGroup, DefaultText: "--threads", Usage: "`N` runs trained in parallel"}
	return append(append(dataFlags(), outputFlags(jobs)...),
		shardFlag("runs"))
}

func shardFlag(what string) cli.Flag {
	return &cli.StringFlag{Name: shardFlagName, Category: runGroup, DefaultText: "from Slurm or Kubernetes, otherwise all", Usage: "`I/N` only part I, from 0, of N parts of the " + what}
}

// shardOf returns the shard of the flag or else of the scheduler. A command without the flag,
// such as run, is never divided.
func shardOf(c *cli.Context) (lab.Shard, error) {
	switch s := c.String(shardFlagName); {
	case !hasFlag(c.Command, shardFlagName):
		return lab.Shard{}, nil
	case s != "":
		return lab.ParseShard(s)
	}
	return lab.ShardFromEnvironment()
}

// rotationFlags are those of commands that can take each class as unseen once.
func rotationFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: rotateFlag, Category: dataGroup, DefaultText: "no rotation", Usage: "`N` parts, at least 3, into which the classes are divided; each is unseen once"},
		&cli.Uint64Flag{Name: "rotate-seed", Category: dataGroup, Usage: "`SEED` random seed of the parts of --rotate"},
	}
}

// foldsFlag is that of commands that choose settings.
func foldsFlag() cli.Flag {
	return &cli.IntFlag{
		Name: foldsFlagName, Category: searchGroup, DefaultText: "3, or 1 with --rotate or --dev-split",
		Usage: "`N` divisions of the seen classes on which settings are chosen: those of the data set if it has N, otherwise N random parts in turn; 1 takes the split of --dev-split",
	}
}

// The default epochs and patience of commands that search settings: so many trials cannot
// each have the length of a single run.
const searchEpochs, searchPatience = "60", "10"

// rotationSeeds is their default number of seeds with --rotate: intervals are over classes.
const rotationSeeds = "3"

// searchedFlagsBut are devSettingFlags with these defaults.
func searchedFlagsBut(names ...string) []cli.Flag {
	flags := devSettingFlags(searchEpochs, names...)
	for _, f := range flags {
		switch f.Names()[0] {
		case "patience":
			f.(*cli.StringFlag).DefaultText = searchPatience
		case "seeds":
			f.(*cli.StringFlag).DefaultText += ", or " + rotationSeeds + " with --" + rotateFlag
		}
	}
	return flags
}

// searchLength gives these defaults to commands that choose settings.
func searchLength(c *cli.Context) []protocol.Given {
	if !hasFlag(c.Command, foldsFlagName) {
		return nil
	}
	given := []protocol.Given{{Key: "epochs", Text: searchEpochs}, {Key: "patience", Text: searchPatience}}
	if c.IsSet(rotateFlag) {
		given = append(given, protocol.Given{Key: "seeds", Text: rotationSeeds})
	}
	return given
}

// folds reads foldsFlag. The split of the settings may come from a config file.
func folds(c *cli.Context, p protocol.Preset) (int, error) {
	n, ofSplit := c.Int(foldsFlagName), c.IsSet("dev-split") || p.DevSplit != 1
	switch {
	case !c.IsSet(foldsFlagName) && (ofSplit || c.IsSet(rotateFlag)):
		return 1, nil
	case !c.IsSet(foldsFlagName):
		return defaultFolds, nil
	case n < 1:
		return 0, &invalid.Error{Where: "--" + foldsFlagName, Want: "at least 1", Got: strconv.Itoa(n)}
	case n > 1 && ofSplit:
		return 0, &invalid.Error{Where: "--" + foldsFlagName, Want: "1, because " + p.Origins["dev_split"] + " names one split", Got: strconv.Itoa(n)}
	}
	return n, nil
}

// defaultFolds is the number of divisions of the seen classes in the xlsa17 release.
const defaultFolds = 3

// logRound logs the start of a round of a search.
func logRound(round string, trials int) {
	logrus.WithFields(logrus.Fields{"round": round, "runs": trials}).Info("search")
}

// checkRotation returns an error for settings that --rotate leaves no place for.
func checkRotation(c *cli.Context, p protocol.Preset) error {
	if err := cmp.Or(requires(c, rotateFlag, "rotate-seed"), excludes(c, rotateFlag, "hold-out", "dev-split", configsFlag)); err != nil || !c.IsSet(rotateFlag) {
		return err
	}
	file := c.Path(configFlag)
	switch {
	case p.HoldOut:
		return &invalid.Error{Where: file, Field: "hold_out", Want: "false beside --" + rotateFlag, Got: "true"}
	case p.DevSplit != 1:
		return &invalid.Error{Where: file, Field: "dev_split", Want: "1 beside --" + rotateFlag, Got: strconv.Itoa(p.DevSplit)}
	case p.ChosenOn != "":
		// Some of the classes that it was chosen on are unseen here.
		return &invalid.Error{Where: file, Want: "settings that no search chose, beside --" + rotateFlag, Got: "those of a search"}
	}
	return nil
}

// openLab opens a data set and the lab for its trials as the flags and the first preset say. It
// warns about presets that a search chose on other data.
func openLab(c *cli.Context, presets ...protocol.Preset) (*lab.Lab, error) {
	p := presets[0]
	if err := checkRotation(c, p); err != nil {
		return nil, err
	}
	if jobs := c.Int(jobsFlag); c.IsSet(jobsFlag) && jobs < 1 {
		return nil, &invalid.Error{Where: "--" + jobsFlag, Want: "at least 1", Got: strconv.Itoa(jobs)}
	} else if c.IsSet(threadsFlag) && jobs > c.Int(threadsFlag) {
		return nil, &invalid.Error{Where: "--" + jobsFlag, Want: "at most the number of --" + threadsFlag, Got: strconv.Itoa(jobs)}
	}
	shard, err := shardOf(c)
	if err != nil {
		return nil, err
	}
	name := p.Dataset // in lower case, but folders may differ by case only
	if typed := c.String(datasetFlag); strings.EqualFold(typed, name) {
		name = typed
	}
	d, err := openDataset(c, name, p.DevSplit)
	if err != nil {
		return nil, err
	}
	root := c.Path(outFlag)
	if err := os.MkdirAll(root, 0o755); err != nil { // now rather than after the first epochs
		return nil, invalid.At("--"+outFlag, invalid.File(root, err))
	}
	if err := cmp.Or(checkFile(c, csvFlag), checkFile(c, writeFlag)); err != nil {
		return nil, err
	}
	l := lab.New(d, root)
	for _, p := range presets {
		if p.ChosenOn != "" && p.ChosenOn != l.Fingerprint() {
			logrus.Warnf("%s: the settings were chosen on other data or another split of them", p.Origins["fingerprint"])
		}
	}
	if c.IsSet(rotateFlag) {
		if err := l.Rotate(c.Int(rotateFlag), c.Uint64("rotate-seed")); err != nil {
			return nil, invalid.At("--"+rotateFlag, err)
		}
	}
	l.Options.OnWarning = logRunWarning
	l.Jobs, l.Shard, l.OnProgress = c.Int(jobsFlag), shard, showGrid
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

func csvFlagOf(what string) cli.Flag {
	return &cli.PathFlag{Name: csvFlag, Category: outputGroup, Usage: "`FILE` also write " + what + " to this CSV file"}
}

// checkFile returns an error if the file of a flag is a folder, or its folder does not exist: now
// rather than after hours.
func checkFile(c *cli.Context, flag string) error {
	file := c.Path(flag)
	if file == "" {
		return nil
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return &invalid.Error{Where: "--" + flag, Want: "a file", Got: file + ", a folder"}
	}
	dir := filepath.Dir(file)
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return &invalid.Error{Where: "--" + flag, Want: "a file in a folder", Got: "a file, " + dir}
	}
	return invalid.At("--"+flag, invalid.File(dir, err))
}

// writeCSV writes the file of csvFlagOf if it is given.
func writeCSV(c *cli.Context, write func(io.Writer) error) error {
	file := c.Path(csvFlag)
	if file == "" {
		return nil
	}
	return invalid.At("--"+csvFlag, atomicfile.Write(file, write))
}

// output prints a result, as JSON or as text. It returns an error if trials of the lab,
// if any, failed.
func output(c *cli.Context, l *lab.Lab, result any, text func(w io.Writer) error) error {
	display.clear()
	write := func() error { return text(os.Stdout) }
	if c.Bool(jsonFlag) {
		write = func() error { return format.WriteJSON(os.Stdout, result) }
	}
	if err := write(); err != nil || l == nil || l.Failed() == 0 {
		return err
	}
	return fmt.Errorf("%s failed in %s, missing from the output", format.Count(l.Failed(), "run"), l.Root)
}
