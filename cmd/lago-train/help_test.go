package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/internal/testkit"
)

// everyCommand calls f with the words that name each command, below the program.
func everyCommand(commands []*cli.Command, above []string, f func(words []string, c *cli.Command)) {
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		words := append(append([]string{}, above...), c.Name)
		f(words, c)
		everyCommand(c.Subcommands, words, f)
	}
}

// helpOf returns the help of a command, of the program if there are no words.
func helpOf(t *testing.T, words ...string) string {
	t.Helper()
	var out bytes.Buffer
	app := newApp()
	app.Writer = &out
	if err := app.Run(append(append([]string{app.Name}, words...), "--help")); err != nil {
		t.Fatal(err)
	}
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

func TestHelpListsEachFlag(t *testing.T) {
	help := helpOf(t)
	everyCommand(newApp().Commands, nil, func(words []string, c *cli.Command) {
		if len(words) == 1 && !strings.Contains(help, "\n  "+c.Name+" ") {
			t.Errorf("%s is not in the help of the program:\n%s", c.Name, help)
		}
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			help := helpOf(t, words...)
			if !strings.HasPrefix(help, "lago-train "+strings.Join(words, " ")+": "+c.Usage) {
				t.Errorf("expected the name and what it is for:\n%s", help)
			}
			for _, flag := range c.VisibleFlags() {
				for _, name := range flag.Names() {
					if !strings.Contains(help, dashed(name)) {
						t.Errorf("nothing about --%s:\n%s", name, help)
					}
				}
			}
		})
	})
}

// Every flag says what it is for without repeating its placeholder, in one of the groups, and
// a flag of several commands is in the same group with the same placeholder. In the list of
// runs the flags are filters.
func TestFlagsAreDescribedAlike(t *testing.T) {
	type place struct{ group, value string }
	first := map[string]place{}
	everyCommand(newApp().Commands, nil, func(words []string, c *cli.Command) {
		for _, f := range c.Flags {
			name := f.Names()[0]
			value, usage, _ := describeFlag(f)
			_, isBool := f.(*cli.BoolFlag)
			group := groupOf(f)
			switch {
			case usage == "" || strings.Contains(usage, "`") || isBool != (value == ""):
				t.Errorf("%s --%s: placeholder %q and text %q", c.Name, name, value, usage)
			case strings.HasPrefix(strings.ToLower(usage), strings.ToLower(value)+" ") && value != "":
				t.Errorf("%s --%s: %q repeats the placeholder %s", c.Name, name, usage, value)
			case !slices.Contains(flagGroups, group):
				t.Errorf("%s --%s: the group %q is not one of %q", c.Name, name, group, flagGroups)
			}
			here := place{group, value}
			if _, isChoice := f.(choiceFlag); isChoice {
				here.value = "" // its words
			}
			if there, seen := first[name]; !seen && c.Name != "runs" {
				first[name] = here
			} else if seen && c.Name != "runs" && there.group != here.group {
				t.Errorf("%s --%s: group %s, elsewhere %s", c.Name, name, here.group, there.group)
			}
		}
	})
}

func TestUsageOfACommandWithCommands(t *testing.T) {
	for name, want := range map[string]string{"dataset": "dataset COMMAND [flags]\n", "runs": "runs [COMMAND] [flags]\n"} {
		if help := helpOf(t, name); !strings.Contains(help, "Usage: lago-train "+want) {
			t.Errorf("expected %q:\n%s", want, help)
		}
	}
}

var example = regexp.MustCompile(`(?m)^   (lago-train .*)$`)

// Each command has two or three examples, which parse.
func TestExamples(t *testing.T) {
	everyCommand(newApp().Commands, nil, func(words []string, c *cli.Command) {
		if c.Subcommands != nil && len(c.Flags) == 0 {
			return // a group of commands
		}
		_, text, _ := strings.Cut(c.Description, "Examples:\n")
		examples := example.FindAllStringSubmatch(text, -1)
		if len(examples) < 2 || len(examples) > 3 {
			t.Errorf("%q: %d examples, expected two or three", words, len(examples))
		}
		for _, e := range examples {
			if !strings.HasPrefix(e[1], "lago-train "+strings.Join(words, " ")) {
				t.Errorf("%q: the example is of another command: %s", words, e[1])
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
		c.Before = setChoices
		c.Action = func(ctx *cli.Context) error {
			ran = true
			if ctx.NArg() > 0 && c.ArgsUsage == "" {
				t.Errorf("%s: argument %s", line, ctx.Args().First())
			}
			list := general()
			for _, g := range settingsGiven(ctx) {
				s, err := list.Find(g.Key)
				if err == nil {
					err = s.Parse(g.Text)
				}
				if err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
			return nil
		}
	})
	app.Writer = new(bytes.Buffer)
	if err := app.Run(flagsFirst(app, strings.Fields(line))); err != nil || !ran {
		t.Errorf("%s: does not parse: %v", line, err)
	}
}

func TestFlagsFirst(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"dataset info cub", "dataset info -- cub"},
		{"dataset info cub --data-dir d --json", "dataset info --data-dir d --json -- cub"},
		{"dataset info --json cub --data-dir=d", "dataset info --json --data-dir=d -- cub"},
		{"dataset info --data-dir d cub", "dataset info --data-dir d -- cub"},
		{"dataset info cub awa2", "dataset info -- cub awa2"},
		{"dataset info -- --json", "dataset info -- --json"},
		{"dataset info --json", "dataset info --json"},
		{"dataset info cub --data-dir", "dataset info --data-dir"},
		{"dataset info cub --unknown x", "dataset info --unknown -- cub x"},
		{"run --epochs 2 cub", "run --epochs 2 cub"}, // takes no argument
		{"dataset", "dataset"},
		{"nonsense cub --json", "nonsense cub --json"},
		{"", ""},
	} {
		got := flagsFirst(newApp(), append([]string{"lago-train"}, strings.Fields(c.args)...))
		if strings.Join(got[1:], " ") != c.want {
			t.Errorf("%s: %q, expected %s", c.args, got[1:], c.want)
		}
	}
}

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
	for _, line := range strings.Split(testkit.Read(t, page), "\n") {
		if line, ok := strings.CutPrefix(line, "$ "); ok {
			line, _, _ = strings.Cut(line, " | ")
			parses(t, line)
			commands++
		}
	}
	if commands < 15 {
		t.Errorf("the page has %d commands:\n%s", commands, testkit.Read(t, page))
	}
}
