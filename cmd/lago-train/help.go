package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

const helpWidth = 100

// printHelp writes the help of a command: what it does, examples, and its flags by group
// with their defaults, in lines of at most helpWidth characters.
func printHelp(w io.Writer, c *cli.Command) error {
	var b strings.Builder
	name := "lago-train " + strings.TrimPrefix(c.HelpName, "lago-train ")
	fmt.Fprintf(&b, "%s: %s\n\n", name, c.Usage)
	what := strings.TrimSpace("[flags] " + c.ArgsUsage)
	subcommands := slices.DeleteFunc(c.VisibleCommands(), func(sub *cli.Command) bool { return sub.Name == "help" })
	if len(subcommands) > 0 {
		what = "COMMAND [flags]"
	}
	fmt.Fprintf(&b, "Usage: %s %s\n", name, what)
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
		if i == 0 {
			b.WriteString("Commands:\n")
		}
		fmt.Fprintf(&b, "  %-14s %s\n", sub.Name, sub.Usage)
	}
	groups := map[string][]string{}
	for _, f := range c.VisibleFlags() {
		group := "general"
		if in, ok := f.(cli.CategorizableFlag); ok && in.GetCategory() != "" {
			group = in.GetCategory()
		}
		groups[group] = append(groups[group], flagHelp(f))
	}
	names := slices.Sorted(maps.Keys(groups))
	slices.SortStableFunc(names, func(x, y string) int {
		return cmp.Compare(slices.Index(lastGroups, x), slices.Index(lastGroups, y))
	})
	for _, group := range names {
		fmt.Fprintf(&b, "\nFlags, %s:\n%s", group, strings.Join(groups[group], ""))
	}
	_, err := io.WriteString(w, strings.ReplaceAll(b.String(), "\n\n\n", "\n\n"))
	return err
}

// lastGroups come after all others.
var lastGroups = []string{"data", "output", "general", "log"}

var placeholder = regexp.MustCompile("`([^`]+)`")

// flagHelp is the lines of a flag.
func flagHelp(f cli.Flag) string {
	const indent = 24
	var names []string
	for _, name := range f.Names() {
		names = append(names, strings.Repeat("-", min(len(name), 2))+name)
	}
	left := "  " + strings.Join(names, ", ")
	var usage, standard string
	if doc, ok := f.(cli.DocGenerationFlag); ok {
		usage, standard = doc.GetUsage(), doc.GetDefaultText()
	}
	if _, isBool := f.(*cli.BoolFlag); isBool {
		standard = ""
	} else if m := placeholder.FindStringSubmatch(usage); m != nil {
		left += " " + m[1]
	}
	// In the text the placeholder is a word: "weight of ...".
	usage = placeholder.ReplaceAllStringFunc(usage, func(quoted string) string {
		word := strings.Trim(quoted, "`")
		if len(word) < 2 || strings.ContainsFunc(word, func(r rune) bool { return r < 'A' || r > 'Z' }) {
			return word
		}
		if word == "DIR" {
			return "folder"
		}
		return strings.ToLower(word)
	})
	if standard != "" && !strings.Contains(usage, "(default") {
		usage += " (default: " + strings.ReplaceAll(standard, `"`, "") + ")"
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
