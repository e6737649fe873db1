// Command lago-train trains LAGO, a model that names classes it has no picture of
// from descriptions by attributes, and says how well it does.
//
// It turns flags into the configurations of packages experiments and dataset, and
// prints what they return.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/version"
)

// exitCancelled is what a shell takes for a program that Ctrl-C ended.
const exitCancelled = 130

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first Ctrl-C ends the epoch cleanly; after it the signal does what it
	// does to any program, so that a second one ends the run at once.
	context.AfterFunc(ctx, stop)
	app := newApp()
	err := app.RunContext(ctx, flagsFirst(app, os.Args))
	if err == nil {
		return
	}
	if cancelled := (*lab.Cancelled)(nil); errors.As(err, &cancelled) {
		fmt.Fprintln(os.Stderr, cancelled)
		os.Exit(exitCancelled)
	}
	fmt.Fprintln(os.Stderr, "lago-train:", err)
	if errors.Is(err, context.Canceled) {
		os.Exit(exitCancelled)
	}
	os.Exit(1)
}

func newApp() *cli.App {
	return &cli.App{
		Name:  "lago-train",
		Usage: "train LAGO and judge it on classes that it has no sample of",
		Description: `LAGO (Atzmon & Chechik, UAI 2018) learns from samples of some classes to detect
attributes, and names classes that it never saw from a description of their
attributes alone: a soft OR over the attributes of a group, a soft AND over the
groups.

   lago-train run                             trains on letters that the program draws
   lago-train run --dataset awa2              trains on a data set of your own
   lago-train dataset fetch awa2              downloads one of the paper's
   lago-train dataset check awa2              says all that is wrong with it
   lago-train run --help                      lists all settings
   lago-train reproduce --dataset awa2        compares all variants by the paper's protocol
   lago-train compare --dataset awa2          sets LAGO beside its baselines
   lago-train predict --help                  names samples of files, among classes of your own
   lago-train explain --help                  says why
   lago-train report --out report.html        draws what the runs in ./runs logged

A data set is a folder in the layout of the xlsa17 release of Xian et al., or of .npy
and .csv files of your own, found as <data-dir>/<name>; --data-dir is $LAGO_DATA or
./data where it is not given.

Products of matrices run in OpenBLAS or MKL where one is installed, and in Go where
none is. $LAGO_BLAS names a library to use, or "go" for none.`,
		Version:        version.All()["lago-train"],
		DefaultCommand: "help",
		Commands: prepare([]*cli.Command{
			runCommand(),
			datasetCommand(),
			ablateCommand(),
			sweepKCommand(),
			searchCommand(),
			runsCommand(),
			noiseCommand(),
			partialCommand(),
			groupsCommand(),
			reproduceCommand(),
			compareCommand(),
			reportCommand(),
			explainCommand(),
			evaluateCommand(),
			predictCommand(),
		}),
		Action:         noCommand,
		ExitErrHandler: func(*cli.Context, error) {}, // main tells errors, once
		OnUsageError:   usageError,
	}
}

// prepare gives each command that does something the flags of the log, and sets up
// what is the process's before it runs.
func prepare(commands []*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.OnUsageError = usageError
		prepare(c.Subcommands)
		if c.Action == nil {
			c.Action = noCommand
			continue
		}
		c.Flags = append(c.Flags,
			&cli.StringFlag{Name: "log-format", Value: "text", Usage: "`FORMAT` of the log on stderr: text or json"},
			&cli.StringFlag{Name: "log-level", Value: "info", Usage: "`LEVEL` from which the log tells: debug, info, warning or error"})
		c.Before = setUp
	}
	return commands
}

// usageError says what is wrong, where cli would print the whole help.
func usageError(c *cli.Context, err error, _ bool) error {
	return fmt.Errorf("%w; see %s --help", err, c.Command.HelpName)
}

// noCommand is what is done where no argument names a command.
func noCommand(c *cli.Context) error {
	if c.Args().Present() {
		return fmt.Errorf("no command is named %q; see %s --help", c.Args().First(), c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}

// setUp sets up the log and the BLAS.
func setUp(c *cli.Context) error {
	switch format := c.String("log-format"); format {
	case "text":
		logrus.SetFormatter(&logrus.TextFormatter{FullTimestamp: true, TimestampFormat: "15:04:05"})
	case "json":
		logrus.SetFormatter(&logrus.JSONFormatter{})
	default:
		return fmt.Errorf("--log-format: expected text or json, found %q", format)
	}
	level, err := logrus.ParseLevel(c.String("log-level"))
	if err != nil {
		return fmt.Errorf("--log-level: %w", err)
	}
	logrus.SetLevel(level)
	info, err := blas.Use(blas.Options{})
	if err != nil {
		return err
	}
	logrus.WithField("blas", info.String()).Debug("matrix products")
	return nil
}
