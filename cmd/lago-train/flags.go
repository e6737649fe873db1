package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
)

// The groups of flags in the help, which lists them in this order.
const (
	inputGroup   = "input"
	dataGroup    = string(setting.Data)
	imageGroup   = "images"
	classGroup   = "classes"
	searchGroup  = "search"
	methodGroup  = "methods"
	runGroup     = "execution"
	outputGroup  = "output"
	generalGroup = "general"
)

var flagGroups = []string{
	inputGroup, dataGroup, imageGroup, classGroup, methodGroup, searchGroup,
	string(setting.Protocol), string(setting.Method), string(setting.Training), runGroup, outputGroup, generalGroup,
}

// choiceFlag is a flag with one of several words or, for a list, several of them, separated by
// commas.
type choiceFlag struct {
	*cli.GenericFlag
	words []string
	list  bool
}

// chosen is the value of a choiceFlag, spelt as in the list of words.
type chosen struct {
	text  string
	words []string
	list  bool
	set   func(words []string)
	given bool
}

func (c *chosen) String() string { return c.text }

func (c *chosen) Set(typed string) error {
	given := []string{typed}
	if c.list {
		given = strings.Split(typed, ",")
	}
	for i, word := range given {
		var err error
		if given[i], err = invalid.OneOf(strings.TrimSpace(word), c.words...); err != nil {
			return err
		}
	}
	if c.list && c.given { // the flag is repeated
		given = append(strings.Split(c.text, ","), given...)
	}
	c.text, c.given = strings.Join(given, ","), true
	c.set(given)
	return nil
}

// choice returns a choiceFlag with a default.
func choice[T ~string](to *T, name, group, usage string, standard T, words ...T) choiceFlag {
	f := optional(to, name, group, usage, "", words...)
	f.Value.(*chosen).text, *to = string(standard), standard
	return f
}

// optional returns a choiceFlag without a default but with a description of it.
func optional[T ~string](to *T, name, group, usage, standard string, words ...T) choiceFlag {
	value := &chosen{words: format.Strings(words), set: func(words []string) { *to = T(words[0]) }}
	return choiceFlag{&cli.GenericFlag{Name: name, Category: group, Usage: usage, DefaultText: standard, Value: value}, value.words, false}
}

// choices returns the choiceFlag of a list.
func choices[T ~string](to *[]T, name, group, usage string, standard []T, words ...T) choiceFlag {
	*to = standard
	value := &chosen{text: strings.Join(format.Strings(standard), ","), words: format.Strings(words), list: true}
	value.set = func(words []string) {
		*to = nil
		for _, w := range words {
			*to = append(*to, T(w))
		}
	}
	return choiceFlag{&cli.GenericFlag{Name: name, Category: group, Usage: usage, Value: value}, value.words, true}
}

// atLeast refuses smaller values of a flag.
func atLeast(least int, f *cli.IntFlag) *cli.IntFlag {
	f.Action = func(_ *cli.Context, n int) error {
		if n < least {
			return wrong(dashed(f.Name), fmt.Sprintf("at least %d", least), strconv.Itoa(n))
		}
		return nil
	}
	return f
}

// wrong is the error of a command line.
func wrong(where, want, got string) error {
	return &invalid.Error{Where: where, Want: want, Got: got, Usage: true}
}

// atFlag adds a flag as the place of an error.
func atFlag(name string, err error) error { return usageAt(dashed(name), err) }

// usageAt adds a place in the command line to an error.
func usageAt(where string, err error) error {
	err = invalid.At(where, err)
	if e, ok := err.(*invalid.Error); ok {
		e.Usage = true
	}
	return err
}

// findFlag returns the flag that an argument names, nil if there is none.
func findFlag(flags []cli.Flag, arg string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), strings.TrimLeft(arg, "-")) {
			return f
		}
	}
	return nil
}

func hasFlag(c *cli.Command, name string) bool { return findFlag(c.Flags, name) != nil }

// excludes returns an error for the first of the flags that is set beside another one.
func excludes(c *cli.Context, other string, flags ...string) error {
	for _, name := range flags {
		if c.IsSet(other) && c.IsSet(name) {
			return wrong(dashed(name), "no "+dashed(name)+" beside "+dashed(other), "")
		}
	}
	return nil
}

// requires returns an error for the first of the flags that is set without another one.
func requires(c *cli.Context, other string, flags ...string) error {
	for _, name := range flags {
		if !c.IsSet(other) && c.IsSet(name) {
			return wrong(dashed(name), dashed(other)+" beside it", "")
		}
	}
	return nil
}

// without returns flags but those of some names.
func without(flags []cli.Flag, names ...string) []cli.Flag {
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { return slices.Contains(names, f.Names()[0]) })
}

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
		if f.list {
			value = cmp.Or(value, "NAME") + ",..."
			if !strings.Contains(usage, f.words[0]) {
				usage += ": " + format.List(f.words, "or")
			}
		} else if value = strings.Join(f.words, "|"); len(value) > short {
			value = "NAME"
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
