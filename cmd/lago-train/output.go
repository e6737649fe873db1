package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/lago-train/lago-train/experiments/answers/predictor/render"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train"
)

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

func (s *statusLine) erase() {
	if s.drawn {
		s.drawn = false
		_, _ = io.WriteString(s.to, "\r\x1b[K")
	}
}

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
		p.Done, p.More = int64(e.Epoch), "train "+format.Percent(e.TrainAccuracy)
		if e.ValAccuracy != nil {
			p.More += ", val " + format.Percent(*e.ValAccuracy)
		}
		display.replace(p.String(), false)
	}
}

func logRunWarning(t train.Trial, warning string) { logrus.WithField("run", t.Name()).Warn(warning) }

func logResume(t train.Trial, epochs int) {
	logrus.WithFields(logrus.Fields{"run": t.Name(), "epochs": epochs}).Info("resumes from its checkpoint")
}

type outputs struct{ fileio.Outputs }

func (o *outputs) setting() setting.Setting {
	return setting.Switch("force", &o.Force, false).In(outputGroup)
}

func (o *outputs) log() {
	if o.Written != nil {
		logrus.WithField("files", strings.Join(o.Written, ", ")).Info("written")
	}
}

// formatOf returns the format of an output: that of --format or else by how the name of --to ends, which must
// be one of endings. Without --to, and without an ending, it is the default.
func formatOf(c *cli.Context, given render.Format, endings map[string]render.Format) (render.Format, error) {
	to := c.String("to")
	ending := strings.ToLower(filepath.Ext(to))
	if c.IsSet("format") || ending == "" {
		return given, nil
	}
	if as, known := endings[ending]; known {
		return as, nil
	}
	return given, wrong("--to", "a file that ends in one of "+
		strings.Join(slices.Sorted(maps.Keys(endings)), ", ")+", or --format", invalid.Quote(to))
}
