package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
)

// helpWidth is the number of columns of the help.
const helpWidth = 100

func init() { cli.FlagStringer = flagHelp }

// flags returns the flags of settings, which get their defaults.
func flags(settings setting.List) []cli.Flag {
	settings.SetDefaults()
	list := make([]cli.Flag, len(settings))
	for i, s := range settings {
		list[i] = newFlag(s)
	}
	return list
}

func newFlag(s setting.Setting) cli.Flag {
	f := &cli.GenericFlag{
		Name: flagOf(s.Key), Category: string(s.Scope), Value: &flagValue{Setting: s, text: fmt.Sprint(s.Default)},
		TakesFile: s.Options == nil,
	}
	_, f.Usage = describeFlag(s)
	if s.Alias != "" {
		f.Aliases = []string{s.Alias}
	}
	if s.Kind() == "boolean" {
		return switchFlag{f}
	}
	return f
}

// switchFlag is a flag without a value.
type switchFlag struct{ *cli.GenericFlag }

func (switchFlag) TakesValue() bool { return false }

// flagValue is the value of a flag.
type flagValue struct {
	setting.Setting
	text  string // as typed, or the default
	typed bool
	err   error // of the text
}

func (v *flagValue) String() string { return v.text }

func (v *flagValue) IsBoolFlag() bool { return v.Kind() == "boolean" }

// Set implements flag.Value. Errors are kept for checkFlags, since package flag would flatten them into text.
// urfave/cli repeats what was typed for the other names of the flag.
func (v *flagValue) Set(text string) error {
	if v.err == nil && !(v.typed && v.text == text) {
		v.err = v.Parse(text)
	}
	v.text, v.typed = text, true
	return nil
}

// settingOf returns the setting of a flag, as all flags have one.
func settingOf(f cli.Flag) *flagValue { return genericOf(f).Value.(*flagValue) }

func genericOf(f cli.Flag) *cli.GenericFlag {
	if s, ok := f.(switchFlag); ok {
		return s.GenericFlag
	}
	return f.(*cli.GenericFlag)
}

// findFlag returns the setting of the flag that a word names, nil if the command has none.
func findFlag(flags []cli.Flag, word string) *flagValue {
	i := slices.IndexFunc(flags, func(f cli.Flag) bool {
		return slices.Contains(f.Names(), strings.TrimLeft(word, "-"))
	})
	if i < 0 {
		return nil
	}
	return settingOf(flags[i])
}

func flagOf(setting string) string { return strings.ReplaceAll(setting, "_", "-") }

// dashed returns the name of a flag or of its setting as users type it: -k, --data-dir.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + flagOf(name)
}

// hideRareFlags leaves the common flags in the help, in their order and not by category.
func hideRareFlags(flags []cli.Flag) {
	for _, f := range flags {
		g := genericOf(f)
		g.Category, g.Hidden = "", !settingOf(f).Short
	}
}

var placeholder = regexp.MustCompile("^`([^`]+)` ")

// describeFlag returns what a flag takes, "" for a flag without a value, and what it is for.
func describeFlag(s setting.Setting) (value, usage string) {
	usage = s.Help
	if m := placeholder.FindStringSubmatch(usage); m != nil {
		value, usage = m[1], strings.TrimPrefix(usage, m[0])
	}
	if s.Options == nil {
		return value, usage
	}
	if choice := strings.Join(s.Options, "|"); !s.List && len(choice) <= 24 {
		return choice, usage
	}
	if slices.ContainsFunc(s.Options, func(word string) bool { return !strings.Contains(usage, word) }) {
		usage += ": " + format.List(s.Options, "or")
	}
	value = cmp.Or(value, "NAME")
	if s.List {
		value += ",..."
	}
	return value, usage
}

// flagHelp is the lines of a flag in the help.
func flagHelp(f cli.Flag) string {
	const indent = 26
	s := settingOf(f)
	value, usage := describeFlag(s.Setting)
	left := strings.TrimRight("  "+dashed(s.Key)+" "+value, " ")
	if len(s.Alias) == 1 { // others are names of earlier versions
		left = "  " + dashed(s.Alias) + "," + left[1:]
	}
	if standard := s.DefaultText(); s.Kind() != "boolean" && standard != "" {
		usage += " (default: " + standard + ")"
	}
	if len(left) > indent-2 {
		left += "\n" + strings.Repeat(" ", indent)
	}
	return fmt.Sprintf("%-*s%s\n", indent, left, format.Wrap(usage, helpWidth, indent))
}
