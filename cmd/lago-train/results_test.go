package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of the results are run for hours: a flag that they get wrong is found here.
func TestCommandsOfResultsParse(t *testing.T) {
	page := filepath.Join(t.TempDir(), "results.md")
	script, err := filepath.Abs("../../tools/results.sh")
	if err != nil {
		t.Fatal(err)
	}
	sh := exec.Command(script, os.Args[0])
	sh.Dir = t.TempDir()
	sh.Env = append(command(t).Env, "SECTIONS=none", "PAGE="+page, "RESULTS_DIR="+t.TempDir())
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	commands := 0
	for _, line := range strings.Split(read(t, page), "\n") {
		if line, ok := strings.CutPrefix(line, "$ "); ok {
			line, _, _ = strings.Cut(line, " | ")
			parses(t, line)
			commands++
		}
	}
	if commands < 15 {
		t.Errorf("the page has %d commands:\n%s", commands, read(t, page))
	}
}
