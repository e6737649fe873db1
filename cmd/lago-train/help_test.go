package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/docs"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train"
)

// everyCommand calls f with the words that name each command, below the program.
func everyCommand(commands []*command, f func(words []string, c *command)) {
	for _, c := range commands {
		f(strings.Fields(c.path)[1:], c)
		everyCommand(c.below, f)
	}
}

// helpOf returns the help of a command, of the program if there are no words, which --help or
// --help-all prints.
func helpOf(t *testing.T, flag string, words ...string) string {
	t.Helper()
	var out bytes.Buffer
	testkit.NoError(t, execute(t.Context(), &out, append(slices.Clone(words), flag)))
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
	everyCommand(newProgram().below, func(words []string, c *command) {
		if len(words) == 1 && !strings.Contains(program, "\n  "+c.name+" ") {
			t.Errorf("%s is not in the help of the program:\n%s", c.name, program)
		}
		short, help := helpOf(t, "--help", words...), helpOf(t, "--help-all", words...)
		testkit.WantText(t, help, c.path+": "+c.usage)
		testkit.WantText(t, short, c.path+": "+c.usage, " --help-all. Documentation: ")
		if lines := strings.Count(short, "\n"); lines >= 40 {
			t.Errorf("%q: %d lines of help:\n%s", words, lines, short)
		}
		_, page, _ := strings.Cut(short, "Documentation: ")
		if _, err := docs.Page(strings.TrimPrefix(strings.TrimSpace(page), "lago-train docs ")); err != nil {
			t.Error(err)
		}
		if c.usage == "" {
			t.Errorf("help.txt has no %q", words)
		}
		if c.name == "fetch" {
			testkit.WantText(t, short, fetch.Networks()...)
			testkit.WantText(t, help, fetch.XianURL, fetch.MetaURL, fetch.WeightsURL("resnet50"))
		}
		for _, s := range c.flags {
			name, group := flagOf(s.Key), s.Scope
			value, usage := describeFlag(s)
			before, again := strings.CutSuffix(usage, ": "+format.List(s.Options, "or"))
			missing := slices.IndexFunc(s.Options, func(word string) bool { return !strings.Contains(before, word) })
			switch there, seen := first[name]; {
			case !strings.Contains(help, dashed(name)):
				t.Errorf("nothing about --%s:\n%s", name, help)
			case s.Short != strings.Contains(short, "\n  "+dashed(name)+" "):
				t.Errorf("--%s: expected in the help of %q: %v\n%s", name, words, s.Short, short)
			case again && missing < 0:
				t.Errorf("%s --%s: lists its values twice: %q", c.name, name, usage)
			case usage == "" || strings.Contains(usage, "`") || (s.Kind() == "boolean") != (value == ""):
				t.Errorf("%s --%s: placeholder %q and text %q", c.name, name, value, usage)
			case value != "" && strings.HasPrefix(strings.ToLower(usage), strings.ToLower(value)+" "):
				t.Errorf("%s --%s: %q repeats the placeholder %s", c.name, name, usage, value)
			case !slices.Contains(flagGroups, group) || seen && c.name != "runs" && there != group:
				t.Errorf("%s --%s: group %s, elsewhere %s", c.name, name, group, there)
			case c.name != "runs":
				first[name] = group
			}
		}
	})
}

var example = regexp.MustCompile(`(?m)^   (lago-train .*)$`)

// Each command has two or three examples, which parse and have flags that --help lists.
func TestExamples(t *testing.T) {
	everyCommand(newProgram().below, func(words []string, c *command) {
		if c.run == nil {
			return // a group of commands
		}
		_, text, _ := strings.Cut(c.about, "Examples:\n")
		examples := example.FindAllStringSubmatch(text, -1)
		if len(examples) > 3 || len(examples) < 2 && c.name != "version" {
			t.Errorf("%q: %d examples, expected two or three", words, len(examples))
		}
		for _, e := range examples {
			if !strings.HasPrefix(e[1], c.path) {
				t.Errorf("%q: the example is of another command: %s", words, e[1])
			}
			for _, word := range strings.Fields(e[1]) {
				if strings.HasPrefix(word, "--") && !c.flag(word).Short {
					t.Errorf("%q: an example has %s, which --help does not list", words, word)
				}
			}
			parses(t, e[1])
		}
	})
	for _, e := range example.FindAllStringSubmatch(newProgram().about, -1) {
		parses(t, e[1])
	}
}

