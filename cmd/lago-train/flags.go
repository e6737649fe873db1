package main

import (
	"embed"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
)

// The groups of flags in the help beside the scopes of settings.
const (
	inputGroup   setting.Scope = "input"
	imageGroup   setting.Scope = "images"
	classGroup   setting.Scope = "classes"
	searchGroup  setting.Scope = "search"
	methodGroup  setting.Scope = "methods"
	runGroup     setting.Scope = "execution"
	outputGroup  setting.Scope = "output"
	generalGroup setting.Scope = "general"
)

// flagGroups are the groups in the order of the help.
var flagGroups = []setting.Scope{
	inputGroup, setting.Data, imageGroup, classGroup, methodGroup, searchGroup,
	setting.Protocol, setting.Method, setting.Training, runGroup, outputGroup, generalGroup,
}

// option is a flag that is bound to a setting, as all are but those of package cli.
type option struct {
	*cli.GenericFlag
	setting setting.Setting
}

func (o option) TakesValue() bool { return o.setting.Kind() != "boolean" }

func (o option) GetDefaultText() string { return o.setting.DefaultText() }

// typed is the value of an option as it was typed.
type typed struct {
	text    string
	setting setting.Setting
}

func (t *typed) String() string   { return t.text }
func (t *typed) IsBoolFlag() bool { return t.setting.Kind() == "boolean" }
func (t *typed) Set(text string) error {
	t.text = text
	return t.setting.Parse(text)
}

// flags returns the flags of settings, which get their defaults.
func flags(lists ...setting.List) []cli.Flag {
	var all []cli.Flag
	for _, s := range slices.Concat(lists...) {
		s.Set(s.Default)
		value := &typed{fmt.Sprint(s.Default), s}
		all = append(all, option{&cli.GenericFlag{Name: flagOf(s.Key), Category: string(s.Scope), Usage: s.Help, Value: value}, s})
	}
	return all
}

// flagOf names the flag of a setting.
func flagOf(setting string) string { return strings.ReplaceAll(setting, "_", "-") }

// dashed returns the name of a flag as users type it: -k, --lr.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// findFlag returns the flag that an argument names, nil if there is none.
func findFlag(flags []cli.Flag, arg string) cli.Flag {
	i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), strings.TrimLeft(arg, "-")) })
	if i < 0 {
		return nil
	}
	return flags[i]
}

func hasFlag(c *cli.Command, name string) bool { return findFlag(c.Flags, name) != nil }

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

//go:embed help.txt
var helpText string

// helpFor returns what helpText says that a command is for, in a line and in paragraphs.
func helpFor(command string) (usage, description string) {
	_, text, _ := strings.Cut("\n"+helpText, "\n# "+command+"\n")
	text, _, _ = strings.Cut(text, "\n# ")
	usage, description, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	return usage, description
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
	fmt.Fprintf(&b, "Usage: %s %s\n\n", c.HelpName, what)
	for paragraph := range strings.SplitSeq(strings.TrimSpace(c.Description), "\n\n") {
		if !strings.Contains(paragraph, "\n   ") && !strings.HasPrefix(paragraph, " ") { // examples and layouts stay as they are
			paragraph = wrap(paragraph, 0)
		}
		b.WriteString(paragraph + "\n\n")
	}
	category := "none"
	for _, sub := range subcommands {
		if sub.Category != category {
			category = sub.Category
			fmt.Fprintf(&b, "\n%s:\n", strings.TrimSuffix("Commands, "+category, ", "))
		}
		fmt.Fprintf(&b, "  %-12s %s\n", sub.Name, wrap(sub.Usage, 15))
	}
	groups := map[setting.Scope]string{}
	for _, f := range c.VisibleFlags() {
		groups[groupOf(f)] += flagHelp(f)
	}
	for _, group := range flagGroups {
		if groups[group] != "" {
			fmt.Fprintf(&b, "\nFlags, %s:\n%s", group, groups[group])
		}
	}
	_, err := io.WriteString(w, regexp.MustCompile("\n\n\n+").ReplaceAllString(b.String(), "\n\n"))
	return err
}

// groupOf returns the group of a flag.
func groupOf(f cli.Flag) setting.Scope {
	if o, ok := f.(option); ok {
		return o.setting.Scope
	}
	return generalGroup
}

var placeholder = regexp.MustCompile("^`([^`]+)` ")

// describeFlag returns what a flag takes, "" for a flag without a value, what it is for, and
// its default.
func describeFlag(f cli.Flag) (value, usage, standard string) {
	doc := f.(cli.DocGenerationFlag) // as all are
	usage = doc.GetUsage()
	if m := placeholder.FindStringSubmatch(usage); m != nil {
		value, usage = m[1], strings.TrimPrefix(usage, m[0])
	}
	if doc.TakesValue() {
		standard = doc.GetDefaultText()
	}
	o, ok := f.(option)
	if !ok || o.setting.Options == nil {
		return value, usage, standard
	}
	const short = 24
	words := o.setting.Options
	list := ": " + format.List(words, "or")
	if choice := strings.Join(words, "|"); !o.setting.List && len(choice) <= short {
		return choice, usage, standard
	}
	if value == "" {
		value = "NAME"
	}
	if o.setting.List {
		value += ",..."
		if strings.Contains(usage, words[0]) {
			list = ""
		}
	}
	return value, usage + list, standard
}

