package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

var (
	nextCommand = regexp.MustCompile(`(?m)(?:next|then|on the test classes|See|is):?\s+(lago-train [^#\n]*?)(?: *#.*|\.|\?)?$`)
	suggestion  = regexp.MustCompile(`(?:Did you mean|this name here, write) (.*?)[?.]?(?: See .*)?$`)
	found       = regexp.MustCompile(`found "([^"]*)"|data set "([^"]*)"|(?m)^lago-train: (--[a-z-]*): expected a flag|([^ "]*): no such file`)
)

// Every command that an error or a result names runs when it is copied, and so does the command with the
// word that an error suggests in place of the one that was found.
func TestHints(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	for _, folder := range []string{"fruit", "my shop", "data/animals"} {
		testkit.NoError(t, os.CopyFS(filepath.Join(dir, folder), os.DirFS("../../docs/example")))
	}
	for _, file := range []string{"classes.csv", "attributes.csv", "splits.csv"} {
		testkit.NoError(t, os.Remove(filepath.Join(dir, "my shop", file)))
	}
	testkit.NoError(t, os.Symlink(testkit.Must(filepath.Abs(os.Args[0]))(t), filepath.Join(bin, "lago-train")))
	env := append(process(t).Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	run := func(line string) ended {
		t.Helper()
		var stdout, stderr bytes.Buffer
		sh := exec.Command("sh", "-c", line)
		sh.Dir, sh.Env, sh.Stdout, sh.Stderr = dir, env, &stdout, &stderr
		if err := sh.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		return ended{stdout.String(), stderr.String(), sh.ProcessState.ExitCode()}
	}
	const short = " --epochs 2 --seeds 1"
	for _, line := range []string{
		"run --dataset ./fruit" + short, "run --stage dev --dataset ./fruit" + short, "run --data-dir data --dataset animals" + short,
		"search --dataset animals --data-dir data --budget 2 --epochs 2", "dataset check './my shop'",
		"dataset split './my shop'", "run --dataset './my shop'",
		"rnu" + short, "dataset fetsh --help", "run --pateince 3" + short, "run --method k-sotf" + short,
		"run --dataset fruit" + short, "run --dataset animls" + short, "run --dataset data/animls" + short, "dataset check fruit",
		"dataset describe animals --like gylphs", "evaluate --dataset ./fruit --model lates",
		"predict --model latest --features fruit/featurs.csv",
		"predict --model latest --dataset ./fruit --candidates zebar", "infer --model latest --dataset ./fruit",
		"explain --model latest --dataset ./fruit --sample zebra/1.jpg", "predict --model latest --dataset ./fruit --output x.csv",
		"compare --dataset ./fruit --tune 0 --methods ezsl",
		"run --preprocess sqr --dataset ./fruit" + short, "validate --help", "docs evalution",
		"explain --model latest --dataset ./fruit --sample zebra/01.jpg --against leopord",
	} {
		t.Run(line, func(t *testing.T) {
			of := run("lago-train " + line)
			text := strings.TrimSpace(of.stdout + of.stderr)
			var hints []string
			for _, m := range nextCommand.FindAllStringSubmatch(text, -1) {
				hints = append(hints, m[1])
			}
			if m := suggestion.FindStringSubmatch(text); m != nil && of.code != 0 {
				wrong := found.FindAllStringSubmatch(text, -1)
				typed := strings.Join(wrong[len(wrong)-1][1:], "")
				for _, word := range strings.Split(m[1], " or ") {
					hints = append(hints, strings.Replace("lago-train "+line, typed, strings.TrimPrefix(word, "lago-train "), 1))
				}
			}
			if len(hints) == 0 {
				t.Fatalf("no hint in\n%s", text)
			}
			for _, hint := range hints {
				switch words := strings.Fields(hint); words[1] {
				case "serve": // ends at a model that is not there, after its data set was found
					if e := run(hint + " --model none"); !strings.HasPrefix(e.stderr, "lago-train: --model: ") {
						t.Errorf("%s: %s", hint, e.stderr)
					}
					continue
				case "search":
					hint += " --budget 2 --epochs 2"
				}
				if e := run(hint); e.code == exitUsage || e.code != 0 && !strings.Contains(e.stdout+e.stderr, "next: ") {
					t.Errorf("%s: ends with %d: %s", hint, e.code, e.stderr)
				}
			}
		})
	}
}

// What was removed is refused as a usage error, with what to use instead.
func TestRemoved(t *testing.T) {
	for entry := range strings.Lines(removedText) {
		line, instead, _ := strings.Cut(strings.TrimSpace(entry), ": ")
		err := execute(t.Context(), io.Discard, strings.Fields(line))
		end := exit(t.Context(), err)
		if end.ExitCode() != exitUsage || !strings.HasSuffix(end.Error(), instead) {
			t.Errorf("%s: exit code %d, %s", line, end.ExitCode(), end)
		}
	}
}
