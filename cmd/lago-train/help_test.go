package main

import (
	"bytes"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/docs"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/testkit"
)

// everyCommand calls f with the words that name each command of the program.
func everyCommand(f func(words []string, c *cli.Command)) {
	var visit func(above []string, commands []*cli.Command)
	visit = func(above []string, commands []*cli.Command) {
		for _, c := range commands {
			words := append(slices.Clone(above), c.Name)
			f(words, c)
			visit(words, c.Subcommands)
		}
	}
	visit(nil, newApp(io.Discard, true).Commands)
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

// The help of each command is short, and names the common flags, --help-all and a page that exists. Every flag says what it is for without repeating its placeholder, and a flag of several commands is
// in the same group, but for the filters in the list of runs.
func TestHelp(t *testing.T) {
	testkit.WantText(t, helpOf(t, "--help-all"), "soft OR", "--version")
	first := map[string]setting.Scope{}
	everyCommand(func(words []string, c *cli.Command) {
		short, help := helpOf(t, "--help", words...), helpOf(t, "--help-all", words...)
		testkit.WantText(t, short, "lago-train "+strings.Join(words, " ")+": "+c.Usage, "  --help-all  ")
		if lines := strings.Count(short, "\n"); lines >= 42 || c.Usage == "" {
			t.Errorf("%q: %d lines of help:\n%s", words, lines, short)
		}
		_, page, _ := strings.Cut(short, "Documentation: lago-train docs ")
		page, _, _ = strings.Cut(page, "\n")
		testkit.Equal(t, page+" is a page", slices.Contains(docs.Names(), page), true)
		for _, f := range c.Flags {
			s := settingOf(f)
			value, usage := describeFlag(s.Setting)
			switch group, seen := first[s.Key]; {
			case !strings.Contains(help, dashed(flagOf(s.Key))):
				t.Errorf("%q: nothing about %s:\n%s", words, s.Key, help)
			case s.Short != strings.Contains(short, "  "+dashed(flagOf(s.Key))+" ") && len(s.Alias) != 1:
				t.Errorf("%q %s: expected in the short help: %v\n%s", words, s.Key, s.Short, short)
			case usage == "" || strings.Contains(usage, "`") || s.IsBoolFlag() != (value == ""):
				t.Errorf("%q %s: placeholder %q and text %q", words, s.Key, value, usage)
			case seen && c.Name != "runs" && s.Scope != group:
				t.Errorf("%q %s: group %s, elsewhere %s", words, s.Key, s.Scope, group)
			case c.Name != "runs":
				first[s.Key] = s.Scope
			}
		}
	})
	networks := helpOf(t, "--help-all", "dataset", "fetch")
	testkit.WantText(t, networks, append(fetch.Networks(), fetch.XianURL, fetch.MetaURL, fetch.WeightsURL("resnet50"))...)
}

var example = regexp.MustCompile(`(?m)^   (lago-train .*)$`)

// Each command has two or three examples, which parse and have flags that --help lists.
func TestExamples(t *testing.T) {
	everyCommand(func(words []string, c *cli.Command) {
		if c.Subcommands != nil {
			return
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
				if strings.HasPrefix(word, "--") && !findFlag(c.Flags, word).Short {
					t.Errorf("%q: an example has %s, which --help does not list", words, word)
				}
			}
			parses(t, e[1])
		}
	})
	for _, e := range example.FindAllStringSubmatch(helpOf(t, "--help"), -1) {
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
	app := newApp(io.Discard, false)
	ran := false
	var replace func(commands []*cli.Command)
	replace = func(commands []*cli.Command) {
		for _, c := range commands {
			if replace(c.Subcommands); c.Subcommands == nil {
				c.Before, c.Action = checkLine, func(*cli.Context) error { ran = true; return nil }
			}
		}
	}
	replace(app.Commands)
	words := strings.Fields(line)
	err := app.Run(append(words[:1], ordered(app, words[1:])...))
	if err != nil || !ran && !slices.ContainsFunc(words, asksForHelp) && !slices.Contains(words, "--version") {
		t.Errorf("%s: does not parse: %v", line, err)
	}
}

func TestOrdered(t *testing.T) {
	for line, want := range map[string]string{
		"": "--", "run": "run --", "run --seeds 3 -q": "run --seeds 3 -q --",
		"dataset check cub --data-dir d --json":     "dataset check --data-dir d --json -- cub",
		"dataset check -- --json":                   "dataset check -- --json",
		"dataset check cub --data-dir":              "dataset check --data-dir",
		"dataset check help":                        "dataset check -- help",
		"run --seeds 3 -h":                          "run --help",
		"dataset help check":                        "dataset check --help",
		"help":                                      "--help",
		"rnu --seeds 3":                             "-- rnu 3",
		"dataset fetsh --help":                      "dataset -- fetsh",
		"predict --features - --help=false --adapt": "predict --features - --help=false --adapt --",
	} {
		got := ordered(newApp(io.Discard, false), strings.Fields(line))
		testkit.Equal(t, line, strings.Join(got, " "), want)
	}
}

// A line that ends in the flag of the shells' scripts prints names, and runs nothing.
func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"se": "search", "dataset": "check", "dataset check": "", "run --seeds 3 --pat": "--patience", "docs --": "--help-all",
	} {
		testkit.WantText(t, succeeds(t, append(strings.Fields(line), "--generate-bash-completion")...), want)
	}
	testkit.WantText(t, succeeds(t, "completion", "bash"), "lago-train")
	misused(t, []string{"completion", "csh"}, "lago-train completion: expected one of bash, zsh, fish", `"csh"`)
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
