//go:build installed

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

// The commands of the results are run for hours: a flag that they get wrong is found here.
func TestCommandsOfResultsParse(t *testing.T) {
	page := filepath.Join(t.TempDir(), "results.md")
	script := testkit.Must(filepath.Abs("../../tools/results.sh"))(t)
	sh := exec.Command(script, os.Args[0])
	sh.Dir = t.TempDir()
	sh.Env = append(process(t).Env, "SECTIONS=none", "PAGE="+page, "RESULTS_DIR="+t.TempDir())
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	commands := 0
	for _, line := range strings.Split(testkit.Read(t, page), "\n") {
		if line, ok := strings.CutPrefix(line, "$ "); ok && strings.HasPrefix(line, "lago-train ") {
			line, _, _ = strings.Cut(line, " | ")
			parses(t, line)
			commands++
		}
	}
	if commands < 10 {
		t.Errorf("the page has %d commands:\n%s", commands, testkit.Read(t, page))
	}
}

// The scripts as their shells run them.
func TestCompletionScripts(t *testing.T) {
	for shell, ask := range map[string]string{
		"bash": `source /dev/stdin; COMP_WORDS=(lago-train sea); COMP_CWORD=1; _lago_train; echo "${COMPREPLY[@]}"`,
		"zsh": `compdef() { : }; source /dev/stdin; _describe() { print -l "${(@P)2}" | grep ^sea }
			words=(lago-train sea); _lago_train`,
		"fish": `source -; complete -C "lago-train sea"`,
	} {
		t.Run(shell, func(t *testing.T) {
			path := testkit.Must(exec.LookPath(shell))(t)
			bin := t.TempDir()
			testkit.NoError(t, os.Symlink(os.Args[0], filepath.Join(bin, "lago-train")))
			sh := exec.Command(path, "-c", ask)
			sh.Env = append(process(t).Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			sh.Stdin = strings.NewReader(succeeds(t, "completion", shell))
			out, err := sh.CombinedOutput()
			if words := strings.Fields(string(out)); err != nil || len(words) == 0 || words[0] != "search" {
				t.Errorf("%q, %v: expected search", out, err)
			}
		})
	}
}
