package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train"
)

// everyCommand calls f with the words that name each command, below the program.
func everyCommand(commands []*cli.Command, above []string, f func(words []string, c *cli.Command)) {
	for _, c := range commands {
		words := append(append([]string{}, above...), c.Name)
		f(words, c)
		everyCommand(c.Subcommands, words, f)
	}
}

// helpOf returns the help of a command, of the program if there are no words, which --help or
// --help-all prints.
func helpOf(t *testing.T, flag string, words ...string) string {
	t.Helper()
	var out bytes.Buffer
	app := newApp()
	app.Writer = &out
	testkit.NoError(t, execute(t.Context(), app, slices.Concat(words, []string{flag})))
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpWidth {
			t.Errorf("%q: %d columns: %s", words, n, line)
		}
		if strings.Count(line, "(default:") > 1 {
			t.Errorf("%q: two defaults: %s", words, line)
		}
	}
	return out.String()
}

// The help of each command is short, names the common flags, and ends with where there is more: all
// flags in --help-all, and a page that exists. Every flag says what it is for without repeating its
// placeholder, in one of the groups, and a flag of several commands is in the same group, but for
// the filters in the list of runs.
func TestHelp(t *testing.T) {
	program := helpOf(t, "--help")
	testkit.WantText(t, helpOf(t, "--help-all"), "soft OR", "--version")
	if commands, examples := strings.Index(program, "  dataset "), strings.Index(program, "Examples:"); commands < 0 || examples < commands {
		t.Errorf("expected the commands before the examples:\n%s", program)
	}
	first := map[string]setting.Scope{}
	everyCommand(newApp().Commands, nil, func(words []string, c *cli.Command) {
		if len(words) == 1 && !strings.Contains(program, "\n  "+c.Name+" ") {
			t.Errorf("%s is not in the help of the program:\n%s", c.Name, program)
		}
		short, help := helpOf(t, "--help", words...), helpOf(t, "--help-all", words...)
		title := "lago-train " + strings.Join(words, " ")
		testkit.WantText(t, help, title+": "+c.Usage)
		testkit.WantText(t, short, title+": "+c.Usage, " --help-all. Documentation: ")
		if lines := strings.Count(short, "\n"); lines >= 40 {
			t.Errorf("%q: %d lines of help:\n%s", words, lines, short)
		}
		_, page, _ := strings.Cut(short, "Documentation: ")
		if _, err := os.Stat("../../" + strings.TrimSpace(page)); err != nil {
			t.Error(err)
		}
		if hasFlag(c, "to") && !hasFlag(c, "out") {
			t.Errorf("%q does not take --out as an earlier version did", words)
		}
		if c.Usage == "" {
			t.Errorf("help.txt has no %q", words)
		}
		if c.Name == "fetch" {
			testkit.WantText(t, short, fetch.Networks()...)
			testkit.WantText(t, help, fetch.XianURL, fetch.MetaURL, fetch.LAGOURL, fetch.WeightsURL("resnet50"))
		}
		for _, f := range c.Flags {
			o := f.(option)
			name, group := o.Name, o.setting.Scope
			value, usage := describeFlag(o)
			before, again := strings.CutSuffix(usage, ": "+format.List(o.setting.Options, "or"))
			missing := slices.IndexFunc(o.setting.Options, func(word string) bool { return !strings.Contains(before, word) })
			switch there, seen := first[name]; {
			case !strings.Contains(help, dashed(name)):
				t.Errorf("nothing about --%s:\n%s", name, help)
			case o.setting.Short != strings.Contains(short, "\n  "+dashed(name)+" "):
				t.Errorf("--%s: expected in the help of %q: %v\n%s", name, words, o.setting.Short, short)
			case again && missing < 0:
				t.Errorf("%s --%s: lists its values twice: %q", c.Name, name, usage)
			case usage == "" || strings.Contains(usage, "`") || o.TakesValue() != (value != ""):
				t.Errorf("%s --%s: placeholder %q and text %q", c.Name, name, value, usage)
			case value != "" && strings.HasPrefix(strings.ToLower(usage), strings.ToLower(value)+" "):
				t.Errorf("%s --%s: %q repeats the placeholder %s", c.Name, name, usage, value)
			case !slices.Contains(flagGroups, group) || seen && c.Name != "runs" && there != group:
				t.Errorf("%s --%s: group %s, elsewhere %s", c.Name, name, group, there)
			case c.Name != "runs":
				first[name] = group
			}
		}
	})
}

