// Command lago-train trains and evaluates LAGO, a zero-shot classifier that recognises
// classes from descriptions by attributes.
//
// It turns flags into the configurations of the packages experiments and dataset, and
// prints their results. Each command has a file of its name; the package is large because
// there are 20 commands, each with its help, flags and checks.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/version"
)

// The exit codes.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitCancelled = 130 // as for a program that Ctrl-C ended
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first Ctrl-C ends the epoch cleanly. After it the signals have their default
	// effect, so that a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	app := newApp()
	err := app.RunContext(ctx, flagsFirst(app, os.Args))
	display.clear()
	if err != nil {
		text, code := outcome(ctx, err)
		if !strings.HasPrefix(text, usage+" ") && !strings.HasPrefix(text, usage+": ") {
			text = usage + ": " + text
		}
		fmt.Fprintln(os.Stderr, text)
		os.Exit(code)
	}
}

// outcome returns the message and the exit code of a command that ended with an error.
func outcome(ctx context.Context, err error) (text string, code int) {
	text = err.Error()
	switch cause := context.Cause(ctx); {
	case errors.As(err, new(*lab.Cancelled)):
		return text, exitCancelled
	case errors.Is(err, context.Canceled), cause != nil && errors.Is(err, cause):
		if !strings.HasPrefix(text, "interrupted") {
			text = "interrupted"
		}
		return text, exitCancelled
	case isUsage(err):
		return text, exitUsage
	}
	return text, exitFailed
}

// interruptGrace is the time an interrupted command has to clean up.
const interruptGrace = time.Second

// interruptible wraps the action of a command that does not train. The command ends soon
// after an interrupt, even while it waits for a pipe or reads a large file: its files
// are written atomically, so it can be abandoned at any time.
func interruptible(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		done := make(chan error, 1)
		go func() { done <- action(c) }()
		select {
		case err := <-done:
			return err
		case <-c.Context.Done():
		}
		select {
		case err := <-done:
			return err
		case <-time.After(interruptGrace):
			return context.Cause(c.Context)
		}
	}
}

// usage is the place of an error in the command line as a whole.
const usage = "lago-train"

// isUsage reports whether an error is in the command line.
func isUsage(err error) bool {
	var e *invalid.Error
	return errors.As(err, &e) && e.Usage
}

func newApp() *cli.App {
	cli.HelpPrinter = func(w io.Writer, _ string, data any) {
		switch of := data.(type) { // an error is that of a closed stdout
		case *cli.Command:
			_ = printHelp(w, of)
		case *cli.App:
			_ = printHelp(w, &cli.Command{
				HelpName: of.Name, Usage: of.Usage, Description: of.Description, Subcommands: of.Commands, Flags: of.VisibleFlags(),
			})
		}
	}
	app := &cli.App{
		Name:  "lago-train",
		Usage: "recognise classes without a single training image, from their attributes",
		Description: `LAGO (Atzmon & Chechik, UAI 2018) learns to detect attributes from samples of seen classes, and
recognises unseen classes from a description of their attributes: a soft OR over the attributes
of a group, a soft AND over the groups.

A data set is a folder in the data directory (--data-dir, $LAGO_DATA or ./data), in the layout of
the xlsa17 release of Xian et al. or of .npy and .csv files. Matrix products run in OpenBLAS or MKL
if one is installed, otherwise in Go; $LAGO_BLAS names a library, or is "go" for none.

Examples:
   lago-train run
   lago-train explain --model latest --sample 680
   lago-train reproduce --dataset awa2`,
		Version:        version.All()["lago-train"],
		DefaultCommand: "help",
		Commands: prepare([]*cli.Command{
			in("data sets", datasetCommand()),
			in("training", runCommand()),
			in("training", searchCommand()),
			in("experiments", reproduceCommand()),
			in("experiments", compareCommand()),
			in("experiments", ablateCommand()),
			in("experiments", sweepKCommand()),
			in("experiments", noiseCommand()),
			in("experiments", partialCommand()),
			in("experiments", groupsCommand()),
			in("results", runsCommand()),
			in("results", reportCommand()),
			in("trained models", evaluateCommand()),
			in("trained models", predictCommand()),
			in("trained models", explainCommand()),
			in("shell", completionCommand()),
		}),
		Action:         noCommand,
		ExitErrHandler: inFlags,
		OnUsageError:   usageError,
	}
	app.Commands = append(app.Commands, hiddenCompleteCommand())
	return app
}

// in puts a command into a group of the help.
func in(group string, c *cli.Command) *cli.Command {
	c.Category = group
	return c
}

// prepare adds the flags of the log and the set-up of the process to each command, and
// refuses arguments, which would have no effect, to those that take none.
func prepare(commands []*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.OnUsageError = usageError
		prepare(c.Subcommands)
		if c.Action == nil {
			c.Action = noCommand
			continue
		}
		c.Flags = append(c.Flags,
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no progress; only results, warnings and errors"},
			choice(new(string), "log-level", "", "least important messages of the log on stderr", "info", "debug", "info", "warning", "error"),
			choice(new(string), "log-format", "", "format of the log on stderr", "text", "text", "json"))
		onlyFlags := c.ArgsUsage == "" && c.Subcommands == nil
		c.Before = func(ctx *cli.Context) error {
			if above := ctx.Lineage()[1].LocalFlagNames(); len(above) > 0 {
				return &invalid.Error{Where: dashed(above[len(above)-1]), Want: "no flags before " + c.Name, Hint: "See " + ctx.Command.HelpName + " --help.", Usage: true}
			}
			if onlyFlags && ctx.NArg() > 0 {
				return wrong(ctx.Command.HelpName, "flags only", invalid.Quote(ctx.Args().First()))
			}
			return setUp(ctx)
		}
	}
	return commands
}

