// Command lago-train trains and evaluates LAGO, a zero-shot classifier that recognises
// classes from descriptions by attributes.
//
// It turns flags into the configurations of the packages experiments and dataset, and
// prints their results. Each command has a file of its name; the package is large because
// there are 20 commands, each with its help, flags and checks.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/train"
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
	if len(os.Args) > 1 && os.Args[1] == completeCommand {
		if _, err := fmt.Print(strings.Join(complete(app, os.Args[2:]), "\n")); err != nil {
			os.Exit(exitFailed)
		}
		return
	}
	err := execute(ctx, app, os.Args[1:])
	display.clear()
	if err != nil {
		text, code := outcome(ctx, err)
		if !strings.HasPrefix(text, usage+" ") && !strings.HasPrefix(text, usage+": ") {
			text = usage + ": " + text
		}
		fmt.Fprintln(os.Stderr, format.WrapLines(text, display.width(), 2)) // names from files may have control characters
		os.Exit(code)
	}
}

// execute runs the command that words name, or prints its help.
func execute(ctx context.Context, app *cli.App, words []string) error {
	l := parse(app, words)
	switch unknown := l.args != nil && l.command.Subcommands != nil; {
	case l.help && unknown:
		l.flags = nil // of which --help has no topic
	case l.help:
		l.command.HelpName = strings.Join(append([]string{usage}, l.name...), " ")
		return printHelp(app.Writer, l.command, l.helpAll)
	}
	return app.RunContext(ctx, append([]string{usage}, l.ordered()...))
}

// outcome returns the message and the exit code of a command that ended with an error.
func outcome(ctx context.Context, err error) (text string, code int) {
	text = err.Error()
	bad, cause := (*invalid.Error)(nil), cmp.Or(context.Cause(ctx), context.Canceled)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, cause):
		if text = strings.TrimSuffix(text, ": "+cause.Error()); !strings.HasPrefix(text, "interrupted") {
			text = "interrupted"
		}
		return text, exitCancelled
	case errors.As(err, &bad) && bad.Usage:
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

// usage is the name of the program, and the place of an error in the command line as a whole.
const usage = "lago-train"

func newApp() *cli.App {
	what, description := helpFor(usage)
	return &cli.App{
		Name: usage, Usage: what, Description: description,
		Writer: os.Stdout, HideHelp: true, HideVersion: true, // see execute
		Flags: append(helpFlags(), flags(setting.List{
			setting.Switch("version", new(bool), false).In(generalGroup).OrAs("v").Describe("print the version"),
		})...),
		Commands: prepare(usage, slices.Concat(
			in("Data sets", datasetCommand(), serveCommand()),
			in("Training and experiments", studyCommands()...),
			in("Results and trained models", runsCommand(), reportCommand(), evaluateCommand(), predictCommand(), explainCommand()),
			in("Program", completionCommand(), versionCommand()),
		)),
		Action:         noCommand,
		ExitErrHandler: inFlags,
		OnUsageError:   usageError,
	}
}

// in puts commands into a group of the help.
func in(group string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = group
	}
	return commands
}

