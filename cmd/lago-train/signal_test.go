package main

import (
	"bufio"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train"
)

// started is a program in the middle of its work.
type started struct {
	cmd  *exec.Cmd
	file string // of stdout and stderr
	over chan struct{}
}

func start(t *testing.T, c *exec.Cmd) *started {
	t.Helper()
	file := testkit.Must(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	s := &started{cmd: c, file: file.Name(), over: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = file, file
	testkit.NoError(t, s.cmd.Start())
	testkit.NoError(t, file.Close())
	go func() {
		defer close(s.over)
		_ = s.cmd.Wait() // its state says how it ended
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.over
	})
	return s
}

// log returns what the program wrote so far.
func (s *started) log(t *testing.T) string {
	t.Helper()
	return testkit.Read(t, s.file)
}

// until waits for something to come true while the program works.
func (s *started) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for !is() {
		select {
		case <-s.over:
			t.Fatalf("the program ended before %s:\n%s", what, s.log(t))
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// end sends a signal and waits for the end.
func (s *started) end(t *testing.T, signal os.Signal) {
	t.Helper()
	testkit.NoError(t, s.cmd.Process.Signal(signal))
	select {
	case <-s.over:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: still at work after %v", s.cmd.Args[1:], signal)
	}
}

// files returns the contents of the files of a name below the folders in out.
func files(t *testing.T, out, name string) map[string]string {
	t.Helper()
	contents := map[string]string{}
	for _, path := range testkit.Must(filepath.Glob(filepath.Join(out, "*", name)))(t) {
		contents[filepath.Base(filepath.Dir(path))] = testkit.Read(t, path)
	}
	return contents
}

// TestInterruptedRunResumesToTheSameModels interrupts the second of two seeds, beside which ESZSL is trained.
func TestInterruptedRunResumesToTheSameModels(t *testing.T) {
	args := append([]string{
		"run", "--stage", "test", "--seeds", "2", "--jobs", "1", "--epochs", "300", "--batch", "4", "--out", "runs",
	}, onMini(t)...)
	whole, interrupted := start(t, process(t, args...)), start(t, process(t, args...))
	out := filepath.Join(interrupted.cmd.Dir, "runs")
	interrupted.until(t, "its second seed began", func() bool { return len(files(t, out, train.TrialFile)) == 2 })
	interrupted.end(t, os.Interrupt)
	log, code := interrupted.log(t), interrupted.cmd.ProcessState.ExitCode()
	if code != exitCancelled || strings.Contains(log, "unseen") || !strings.Contains(log, "interrupted with 1 of 3 runs finished in runs; repeat the command to resume") {
		t.Fatalf("ended with %d, expected %d, no table, and where it stopped:\n%s", code, exitCancelled, log)
	}
	testkit.Equal(t, "checkpoints", len(files(t, out, "checkpoint.safetensors")), 1)

	again := process(t, args...)
	again.Dir = interrupted.cmd.Dir
	if log, err := again.CombinedOutput(); err != nil || !strings.Contains(string(log), "resumes from its checkpoint") {
		t.Fatalf("the same command: %v\n%s", err, log)
	}
	<-whole.over
	want := files(t, filepath.Join(whole.cmd.Dir, "runs"), train.ModelFile)
	got := files(t, out, train.ModelFile)
	if len(want) != 3 || !maps.Equal(want, got) {
		t.Errorf("the %d models differ from the %d of the run that was not interrupted:\n%s", len(got), len(want), whole.log(t))
	}
}

// A signal ends the wait for a pipe, be it standard input or a config file, and leaves no file.
func TestInterruptWhileReading(t *testing.T) {
	model, config := trained(t), filepath.Join(t.TempDir(), "settings.json")
	if err := syscall.Mkfifo(config, 0o600); err != nil {
		t.Skip(err)
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		for _, args := range [][]string{
			{"run", "--config", config}, {"predict", "--model", model, "--features", "-", "--to", "out.csv"},
		} {
			cmd := process(t, append(args, "--log-level", "debug")...)
			in := testkit.Must(cmd.StdinPipe())(t)
			p := start(t, cmd)
			p.until(t, "it was set up", func() bool { return strings.Contains(p.log(t), "matrix products") })
			p.end(t, signal)
			left := testkit.Must(os.ReadDir(cmd.Dir))(t)
			if cmd.ProcessState.ExitCode() != exitCancelled || len(left) > 0 {
				t.Errorf("%s, %v: ended with %s, expected exit status %d and no files, found %v:\n%s", args[0], signal, cmd.ProcessState, exitCancelled, left, p.log(t))
			}
			_ = in.Close() // the program has ended
		}
	}
}

// TestASecondInterruptEndsAtOnce interrupts while a data set is generated, which
// does not watch for the first interrupt.
func TestASecondInterruptEndsAtOnce(t *testing.T) {
	s := start(t, process(t, "run", "--dataset", "glyphs", "--log-level", "debug"))
	s.until(t, "it was set up", func() bool { return strings.Contains(s.log(t), "matrix products") })
	testkit.NoError(t, s.cmd.Process.Signal(os.Interrupt))
	for over := false; !over; {
		select {
		case <-s.over:
			over = true
		case <-time.After(5 * time.Millisecond):
			_ = s.cmd.Process.Signal(os.Interrupt) // fails where it has just ended
		}
	}
	status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("ended by %s, expected the signal itself to end it:\n%s", s.cmd.ProcessState, s.log(t))
	}
}

// A run whose epochs have no end in sight, as with a million classes, is abandoned after a while.
func TestInterruptOfALongEpoch(t *testing.T) {
	defer func(d time.Duration) { gracefulGrace = d }(gracefulGrace)
	gracefulGrace = time.Millisecond
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("interrupt signal received")
	err := graceful(func(*cli.Context) error {
		cancel(cause)
		select {}
	})(&cli.Context{Context: ctx})
	if !errors.Is(err, cause) {
		t.Errorf("%v, expected %v", err, cause)
	}
}

// served starts a program that serves a page, and returns the page's address.
func served(t *testing.T, c *exec.Cmd) (address string) {
	t.Helper()
	out := testkit.Must(c.StdoutPipe())(t)
	testkit.NoError(t, c.Start())
	line := testkit.Must(bufio.NewReader(out).ReadString('\n'))(t)
	return line[strings.Index(line, "http"):strings.Index(line, " in a browser")]
}

// SIGQUIT ends the page as Ctrl-C does, without stacks.
func TestQuitServing(t *testing.T) {
	c := process(t, "serve", "glyphs")
	var errors strings.Builder
	c.Stderr = &errors
	served(t, c)
	testkit.NoError(t, c.Process.Signal(syscall.SIGQUIT))
	if err := c.Wait(); err != nil || strings.Contains(errors.String(), "goroutine") {
		t.Errorf("%v:\n%s", err, &errors)
	}
}
