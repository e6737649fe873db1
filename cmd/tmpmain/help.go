package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/internal/format"
)

const helpWidth = 100

// printHelp writes the help of a command: what it does, examples, and its flags by group
// with their defaults, in lines of at most helpWidth characters.
func printHelp(w io.Writer, c *cli.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", wrap(c.HelpName+": "+c.Usage, 0))
	what := strings.TrimSpace("[flags] " + c.ArgsUsage)
	subcommands := slices.DeleteFunc(c.VisibleCommands(), func(sub *cli.Command) bool { return sub.Name == "help" })
	if len(subcommands) > 0 {
		what = "COMMAND [flags]"
		if hasFlag(c, "quiet") { // as every command that acts itself
			what = "[COMMAND] [flags]"
		}
	}
	fmt.Fprintf(&b, "Usage: %s %s\n", c.HelpName, what)
	if c.Description != "" {
		b.WriteString("\n")
		for paragraph := range strings.SplitSeq(strings.TrimSpace(c.Description), "\n\n") {
			if strings.Contains(paragraph, "\n   ") || strings.HasPrefix(paragraph, " ") { // examples and layouts stay as they are
				b.WriteString(paragraph + "\n\n")
				continue
			}
			b.WriteString(wrap(paragraph, 0) + "\n\n")
		}
	}
	for i, sub := range subcommands {
		switch heading := "Commands, " + sub.Category; {
		case sub.Category == "" && i == 0:
			b.WriteString("\nCommands:\n")
		case sub.Category != "" && (i == 0 || subcommands[i-1].Category != sub.Category):
			fmt.Fprintf(&b, "\n%s:\n", heading)
		}
		fmt.Fprintf(&b, "  %-12s %s\n", sub.Name, strings.TrimLeft(wrap(sub.Usage, 15), " "))
	}
	groups := map[string]string{}
	for _, f := range c.VisibleFlags() {
		group := groupOf(f)
		groups[group] += flagHelp(f)
	}
	for _, group := range flagGroups {
		if groups[group] != "" {
			fmt.Fprintf(&b, "\nFlags, %s:\n%s", group, groups[group])
		}
	}
	_, err := io.WriteString(w, strings.ReplaceAll(b.String(), "\n\n\n", "\n\n"))
	return err
}

// groupOf returns the group of a flag.
func groupOf(f cli.Flag) string {
	in, ok := f.(cli.CategorizableFlag)
	if !ok {
		return generalGroup
	}
	return cmp.Or(in.GetCategory(), generalGroup)
}

var placeholder = regexp.MustCompile("^`([^`]+)` ")

// describeFlag returns what a flag takes, "" for a flag without a value, what it is for, and
// its default.
func describeFlag(f cli.Flag) (value, usage, standard string) {
	if doc, ok := f.(cli.DocGenerationFlag); ok {
		usage, standard = doc.GetUsage(), strings.ReplaceAll(doc.GetDefaultText(), `"`, "")
	}
	if m := placeholder.FindStringSubmatch(usage); m != nil {
		value, usage = m[1], strings.TrimPrefix(usage, m[0])
	}
	const short = 24
	switch f := f.(type) {
	case *cli.BoolFlag:
		standard = ""
	case *cli.Float64SliceFlag:
		standard = strings.ReplaceAll(standard, ", ", ",") // as it is typed
	case choiceFlag:
		if value = strings.Join(f.words, "|"); len(value) > short {
			value = "NAME"
			usage += ": " + format.List(f.words, "or")
		}
	case choicesFlag:
		value = cmp.Or(value, "NAME") + ",..."
		if f.DefaultText == "" {
			standard = strings.ReplaceAll(standard, ", ", ",")
		}
		if !strings.Contains(usage, f.words[0]) {
			usage += ": " + format.List(f.words, "or")
		}
	}
	return value, usage, standard
}

// flagHelp is the lines of a flag.
func flagHelp(f cli.Flag) string {
	const indent = 24
	value, usage, standard := describeFlag(f)
	var names []string
	for _, name := range f.Names() {
		if len(name) == 1 {
			names = append([]string{dashed(name)}, names...)
		} else {
			names = append(names, dashed(name))
		}
	}
	left := strings.TrimRight("  "+strings.Join(names, ", ")+" "+value, " ")
	if standard != "" {
		usage += " (default: " + standard + ")"
	}
	if len(left) > indent-2 {
		left += "\n" + strings.Repeat(" ", indent)
	}
	return fmt.Sprintf("%-*s%s\n", indent, left, strings.TrimLeft(wrap(usage, indent), " "))
}

// wrap breaks text into lines of at most helpWidth characters after an indentation.
func wrap(text string, indent int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		if column > 0 && indent+column+1+len([]rune(word)) > helpWidth {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = 0
		}
		if column > 0 {
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += len([]rune(word))
	}
	return b.String()
}
