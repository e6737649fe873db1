package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/term"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/train"
)

// tellEvery is the time between progress lines where stderr is no terminal.
const tellEvery = 5 * time.Second

// display is the progress of this process on stderr: one redrawn line on a terminal, a
// line every few seconds elsewhere, log entries if the log is JSON. The log is written
// through it, so that entries and the line do not mix.
var display = &statusLine{to: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd())), width: stderrWidth, shown: time.Now()}

// stderrWidth returns the columns of the terminal, 0 if it does not say.
func stderrWidth() int {
	columns, _, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

type statusLine struct {
	to       io.Writer
	terminal bool
	width    func() int // of the terminal in columns, 0 if it is unknown
	quiet    bool       // shows nothing

	mu    sync.Mutex
	json  bool
	line  string // on the terminal
	shown time.Time
}

// show replaces the line. The last line of something is always shown.
func (s *statusLine) show(line string, last bool) {
	if s.quiet {
		return
	}
	s.mu.Lock()
	wait := tellEvery
	if s.terminal && !s.json {
		wait = tellEvery / 50
	}
	if !last && time.Since(s.shown) < wait {
		s.mu.Unlock()
		return
	}
	s.shown = time.Now()
	if s.json {
		s.mu.Unlock()
		logrus.WithField("progress", line).Info("progress")
		return
	}
	defer s.mu.Unlock()
	if !s.terminal {
		_, _ = fmt.Fprintln(s.to, line) // a failure to print progress is no reason to stop
		return
	}
	// A line that wraps could not be redrawn.
	if runes, most := []rune(line), s.width()-1; most > 0 && len(runes) > most {
		line = string(runes[:most])
	}
	s.line = "\r\x1b[K" + line
	_, _ = io.WriteString(s.to, s.line)
	if last {
		s.line = ""
		_, _ = fmt.Fprintln(s.to)
	}
}

// clear removes the line from the terminal.
func (s *statusLine) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line != "" {
		s.line = ""
		_, _ = io.WriteString(s.to, "\r\x1b[K")
	}
}

// Write writes an entry of the log above the line.
func (s *statusLine) Write(entry []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line == "" {
		return s.to.Write(entry)
	}
	if _, err := io.WriteString(s.to, "\r\x1b[K"); err != nil {
		return 0, err
	}
	n, err := s.to.Write(entry)
	_, _ = io.WriteString(s.to, s.line)
	return n, err
}

// showGrid shows the progress of a grid.
func showGrid(p lab.Progress) {
	display.show(p.String(), p.Running == 0 && p.Done+p.Failed == p.Total)
}

// showEpoch returns a function that shows the epochs of the seeds of a run.
func showEpoch(first uint64, seeds int) func(train.Trial, train.Epoch) {
	return func(t train.Trial, e train.Epoch) {
		line := fmt.Sprintf("%s seed %d of %d: epoch %d of %d, loss %.4f, train %.1f %%",
			t.Stage, t.Seed-first+1, seeds, e.Epoch, t.Epochs, e.Phases[0].Loss, 100*e.TrainAccuracy)
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
