// Command lago-train trains and evaluates LAGO, a zero-shot classifier that recognises
// classes from descriptions by attributes.
//
// It turns flags into the configurations of the packages experiments and dataset, and prints their
// results. command.go reads the command line, by the table of settings that each command has; help.go
// prints the help and completes words from the same tables; output.go writes the files of users.
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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/term"

	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train"
)

// The exit codes.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitRepeat    = 75  // other shards have yet to finish their part, as EX_TEMPFAIL of sysexits.h
	exitCancelled = 130 // as for a program that Ctrl-C ended
)

// mostThreads bounds $GOMAXPROCS: with thousands, the runtime of Go ends the process.
const mostThreads = 1024

func main() {
	if runtime.GOMAXPROCS(0) > mostThreads { // as with --threads
		runtime.GOMAXPROCS(mostThreads)
	}
	if err := blas.CheckAddresses(); err != nil { // before there are many threads
		fmt.Fprintln(os.Stderr, usage+": "+err.Error())
		os.Exit(exitFailed)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first Ctrl-C ends the epoch cleanly. After it the signals have their default
	// effect, so that a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	program := newProgram()
	if len(os.Args) > 1 && os.Args[1] == completeCommand {
		if _, err := fmt.Print(strings.Join(complete(program, os.Args[2:]), "\n")); err != nil {
			os.Exit(exitFailed)
		}
		return
	}
	err := execute(ctx, os.Stdout, os.Args[1:])
	display.clear()
	if err != nil {
		text, code := outcome(ctx, err)
		if !strings.HasPrefix(text, usage+" ") && !strings.HasPrefix(text, usage+": ") {
			text = usage + ": " + text
		}
		// names from files may have control characters
		fmt.Fprintln(os.Stderr, inColour(format.WrapLines(text, display.width(), 2), table.Failure))
		os.Exit(code)
	}
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
	case errors.As(err, new(*lab.Incomplete)):
		return text, exitRepeat
	}
	return text, exitFailed
}

// usage is the name of the program, and the place of an error in the command line as a whole.
const usage = "lago-train"

// newProgram returns the commands, with the flags of all commands and the texts of the help.
func newProgram() *command {
	version := setting.Switch("version", new(bool), false).In(generalGroup).OrAs("v").
		Describe("print the version")
	p := &command{name: usage, flags: setting.List{version}, below: slices.Concat(
		in("Data sets", &command{name: "dataset", below: []*command{
			datasetListCommand(), fetchCommand(), extractCommand(), describeCommand(),
			checkCommand(), splitCommand(),
		}}, serveCommand()),
		in("Training and experiments", studyCommands()...),
		in("Results and trained models", runsCommand(), reportCommand(), evaluateCommand(), predictCommand(),
			explainCommand()),
		in("Program", docsCommand(), completionCommand(), versionCommand()),
	)}
	p.complete("")
	return p
}

// in puts commands into a group of the help.
func in(group string, commands ...*command) []*command {
	for _, c := range commands {
		c.group = group
	}
	return commands
}

// complete adds the path, the texts of the help, and the flags that all commands have, here and below.
func (c *command) complete(above string) {
	c.path = strings.TrimSpace(above + " " + c.name)
	c.usage, c.about = helpFor(c.path)
	if c.run != nil {
		c.flags = append(c.flags, setting.List{
			setting.Switch("quiet", &display.quiet, false).OrAs("q").
				Describe("no progress; only results, warnings and errors"),
		}.In(generalGroup)...)
	}
	c.flags = append(c.flags, setting.List{
		setting.Switch("help", new(bool), false).OrAs("h").Describe("show the common flags"),
		setting.Switch("help_all", new(bool), false).Describe("show all flags and details"),
	}.In(generalGroup)...)
	c.flags.SetDefaults()
	for _, below := range c.below {
		below.complete(c.path)
	}
}

// setUp sets up the log, the number of threads and the BLAS.
func setUp(c *call) error {
	logrus.SetOutput(display)
	logrus.SetFormatter(&logrus.TextFormatter{TimestampFormat: time.DateTime})
	if display.terminal {
		logrus.SetFormatter(prose{})
	}
	word := cmp.Or(c.text("log-level"), "info")
	if display.quiet && !c.isSet("log-level") {
		word = "warning"
	}
	level, err := logrus.ParseLevel(word)
	if err != nil {
		return err
	}
	logrus.SetLevel(level)
	if n, err := strconv.Atoi(c.text("threads")); err == nil && c.isSet("threads") {
		useThreads(n, 1) // products of the BLAS are split over goroutines too
	}
	info, err := blas.Use("")
	if err != nil {
		return err
	}
	logrus.WithField("blas", info.String()).Debug("matrix products")
	name := c.text("dataset")
	if strings.HasPrefix(c.argument, "NAME") {
		name = c.arg()
	}
	warnName(name, c.text("data-dir"))
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
	text = format.WrapLines(text, display.width(), 2) + "\n"
	if e.Level <= logrus.WarnLevel {
		text = inColour(text, table.Warning)
	}
	return []byte(text), nil
}

// inColour has the first word of a message in a colour, where stderr shows colours.
func inColour(text, colour string) string {
	word, rest, found := strings.Cut(text, ":")
	if !found || !table.Colours(os.Stderr) {
		return text
	}
	return colour + word + ":" + table.Plain + rest
}

// tellEvery is the time between progress lines where stderr is no terminal.
const tellEvery = 5 * time.Second

// display is the progress of this process on stderr: one redrawn line on a terminal, elsewhere
// an entry of the log every few seconds. The log is written through it, so
// that entries and the line do not mix.
var display = &statusLine{
	to: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd())), width: stderrWidth, shown: time.Now(),
}

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

// show shows progress in place of the line, the end in any case.
func (s *statusLine) show(p format.Progress) { s.replace(p.String(), p.Ended()) }

// replace replaces the line, unless it was shown just before. A failure to print it is no reason to stop.
func (s *statusLine) replace(line string, last bool) {
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

// showEpochs returns a function that shows the epochs of the seeds of a run, of which jobs are trained at
// a time, and the time that is left in the stage unless patience ends it.
func showEpochs(first uint64, seeds, jobs int) func(train.Trial, train.Epoch) {
	var starts sync.Map // by trial
	rounds := func(seeds int) int { return (seeds + jobs - 1) / jobs }
	return func(t train.Trial, e train.Epoch) {
		seed := int(t.Seed-first) + 1
		from := format.NewProgress(fmt.Sprintf("%s, seed %d of %d", t.Stage, seed, seeds), "epochs",
			int64(e.Epoch), int64(t.Epochs))
		from.Later, from.AtMost = int64(t.Epochs*(rounds(seeds)-rounds(seed))), true
		begun, _ := starts.LoadOrStore(t, from)
		p := begun.(format.Progress)
		p.Done, p.More = int64(e.Epoch), fmt.Sprintf("train %.1f %%", 100*e.TrainAccuracy)
		if e.ValAccuracy != nil {
			p.More += fmt.Sprintf(", val %.1f %%", 100**e.ValAccuracy)
		}
		display.replace(p.String(), false)
	}
}

func logRunWarning(t train.Trial, warning string) { logrus.WithField("run", t.Name()).Warn(warning) }

func logResume(t train.Trial, epochs int) {
	logrus.WithFields(logrus.Fields{"run": t.Name(), "epochs": epochs}).Info("resumes from its checkpoint")
}