var example = regexp.MustCompile(`(?m)^   (lago-train .*)$`)

// Each command has two or three examples, which parse and have flags that --help lists.
func TestExamples(t *testing.T) {
	everyCommand(newApp().Commands, nil, func(words []string, c *cli.Command) {
		if c.Subcommands != nil && !hasFlag(c, "quiet") {
			return // a group of commands
		}
		_, text, _ := strings.Cut(c.Description, "Examples:\n")
		examples := example.FindAllStringSubmatch(text, -1)
		if len(examples) > 3 || len(examples) < 2 && c.Name != "version" {
			t.Errorf("%q: %d examples, expected two or three", words, len(examples))
		}
		for _, e := range examples {
			if !strings.HasPrefix(e[1], "lago-train "+strings.Join(words, " ")) {
				t.Errorf("%q: the example is of another command: %s", words, e[1])
			}
			for _, word := range strings.Fields(e[1]) {
				if f := findFlag(c.Flags, word); strings.HasPrefix(word, "--") && !f.setting.Short {
					t.Errorf("%q: an example has %s, which --help does not list", words, word)
				}
			}
			parses(t, e[1])
		}
	})
	for _, e := range example.FindAllStringSubmatch(newApp().Description, -1) {
		parses(t, e[1])
	}
}

// The commands of the README and the docs: lines of their own, and words in backquotes.
var documented = regexp.MustCompile("(?m)(?:^ *|`)(lago-train [a-z][^`\n]*)")

func TestDocumentedCommandsParse(t *testing.T) {
	files := testkit.Must(filepath.Glob("../../docs/*.md"))(t)
	for _, file := range append(files, "../../README.md") {
		for _, m := range documented.FindAllStringSubmatch(testkit.Read(t, file), -1) {
			parses(t, m[1])
		}
	}
}

// parses fails unless a command line is right as far as can be said without its data.
func parses(t *testing.T, line string) {
	t.Helper()
	line = strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("<>|#\\", r) })[0]
	app := newApp()
	ran := false
	everyCommand(app.Commands, nil, func(_ []string, c *cli.Command) {
		if c.Action == nil {
			return
		}
		c.Before = nil
		c.Action = func(ctx *cli.Context) error {
			ran = true
			if ctx.NArg() > 0 && c.ArgsUsage == "" {
				t.Errorf("%s: argument %s", line, ctx.Args().First())
			}
			return nil
		}
	})
	app.Writer = new(bytes.Buffer)
	words := strings.Fields(line)
	if err := app.Run(append(words[:1:1], parse(app, words[1:]).ordered()...)); err != nil || !ran {
		t.Errorf("%s: does not parse: %v", line, err)
	}
}

func TestHelpIsAsked(t *testing.T) {
	for args, want := range map[string]bool{
		"run -h": true, "run -help": true, "--help-all=true run": true, "help": true, "help run": true, "dataset help info": true,
		"run --dataset help": false, "dataset check help": false, "run": false, "predict --images x -- -h": false,
	} {
		if got := parse(newApp(), strings.Fields(args)).help; got != want {
			t.Errorf("%s: %v, expected %v", args, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"dataset info cub", "dataset info -- cub"},
		{"dataset info cub --data-dir d --json", "dataset info --data-dir d --json -- cub"},
		{"dataset info --data-dir d cub", "dataset info --data-dir d -- cub"},
		{"dataset info -- --json", "dataset info -- --json"},
		{"dataset info cub --data-dir", "dataset info --data-dir"},
		{"dataset info cub --unknown x", "dataset info --unknown -- cub x"},
		{"runs --from other show -", "runs show --from other -- -"},
		{"", ""},
	} {
		got := parse(newApp(), strings.Fields(c.args)).ordered()
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, expected %s", c.args, got, c.want)
		}
	}
}