// The commands of the README and the docs: lines of their own, after a prompt or "next:", and words in backquotes.
var documented = regexp.MustCompile("(?m)(?:^ *|^\\$ |^next: |^then: |`)(lago-train [a-z][^`\n]*)")

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
	c, err := parse(newProgram(), strings.Fields(line)[1:]).call(t.Context(), io.Discard)
	if err != nil || c.run == nil && !c.isSet("version") || c.args != nil && c.argument == "" {
		t.Errorf("%s: does not parse: %v", line, err)
	}
}

func TestParse(t *testing.T) {
	for args, want := range map[string]bool{
		"run -h": true, "run -help": true, "--help-all=true run": true, "help": true, "dataset help check": true,
		"run --dataset help": false, "dataset check help": false, "predict --images x -- -h": false,
	} {
		testkit.Equal(t, args+" asks for help", parse(newProgram(), strings.Fields(args)).help, want)
	}
	for _, c := range []struct{ args, path, flags, rest string }{
		{"dataset check cub", "dataset check", "", "cub"},
		{"dataset check cub --data-dir d --json", "dataset check", "--data-dir=d --json", "cub"},
		{"dataset check -- --json", "dataset check", "", "--json"},
		{"dataset check cub --data-dir", "dataset check", "--data-dir", "cub"},
		{"", "", "", ""},
	} {
		l := parse(newProgram(), strings.Fields(c.args))
		if strings.TrimPrefix(l.command.path, usage) != strings.TrimSuffix(" "+c.path, " ") || strings.Join(l.flags, " ") != c.flags || strings.Join(l.args, " ") != c.rest {
			t.Errorf("%s: %+v", c.args, l)
		}
	}
}

func TestComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"data/birds", "elsewhere/bees", "data/b\x1b[31m"} {
		testkit.NoError(t, os.MkdirAll(dir, 0o755))
	}
	testkit.Write(t, "runs/birds-ale-test-seed0", train.ModelFile, "")
	t.Setenv("LAGO_DATA", "")
	for _, c := range []struct{ line, want string }{
		{"sw", "sweep-k"},
		{"dataset c", "check"},
		{"run --method ", "singletons semantic-hard k-soft semantic-soft dap ale eszsl sync sje devise kernel"},
		{"noise --methods k-soft,es", "k-soft,eszsl"},
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
		{"completion ", "bash zsh fish"},
	} {
		var got []string
		for _, candidate := range complete(newProgram(), strings.Split(c.line, " ")) {
			text, _, _ := strings.Cut(candidate, "\t")
			got = append(got, text)
		}
		testkit.Equal(t, c.line, strings.Join(got, " "), c.want)
	}
}

// The pages of the folder docs are in the program, each with the question that it answers.
func TestDocs(t *testing.T) {
	list := succeeds(t, "docs")
	if n := len(docs.Names()); strings.Count(list, "?\n") != n || strings.Count(list, "\n") > 2*n {
		t.Errorf("expected the names of %d pages, each with a short question:\n%s", n, list)
	}
	testkit.WantText(t, succeeds(t, "docs", "docs/evaluation.md"), "# Evaluation\n")
	misused(t, []string{"docs", "evalution"}, "Did you mean evaluation?")
}

func TestHelpThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"--version"}, {"version"}, {"run", "--help"}, {"run", "--help-all"}, {completeCommand, "run", "--"}} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		c := process(t, args...)
		c.Stdout = full
		if err := c.Run(); err == nil || c.ProcessState.ExitCode() != exitFailed {
			t.Errorf("%s: %v, expected exit code %d", args, err, exitFailed)
		}
		testkit.NoError(t, full.Close())
	}
}