// flagHelp is the lines of a flag.
func flagHelp(f cli.Flag) string {
	const indent = 24
	value, usage, standard := describeFlag(f)
	names := slices.SortedFunc(slices.Values(f.Names()), func(a, b string) int { return min(len(a), 2) - min(len(b), 2) })
	for i, name := range names {
		names[i] = dashed(name)
	}
	left := strings.TrimRight("  "+strings.Join(names, ", ")+" "+value, " ")
	if standard != "" {
		usage += " (default: " + standard + ")"
	}
	if len(left) > indent-2 {
		left += "\n" + strings.Repeat(" ", indent)
	}
	return fmt.Sprintf("%-*s%s\n", indent, left, wrap(usage, indent))
}

// wrap breaks text into lines of at most helpWidth characters, the later ones after an
// indentation.
func wrap(text string, indent int) string { return format.Wrap(text, helpWidth, indent) }

// completeCommand is the hidden command that the scripts of all shells call with the words
// of the command line up to the cursor. It prints one candidate per line, for some a tab and
// a description after it, and nothing where file names are to be completed.
const completeCommand = "__complete"

// scripts have no more in them than calls of completeCommand need, so that they fit any
// version of the program.
//
//go:embed completion.bash completion.zsh completion.fish
var scripts embed.FS

var shells = []string{"bash", "zsh", "fish"}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		ArgsUsage: strings.Join(shells, "|"),
		Action: func(c *cli.Context) error {
			shell, err := invalid.OneOf(strings.Join(c.Args().Slice(), " "), shells...)
			if err != nil {
				return usageAt(c.Command.HelpName, err)
			}
			script, err := scripts.ReadFile("completion." + shell)
			if err == nil {
				_, err = os.Stdout.Write(script)
			}
			return err
		},
	}
}

// line is the words of a command line by what they are.
type line struct {
	command           *cli.Command
	name, flags, args []string
	open              cli.Flag // whose value is missing at the end
}

// parse reads the words that follow the program's name.
func parse(app *cli.App, words []string) line {
	l := line{command: &cli.Command{Subcommands: app.Commands, Flags: app.Flags}}
	for i, word := range words {
		switch {
		case l.open != nil:
			l.flags, l.open = append(l.flags, word), nil
		case word == "--":
			l.args = append(l.args, words[i+1:]...)
			return l
		case strings.HasPrefix(word, "-") && word != "-":
			l.flags = append(l.flags, word)
			f, _ := findFlag(l.command.Flags, word).(option) // with = in it, none is found
			if f.GenericFlag != nil && f.TakesValue() {
				l.open = f
			}
		default:
			i := slices.IndexFunc(l.command.Subcommands, func(c *cli.Command) bool { return c.HasName(word) })
			if i < 0 || len(l.args) > 0 {
				l.args = append(l.args, word)
				continue
			}
			l.command = l.command.Subcommands[i]
			l.name = append(l.name, word)
		}
	}
	return l
}

// ordered returns the words with flags before arguments, which is where package cli looks
// for them.
func (l line) ordered() []string {
	if l.args == nil || l.open != nil {
		return slices.Concat(l.name, l.flags)
	}
	return slices.Concat(l.name, l.flags, []string{"--"}, l.args)
}

// complete returns the candidates for the last of the words that follow the program's name.
func complete(app *cli.App, words []string) (candidates []string) {
	if len(words) == 0 {
		return nil
	}
	last := len(words) - 1
	l, current := parse(app, words[:last]), words[last]
	dataDir := ""
	if i := slices.Index(l.flags, "--data-dir"); i >= 0 && i+1 < len(l.flags) {
		dataDir = l.flags[i+1]
	}
	switch {
	case l.open != nil:
		candidates = valuesOf(l.open.(option), current, dataDir)
	case strings.HasPrefix(current, "-"):
		for _, f := range append(l.command.VisibleFlags(), cli.HelpFlag) {
			_, usage, _ := describeFlag(f)
			candidates = append(candidates, dashed(f.Names()[0])+"\t"+usage)
		}
	default:
		for _, c := range l.command.Subcommands {
			candidates = append(candidates, c.Name+"\t"+c.Usage)
		}
		switch of := l.command.ArgsUsage; {
		case strings.HasPrefix(of, "NAME"):
			candidates = datasetNames(dataDir)
		case of == "DIR":
			candidates = runNames()
		case strings.Contains(of, "|"):
			candidates = strings.Split(strings.Replace(of, "NETWORK", strings.Join(fetch.Networks(), "|"), 1), "|")
		}
	}
	return slices.DeleteFunc(candidates, func(c string) bool { return !strings.HasPrefix(c, current) })
}

// valuesOf returns candidates for the value of a flag, of which current is typed.
func valuesOf(f option, current, dataDir string) (values []string) {
	switch {
	case f.Name == "dataset":
		return datasetNames(dataDir)
	case f.Name == "model", f.Name == "dev":
		return runNames()
	case !f.setting.List:
		return slices.Clone(f.setting.Options)
	}
	given := current[:strings.LastIndex(current, ",")+1]
	for _, word := range f.setting.Options {
		if !slices.Contains(strings.Split(given, ","), word) {
			values = append(values, given+word)
		}
	}
	return values
}

// runNames lists what stands for a finished run in ./runs.
func runNames() []string {
	names := []string{latest}
	for _, r := range finishedRuns(defaultRuns) {
		names = append(names, r.name)
	}
	return names
}

func datasetNames(dataDir string) []string {
	names, _ := catalog.Names(catalog.Options{DataDir: dataDir}) // those that the program generates in any case
	return names
}
