//go:build installed

package main

import (
	"fmt"
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
	const line = "lago-train run --method k-"
	ask := map[string]string{
		"bash": `source /dev/stdin; COMP_WORDS=(%s); COMP_CWORD=3; _lago_train lago-train; echo "${COMPREPLY[@]}"`,
		"zsh":  `compdef() { : }; source /dev/stdin; compadd() { echo "${@[-1]}" }; words=(%s); CURRENT=4; _lago_train`,
		"fish": `source -; complete -C "%s"`,
	}
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			path := testkit.Must(exec.LookPath(shell))(t)
			bin := t.TempDir()
			testkit.NoError(t, os.Symlink(os.Args[0], filepath.Join(bin, "lago-train")))
			script := succeeds(t, "completion", shell)
			sh := exec.Command(path, "-c", fmt.Sprintf(ask[shell], line))
			sh.Env = append(process(t).Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			sh.Stdin = strings.NewReader(script)
			out, err := sh.CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "k-soft" {
				t.Errorf("%q, %v: expected k-soft", out, err)
			}
		})
	}
	// A name in a folder may hold what the shell would run.
	bin := t.TempDir()
	fake := testkit.Write(t, bin, "lago-train", "#!/bin/sh\nprintf '$(touch x)\\ta name'\n")
	testkit.NoError(t, os.Chmod(fake, 0o755))
	sh := exec.Command("bash", "-c", fmt.Sprintf(strings.Replace(ask["bash"], "_lago_train lago-train", "_lago_train '"+fake+"'", 1), line))
	sh.Env, sh.Stdin = process(t).Env, strings.NewReader(succeeds(t, "completion", "bash"))
	if out, err := sh.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != `\$\(touch\ x\)` {
		t.Errorf("%q, %v: expected a quoted name", out, err)
	}
	misused(t, []string{"completion", "csh"}, "lago-train completion: expected one of bash, zsh, fish", `"csh"`)
}
