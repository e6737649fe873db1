package main

import (
	"fmt"
	"io"
	"os"
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
	const category = "output"
	return []cli.Flag{
		&cli.PathFlag{Name: outFlag, Value: defaultRuns, Category: category, Usage: "`DIR` for the folders of the runs"},
		jobs,
		&cli.BoolFlag{Name: jsonFlag, Category: category, Usage: "print one JSON object on stdout, accuracies as fractions"},
	}
}

// gridFlags are those of every command that runs many trials.
func gridFlags() []cli.Flag {
	const category = "output"
	jobs := &cli.IntFlag{Name: jobsFlag, Category: category, DefaultText: "number of cores", Usage: "`N` trials in parallel, at least 1"}
	return append(append(dataFlags(), outputFlags(jobs)...),
		shardFlag("train only part `I/N` of the trials"))
}

func shardFlag(usage string) cli.Flag {
	return &cli.StringFlag{Name: "shard", Category: "output", Usage: usage + ", I from 0 (default: from Slurm or Kubernetes, otherwise all)"}
}

// shardOf returns the shard of the flag or else of the scheduler.
func shardOf(c *cli.Context) (lab.Shard, error) {
	if s := c.String("shard"); s != "" {
		return lab.ParseShard(s)
	}
	return lab.ShardFromEnvironment()
}

// rotationFlags are those of commands that can take each class as unseen once.
func rotationFlags() []cli.Flag {
	const category = "rotation"
	return []cli.Flag{
		&cli.IntFlag{Name: rotateFlag, Category: category, Usage: "deal the classes into `N` parts, at least 3, of which each in turn is unseen"},
		&cli.Uint64Flag{Name: "rotate-seed", Category: category, Usage: "`SEED` that deals the classes"},
	}
}

// foldsFlag is that of commands that choose settings.
func foldsFlag() cli.Flag {
	return &cli.IntFlag{
		Name: foldsFlagName, Category: "search", DefaultText: "3, or 1 with --rotate",
		Usage: "choose settings over `N` folds of the seen classes: the data set's own three, or parts dealt; 1 is --dev-split",
	}
}

// The default epochs and patience of commands that search settings: so many trials cannot
// each have the length of a single run.
const searchEpochs, searchPatience = "60", "10"

// searchedFlagsBut are settingFlagsBut with these defaults.
func searchedFlagsBut(names ...string) []cli.Flag {
	flags := settingFlagsBut(names...)
	for i, f := range flags {
		switch f.Names()[0] {
		case "epochs":
			flags[i] = devEpochsFlag(searchEpochs)
		case "patience":
			f.(*cli.StringFlag).DefaultText = searchPatience
		}
	}
	return flags
}

// searchLength gives these defaults to commands that choose settings.
func searchLength(c *cli.Context) []protocol.Given {
	if !hasFlag(c.Command, foldsFlagName) {
		return nil
	}
	return []protocol.Given{{Key: "epochs", Text: searchEpochs}, {Key: "patience", Text: searchPatience}}
}

// folds reads foldsFlag.
func folds(c *cli.Context) (int, error) {
	n := c.Int(foldsFlagName)
	switch {
	case c.IsSet(foldsFlagName) && n < 1:
		return 0, &invalid.Error{Where: "--" + foldsFlagName, Want: "at least 1", Got: strconv.Itoa(n)}
	case n > 1 && c.IsSet("dev-split"):
		return 0, &invalid.Error{Where: "--dev-split", Want: "it without --" + foldsFlagName + ", which divides the seen classes", Got: "both"}
	case c.IsSet(foldsFlagName):
		return n, nil
	case c.IsSet(rotateFlag) || c.IsSet("dev-split"):
		return 1, nil
	}
	return defaultFolds, nil
}

// defaultFolds is the number of divisions of the seen classes in the xlsa17 release.
const defaultFolds = 3

// logRound logs the start of a round of a search.
func logRound(round string, trials int) {
	logrus.WithFields(logrus.Fields{"round": round, "trials": trials}).Info("search")
}

// rotate divides the classes of a lab as the flags say.
func rotate(c *cli.Context, l *lab.Lab) error {
	if !c.IsSet(rotateFlag) {
		if c.IsSet("rotate-seed") {
			return &invalid.Error{Where: "--rotate-seed", Want: "--rotate beside it", Got: "none"}
		}
		return nil
	}
	for _, name := range []string{"stage", "hold-out", "dev-split", configsFlag} {
		if c.IsSet(name) {
			return &invalid.Error{Where: "--" + name, Want: "it without --" + rotateFlag + ", which divides the classes itself", Got: "both"}
		}
	}
	return invalid.At("--"+rotateFlag, l.Rotate(c.Int(rotateFlag), c.Uint64("rotate-seed")))
}

// openLab opens a data set and the lab for its trials as the flags say.
func openLab(c *cli.Context, p protocol.Config) (*lab.Lab, error) {
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
	l := lab.New(d, root)
	if err := rotate(c, l); err != nil {
		return nil, err
	}
	l.Options.OnWarning = logRunWarning
	l.Jobs, l.Shard, l.OnProgress = c.Int(jobsFlag), shard, showGrid
	l.OnRun = func(r lab.Run) {
		entry := logrus.WithField("run", r.Name())
		if r.Err != nil {
			entry.WithError(r.Err).Warn("trial failed")
			return
		}
		entry.WithFields(logrus.Fields{"status": r.Result.Status, "epochs": r.Result.Epochs}).Debug("trial ended")
	}
	return l, nil
}

func csvFlagOf(what string) cli.Flag {
	return &cli.PathFlag{Name: csvFlag, Category: "output", Usage: "also write " + what + " to `FILE` as CSV"}
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
	return fmt.Errorf("%s failed in %s, missing from the output", format.Count(l.Failed(), "trial"), l.Root)
}
