package main

import (
	"bufio"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

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
