package main

import (
	"embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/train"
)

// The groups of flags in the help beside the scopes of settings.
const (
	inputGroup   setting.Scope = "input"
	imageGroup   setting.Scope = "images"
	classGroup                 = setting.Classes
	searchGroup                = setting.Searching
	methodGroup                = setting.Methods
	runGroup     setting.Scope = "execution"
	outputGroup                = setting.Output
	generalGroup setting.Scope = "general"
)

// flagGroups are the groups in the order of the help.
var flagGroups = []setting.Scope{
	inputGroup, setting.Data, imageGroup, classGroup, methodGroup, searchGroup,
	setting.Protocol, setting.Method, setting.Training, runGroup, outputGroup, generalGroup,
}

// option is a flag that is bound to a setting, as all are.
type option struct {
	*cli.GenericFlag
	setting setting.Setting
}

func (o option) TakesValue() bool { return o.setting.Kind() != "boolean" }

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
		f := &cli.GenericFlag{Name: flagOf(s.Key), Usage: s.Help, Value: value}
		if s.Alias != "" {
			f.Aliases = []string{s.Alias}
		}
		all = append(all, option{f, s})
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

// findFlag returns the flag that an argument names, whose GenericFlag is nil if there is none.
func findFlag(flags []cli.Flag, arg string) (o option) {
	i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), strings.TrimLeft(arg, "-")) })
	if i >= 0 {
		o = flags[i].(option)
	}
	return o
}

func hasFlag(c *cli.Command, name string) bool { return findFlag(c.Flags, name).GenericFlag != nil }

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

// checkBeside returns an error for the first flag that is set beside one that it excludes, or without
// one that it needs.
func checkBeside(c *cli.Context) error {
	for _, f := range c.Command.Flags {
		s := f.(option).setting
		err := excludes(c, flagOf(s.Key), strings.Split(flagOf(strings.Join(s.Excluded, ",")), ",")...)
		if err == nil && s.Needed != "" {
			err = requires(c, flagOf(s.Needed), flagOf(s.Key))
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	help, helpAll     bool
	open              option // whose value is missing at the end, if its GenericFlag is not nil
}

// parse reads the words that follow the program's name.
func parse(app *cli.App, words []string) line {
	l := line{command: rootOf(app)}
	for i, word := range words {
		switch {
		case l.open.GenericFlag != nil:
			l.flags, l.open = append(l.flags, word), option{}
		case word == "--":
			l.args = append(l.args, words[i+1:]...)
			return l
		case strings.HasPrefix(word, "-") && word != "-":
			l.flags = append(l.flags, word)
			name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
			l.helpAll = l.helpAll || name == "help-all"
			l.help = l.help || l.helpAll || name == "help" || name == "h"
			if f := findFlag(l.command.Flags, word); f.GenericFlag != nil && f.TakesValue() { // with = in it, none is found
				l.open = f
			}
		case word == "help" && l.command.Subcommands != nil:
			l.help = true
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
	if l.args == nil || l.open.GenericFlag != nil {
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
	case l.open.GenericFlag != nil:
		candidates = valuesOf(l.open, current, dataDir)
	case strings.HasPrefix(current, "-"):
		for _, f := range l.command.Flags {
			_, usage := describeFlag(f.(option))
			candidates = append(candidates, dashed(f.Names()[0])+"\t"+usage)
		}
	default:
		for _, c := range l.command.Subcommands {
			candidates = append(candidates, c.Name+"\t"+c.Usage)
		}
		switch of := l.command.ArgsUsage; {
		case strings.HasPrefix(of, "NAME"):
			candidates = datasetNames(dataDir)
		case of == "RUN":
			candidates = append([]string{latest}, runNames(train.ModelFile)...)
		case of == "RUN...":
			candidates = runNames(train.TrialFile)
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
		return append([]string{latest}, runNames(train.ModelFile)...)
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

// runNames lists the runs in ./runs that have a file.
func runNames(file string) (names []string) {
	for _, r := range runsWith(file, defaultRuns) {
		names = append(names, r.name)
	}
	return names
}

func datasetNames(dataDir string) []string {
	names, _ := catalog.Names(catalog.Options{DataDir: dataDir}) // those that the program generates in any case
	return names
}