// inFlags names the flag of an error in a field of a configuration, and marks an error in what
// was typed: the value of a flag, or the name of a data set. main prints the error.
func inFlags(c *cli.Context, err error) {
	e, ok := err.(*invalid.Error)
	if !ok || e.Usage {
		return
	}
	name, rest, _ := strings.Cut(e.Field, ":")
	typed := func(name string) bool { return name != "" && e.Where == "data set "+invalid.Quote(name) }
	switch name = flagOf(name); {
	case e.Where == "" && hasFlag(c.Command, name):
		e.Where, e.Field, e.Usage = dashed(name), strings.TrimSpace(rest), true
	case strings.HasPrefix(e.Where, "--") && hasFlag(c.Command, e.Where), typed(c.Args().First()), typed(c.String("dataset")):
		e.Usage = true
	}
}

var (
	badValue   = regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-([\w-]+): (.*)`)
	notDefined = regexp.MustCompile(`^flag provided but not defined: -+(\S+)`)
	noValue    = regexp.MustCompile(`^flag needs an argument: -+(\S+)`)
)

// usageError explains an error of package cli.
func usageError(c *cli.Context, err error, _ bool) error {
	help := fmt.Sprintf("See %s --help.", c.Command.HelpName)
	flags := c.Command.Flags
	if c.Command.HelpName == "" {
		help, flags = "See lago-train --help.", c.App.Flags
	}
	at := func(flag, want, got string) error {
		return &invalid.Error{Where: dashed(flag), Want: want, Got: got, Hint: help, Usage: true}
	}
	text := err.Error()
	if m := badValue.FindStringSubmatch(text); m != nil {
		if _, ok := findFlag(flags, m[2]).(choiceFlag); ok {
			return atFlag(m[2], errors.New(m[3]))
		}
		return at(m[2], kindOf(flags, m[2]), m[1])
	}
	if m := noValue.FindStringSubmatch(text); m != nil {
		return at(m[1], "a value", "none")
	}
	if m := notDefined.FindStringSubmatch(text); m != nil {
		var names []string
		for _, f := range flags {
			if v, ok := f.(cli.VisibleFlag); !ok || v.IsVisible() {
				names = append(names, f.Names()...)
			}
		}
		if near := invalid.Nearest(m[1], names); len(near) > 0 {
			for i, name := range near {
				near[i] = dashed(name)
			}
			help = "Did you mean " + strings.Join(near, " or ") + "? " + help
		}
		return at(m[1], "a flag of "+c.Command.HelpName, "")
	}
	return &invalid.Error{Where: usage, Err: err, Hint: help, Usage: true}
}

// kindOf describes the values of a flag.
func kindOf(flags []cli.Flag, name string) string {
	switch findFlag(flags, name).(type) {
	case *cli.IntFlag, *cli.Uint64Flag:
		return "a whole number"
	case *cli.IntSliceFlag:
		return "whole numbers, separated by commas"
	case *cli.Float64Flag:
		return "a number"
	case *cli.Float64SliceFlag:
		return "numbers, separated by commas"
	case *cli.BoolFlag:
		return "true or false"
	case *cli.DurationFlag:
		return "a duration such as 30s"
	}
	return "another value"
}

// noCommand is the action if no argument names a command.
func noCommand(c *cli.Context) error {
	if !c.Args().Present() {
		return cli.ShowSubcommandHelp(c)
	}
	name, commands, within := c.Args().First(), c.App.Commands, usage
	if c.Command != nil && len(c.Command.Subcommands) > 0 && c.Command.HelpName != "" {
		commands, within = c.Command.Subcommands, c.Command.HelpName
	}
	var names []string
	for _, command := range commands {
		if !command.Hidden {
			names = append(names, command.Name)
		}
	}
	hint := strings.TrimSpace(invalid.DidYouMean(name, names) + " See " + within + " --help.")
	return &invalid.Error{Where: within, Want: "a command", Got: strconv.Quote(name), Hint: hint, Usage: true}
}

// setUp sets up the log, the number of threads and the BLAS.
func setUp(c *cli.Context) error {
	logrus.SetOutput(display)
	logrus.SetFormatter(&logrus.TextFormatter{FullTimestamp: true, TimestampFormat: "15:04:05", ForceColors: display.terminal})
	if c.String("log-format") == "json" {
		logrus.SetFormatter(&logrus.JSONFormatter{})
		display.json = true
	}
	word := c.String("log-level")
	if display.quiet = c.Bool("quiet"); display.quiet && !c.IsSet("log-level") {
		word = "warning"
	}
	level, err := logrus.ParseLevel(word)
	if err != nil {
		return err
	}
	logrus.SetLevel(level)
	if n := c.Int("threads"); c.IsSet("threads") {
		if n < 1 {
			return wrong("--threads", "at least 1", strconv.Itoa(n))
		}
		useThreads(n, 1) // products of the BLAS are split over goroutines too
	}
	info, err := blas.Use("")
	if err != nil {
		return err
	}
	logrus.WithField("blas", info.String()).Debug("matrix products")
	return nil
}