// prepare adds the help, the flags of the log and the set-up of the process to each command, and
// refuses arguments, which would have no effect, to those that take none.
func prepare(above string, commands []*cli.Command) []*cli.Command {
	for _, c := range commands {
		name := above + " " + c.Name
		c.Usage, c.Description = helpFor(name)
		c.OnUsageError = usageError
		prepare(name, c.Subcommands)
		c.HideHelp = true
		if c.Action == nil {
			c.Action, c.Flags = noCommand, helpFlags()
			continue
		}
		c.Flags = slices.Concat(c.Flags, flags(setting.List{
			setting.Switch("quiet", new(bool), false).In(generalGroup).OrAs("q").Describe("no progress; only results, warnings and errors"),
			setting.Choice("log_level", new(string), "info", "debug", "info", "warning", "error").In(generalGroup).
				Describe("least important messages of the log on stderr"),
			setting.Choice("log_format", new(string), "text", "text", "json").In(generalGroup).Describe("format of the log on stderr"),
		}), helpFlags())
		onlyFlags := c.ArgsUsage == "" && c.Subcommands == nil
		c.Before = func(ctx *cli.Context) error {
			if onlyFlags && ctx.NArg() > 0 {
				return wrong(ctx.Command.HelpName, "flags only", invalid.Quote(ctx.Args().First()))
			}
			return cmp.Or(checkBeside(ctx), setUp(ctx))
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
	case strings.HasPrefix(e.Where, "--") && hasFlag(c.Command, e.Where), typed(c.Args().First()), typed(c.String("dataset")), typed(c.String("like")):
		e.Usage = true
	}
}

// Errors of package cli, with the name of the flag.
var (
	badValue   = regexp.MustCompile(`(?s)^invalid (?:boolean )?value ".*" for (?:flag )?-([\w-]+): (.*)`)
	notDefined = regexp.MustCompile(`^flag provided but not defined: -+(\S+)`)
	noValue    = regexp.MustCompile(`^flag needs an argument: -+(\S+)`)
	twoNames   = regexp.MustCompile(`^Cannot use two forms of the same flag: (\S+) (\S+)`)
)

// usageError explains an error of package cli.
func usageError(c *cli.Context, err error, _ bool) error {
	text, help := err.Error(), "See "+c.Command.HelpName+" --help."
	if m := badValue.FindStringSubmatch(text); m != nil {
		return &invalid.Error{Where: dashed(m[1]), Err: errors.New(m[2]), Usage: true}
	}
	if m := notDefined.FindStringSubmatch(text); m != nil {
		var names []string
		for _, f := range c.Command.Flags {
			names = append(names, listedNames(f)...)
		}
		hint := strings.TrimSpace(invalid.DidYouMean(dashed(m[1]), names) + " " + help)
		return &invalid.Error{Where: dashed(m[1]), Want: "a flag of " + c.Command.HelpName, Hint: hint, Usage: true}
	}
	if m := noValue.FindStringSubmatch(text); m != nil {
		return &invalid.Error{Where: dashed(m[1]), Want: "a value", Got: "none", Hint: help, Usage: true}
	}
	if m := twoNames.FindStringSubmatch(text); m != nil {
		return wrong(dashed(m[1]), "no "+dashed(m[1])+" beside "+dashed(m[2])+", another name of the flag", "")
	}
	return &invalid.Error{Where: usage, Err: err, Hint: help, Usage: true}
}

// noCommand is the action if no argument names a command.
func noCommand(c *cli.Context) error {
	if c.Bool("version") {
		return printVersion(c)
	}
	if !c.Args().Present() {
		return printHelp(c.App.Writer, c.Command, false)
	}
	var names []string
	for _, command := range c.Command.Subcommands {
		names = append(names, command.Name)
	}
	name, within := c.Args().First(), c.Command.HelpName
	hint := strings.TrimSpace(invalid.DidYouMean(name, names) + " See " + within + " --help.")
	return &invalid.Error{Where: within, Want: "a command", Got: invalid.Quote(name), Hint: hint, Usage: true}
}

// setUp sets up the log, the number of threads and the BLAS.
func setUp(c *cli.Context) error {
	logrus.SetOutput(display)
	switch {
	case c.String("log-format") == "json":
		logrus.SetFormatter(&logrus.JSONFormatter{})
		display.terminal = false
	case display.terminal:
		logrus.SetFormatter(prose{})
	default:
		logrus.SetFormatter(&logrus.TextFormatter{TimestampFormat: time.DateTime})
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
	if c.IsSet("threads") {
		useThreads(c.Int("threads"), 1) // products of the BLAS are split over goroutines too
	}
	info, err := blas.Use("")
	if err != nil {
		return err
	}
	logrus.WithField("blas", info.String()).Debug("matrix products")
	name := c.String("dataset")
	if strings.HasPrefix(c.Command.ArgsUsage, "NAME") {
		name = c.Args().First()
	}
	warnName(name, c.String("data-dir"), c.App.Commands)
	return nil
}

// prose writes the log for people who watch it.
type prose struct{}

// Format implements logrus.Formatter.
func (prose) Format(e *logrus.Entry) ([]byte, error) {
	text := e.Message
	for _, key := range slices.Sorted(maps.Keys(e.Data)) {
		text += fmt.Sprintf("; %s: %v", key, e.Data[key])
	}
	if e.Level <= logrus.WarnLevel {
		text = e.Level.String() + ": " + text
	}
	return []byte(format.WrapLines(text, display.width(), 2) + "\n"), nil
}

// tellEvery is the time between progress lines where stderr is no terminal.
const tellEvery = 5 * time.Second

// display is the progress of this process on stderr: one redrawn line on a terminal, elsewhere
// and if the log is JSON an entry of the log every few seconds. The log is written through it, so
// that entries and the line do not mix.
var display = &statusLine{to: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd())), width: stderrWidth, shown: time.Now()}