// The commands of the results are run for hours: a flag that they get wrong is found here.
func TestCommandsOfResultsParse(t *testing.T) {
	page := filepath.Join(t.TempDir(), "results.md")
	script := testkit.Must(filepath.Abs("../../tools/results.sh"))(t)
	sh := exec.Command(script, os.Args[0])
	sh.Dir = t.TempDir()
	sh.Env = append(command(t).Env, "SECTIONS=none", "PAGE="+page, "RESULTS_DIR="+t.TempDir())
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
	if commands < 15 {
		t.Errorf("the page has %d commands:\n%s", commands, testkit.Read(t, page))
	}
}

func TestComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"data/birds", "elsewhere/bees"} {
		testkit.NoError(t, os.MkdirAll(dir, 0o755))
	}
	testkit.Write(t, "runs/birds-ale-test-seed0", train.ModelFile, "")
	testkit.Write(t, "runs/birds-ale-dev-seed0", train.TrialFile, "")
	t.Setenv("LAGO_DATA", "")
	for _, c := range []struct{ line, want string }{
		{"sw", "sweep-k"},
		{"__c", ""},
		{"dataset c", "check convert"},
		{"run --variant ", "singletons semantic-hard k-soft semantic-soft"},
		{"run --hold-out --variant k", "k-soft"},
		{"noise --methods k-soft,es", "k-soft,eszsl"},
		{"run --preprocess sqrt,w", "sqrt,whiten"},
		{"run --pa", "--patience"},
		{"run --h", "--hold-out --help --help-all"},
		{"run --om", "--omega"}, // not in --help
		{"report --o", ""},      // an earlier name
		{"run --seeds ", ""},
		{"run --out ", ""}, // a path
		{"run --dataset b", "birds"},
		{"run --data-dir elsewhere --dataset b", "bees"},
		{"dataset check b", "birds"},
		{"dataset fetch res", "resnet101 resnet50"},
		{"predict --model ", "latest birds-ale-test-seed0"},
		{"runs show ", "latest birds-ale-test-seed0"},
		{"runs rm birds", "birds-ale-dev-seed0"},
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
}

// Package cli ignores errors of printing the help and the version.
func TestHelpThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"--version"}, {"version"}, {"run", "--help"}, {"run", "--help-all"}, {completeCommand, "run", "--"}} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		c := command(t, args...)
		c.Stdout = full
		if err := c.Run(); err == nil || c.ProcessState.ExitCode() != exitFailed {
			t.Errorf("%s: %v, expected exit code %d", args, err, exitFailed)
		}
		testkit.NoError(t, full.Close())
	}
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
	// A name in a folder may hold what the shell would run.
	bin := t.TempDir()
	fake := testkit.Write(t, bin, "lago-train", "#!/bin/sh\nprintf '$(touch x)\\ta name'\n")
	testkit.NoError(t, os.Chmod(fake, 0o755))
	sh := exec.Command("bash", "-c", fmt.Sprintf(strings.Replace(ask["bash"], "_lago_train lago-train", "_lago_train "+fake, 1), line))
	sh.Stdin = strings.NewReader(succeeds(t, "completion", "bash"))
	if out, err := sh.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != `\$\(touch\ x\)` {
		t.Errorf("%q, %v: expected a quoted name", out, err)
	}
	misused(t, []string{"completion", "csh"}, "lago-train completion: expected one of bash, zsh, fish", `"csh"`)
	misused(t, []string{"completion"}, "lago-train completion: expected one of bash, zsh, fish")
}
