package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train"
)

func TestComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"data/birds", "elsewhere/bees", "runs/birds-ale-test-seed0"} {
		testkit.NoError(t, os.MkdirAll(dir, 0o755))
	}
	writeText(t, filepath.Join("runs", "birds-ale-test-seed0", train.ModelFile), "")
	t.Setenv("LAGO_DATA", "")
	for _, c := range []struct{ line, want string }{
		{"sw", "sweep-k"},
		{"__c", ""},
		{"dataset c", "check convert"},
		{"run --variant ", "singletons semantic-hard k-soft semantic-soft"},
		{"run --seeds 2 --variant k", "k-soft"},
		{"run --hold-out --variant k", "k-soft"},
		{"run --variant=k", "--variant=k-soft"},
		{"run --variant = k", "k-soft"}, // the words of bash
		{"run --variant =", "singletons semantic-hard k-soft semantic-soft"},
		{"noise --methods k-soft,es", "k-soft,eszsl"},
		{"run --preprocess sqrt,w", "sqrt,whiten"},
		{"run --pa", "--patience"},
		{"run --h", "--hold-out --help"},
		{"run --seeds ", ""},
		{"run --out ", ""}, // a path
		{"run --dataset b", "birds"},
		{"run --data-dir elsewhere --dataset b", "bees"},
		{"dataset check b", "birds"},
		{"dataset fetch res", "resnet101 resnet50"},
		{"predict --model ", "latest birds-ale-test-seed0"},
		{"predict --model runs/", ""},
		{"runs show ", "latest birds-ale-test-seed0"},
		{"runs show runs/", ""},
		{"completion ", "bash zsh fish"},
	} {
		var got []string
		for _, candidate := range complete(newApp(), strings.Split(c.line, " ")) {
			text, _, _ := strings.Cut(candidate, "\t")
			got = append(got, text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, expected %s", c.line, got, c.want)
		}
	}
	everyCommand(newApp().Commands, nil, func(words []string, c *cli.Command) {
		got := complete(newApp(), append(slices.Clone(words), "--"))
		for _, f := range c.VisibleFlags() {
			name := dashed(f.Names()[0])
			if strings.HasPrefix(name, "--") && !slices.ContainsFunc(got, func(c string) bool { return strings.HasPrefix(c, name+"\t") }) {
				t.Errorf("%q: no %s", words, name)
			}
		}
	})
}

// The scripts as their shells run them.
func TestCompletionScripts(t *testing.T) {
	const line = "lago-train run --variant k"
	ask := map[string]string{
		"bash": `source /dev/stdin; COMP_WORDS=(%s); COMP_CWORD=3; _lago_train lago-train; echo "${COMPREPLY[@]}"`,
		"zsh":  `compdef() { : }; source /dev/stdin; compadd() { echo "${@[-1]}" }; words=(%s); CURRENT=4; _lago_train`,
		"fish": `source -; complete -C "%s"`,
	}
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(err)
			}
			bin := t.TempDir()
			testkit.NoError(t, os.Symlink(os.Args[0], filepath.Join(bin, "lago-train")))
			script := succeeds(t, "completion", shell)
			sh := exec.Command(path, "-c", fmt.Sprintf(ask[shell], line))
			sh.Env = append(command(t).Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			sh.Stdin = strings.NewReader(script)
			out, err := sh.CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "k-soft" {
				t.Errorf("%q, %v: expected k-soft", out, err)
			}
		})
	}
	misused(t, []string{"completion", "csh"}, "lago-train completion: expected one of bash, zsh, fish", `"csh"`)
	misused(t, []string{"completion"}, "lago-train completion: expected one of bash, zsh, fish")
}