// stderrWidth returns the columns of the terminal, at most 0 if it does not say.
func stderrWidth() int {
	columns, _, _ := term.GetSize(int(os.Stderr.Fd()))
	return columns
}

type statusLine struct {
	to       io.Writer
	terminal bool
	width    func() int // of the terminal in columns, at most 0 if it is unknown
	quiet    bool       // shows nothing

	mu    sync.Mutex
	drawn bool // a line is on the terminal
	shown time.Time
}

// show replaces the line. The last line of something is always shown. A failure to print it is
// no reason to stop.
func (s *statusLine) show(line string, last bool) {
	s.mu.Lock()
	wait := tellEvery
	if s.terminal {
		wait = tellEvery / 50
	}
	line = format.Printable(line)
	if s.quiet || !last && time.Since(s.shown) < wait {
		s.mu.Unlock()
		return
	}
	s.shown = time.Now()
	if !s.terminal {
		s.mu.Unlock()
		logrus.WithField("progress", line).Info("progress")
		return
	}
	defer s.mu.Unlock()
	s.erase()
	// A line that wraps could not be redrawn.
	if runes, most := []rune(line), s.width()-1; most > 0 && len(runes) > most {
		line = string(runes[:most])
	}
	if s.drawn = !last; last {
		line += "\n"
	}
	_, _ = io.WriteString(s.to, line)
}

// erase removes the line from the terminal.
func (s *statusLine) erase() {
	if s.drawn {
		s.drawn = false
		_, _ = io.WriteString(s.to, "\r\x1b[K")
	}
}

// clear removes the line from the terminal.
func (s *statusLine) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

// Write writes an entry of the log in place of the line, which the next progress draws again.
func (s *statusLine) Write(entry []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	return s.to.Write(entry)
}

// showGrid shows the progress of a grid.
func showGrid(p lab.Progress) {
	display.show(p.String(), p.Running == 0 && p.Done+p.Failed == p.Total)
}

// showEpoch returns a function that shows the epochs of the seeds of a run, of which jobs are trained at
// a time, and the time that is left in the stage unless patience ends it.
func showEpoch(first uint64, seeds, jobs int) func(train.Trial, train.Epoch) {
	type start struct {
		at    time.Time
		epoch int
	}
	var starts sync.Map // by trial
	rounds := func(seeds int) int { return (seeds + jobs - 1) / jobs }
	return func(t train.Trial, e train.Epoch) {
		from, _ := starts.LoadOrStore(t, start{time.Now(), e.Epoch})
		seed, line := int(t.Seed-first)+1, string(t.Stage)
		if done := e.Epoch - from.(start).epoch; done > 0 {
			todo := t.Epochs*(1+rounds(seeds)-rounds(seed)) - e.Epoch
			line += fmt.Sprintf(", up to %s left", (time.Since(from.(start).at) / time.Duration(done) * time.Duration(todo)).Round(time.Second))
		}
		line += fmt.Sprintf(": seed %d of %d, epoch %d of %d, train %.1f %%", seed, seeds, e.Epoch, t.Epochs, 100*e.TrainAccuracy)
		if e.ValAccuracy != nil {
			line += fmt.Sprintf(", val %.1f %%", 100**e.ValAccuracy)
		}
		display.show(line, false)
	}
}

// logRunWarning logs a warning of a run.
func logRunWarning(t train.Trial, warning string) { logrus.WithField("run", t.Name()).Warn(warning) }

func logResume(t train.Trial, epochs int) {
	logrus.WithFields(logrus.Fields{"run": t.Name(), "epochs": epochs}).Info("resumes from its checkpoint")
}
