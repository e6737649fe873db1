package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// everyCommand calls f with the words that name each command, below the program.
func everyCommand(commands []*cli.Command, above []string, f func(words []string, c *cli.Command)) {
	for _, c := range commands {
		words := append(append([]string{}, above...), c.Name)
		f(words, c)
		everyCommand(c.Subcommands, words, f)
	}
}

func TestHelpOfEachCommandTellsItsFlags(t *testing.T) {
	everyCommand(newApp().Commands, nil, func(words []string, c *cli.Command) {
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			var out bytes.Buffer
			app := newApp()
			app.Writer = &out
			if err := app.Run(append(append([]string{app.Name}, words...), "--help")); err != nil {
				t.Fatal(err)
			}
			help := out.String()
			if !strings.Contains(help, c.Usage) || !strings.Contains(help, strings.Join(words, " ")) {
				t.Errorf("expected the name and what it is for:\n%s", help)
			}
			for _, flag := range c.VisibleFlags() {
				for _, name := range flag.Names() {
					if !strings.Contains(help, "-"+name) {
						t.Errorf("nothing about --%s:\n%s", name, help)
					}
				}
				if f, ok := flag.(cli.DocGenerationFlag); ok && f.GetUsage() == "" {
					t.Errorf("nothing of what --%s is for", flag.Names()[0])
				}
			}
			for line := range strings.Lines(help) {
				if strings.Count(line, "(default:") > 1 {
					t.Errorf("two defaults: %s", line)
				}
			}
		})
	})
}

func TestEachCommandThatActsHasFlagsOfTheLog(t *testing.T) {
	everyCommand(newApp().Commands, nil, func(words []string, c *cli.Command) {
		acts := c.Subcommands == nil || len(c.Flags) > 0
		if has := strings.Contains(flagNames(c), " log-format "); acts && !has {
			t.Errorf("%s: expected --log-format, found %s", strings.Join(words, " "), flagNames(c))
		}
	})
}

func flagNames(c *cli.Command) string {
	names := " "
	for _, f := range c.Flags {
		names += strings.Join(f.Names(), " ") + " "
	}
	return names
}
