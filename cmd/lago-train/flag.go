package main

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
)

func init() { cli.FlagStringer = flagHelp }

// flags returns the flags of settings, which get their defaults.
func flags(settings setting.List) (list []cli.Flag) {
	settings.SetDefaults()
	for _, s := range settings {
		f := &cli.GenericFlag{
			Name: flagOf(s.Key), Category: string(s.Scope), TakesFile: s.Options == nil,
			Value: &flagValue{Setting: s, text: fmt.Sprint(s.Default)},
		}
		if s.Alias != "" {
			f.Aliases = []string{s.Alias}
		}
		list = append(list, f)
	}
	return list
}

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
// urfave/cli repeats what was typed for the other names of the flag. Lists add up.
func (v *flagValue) Set(text string) error {
	switch {
	case v.typed && v.text == text:
	case v.typed && reflect.TypeOf(v.Value()).Kind() != reflect.Slice:
		got := invalid.Quote(v.text) + " and " + invalid.Quote(text)
		v.err = &invalid.Error{Want: "the flag once", Got: got}
	case v.err == nil:
		v.err = v.Parse(text)
	}
	v.text, v.typed = text, true
	return nil
}

// settingOf returns the setting of a flag, as all flags have one.
func settingOf(f cli.Flag) *flagValue { return f.(*cli.GenericFlag).Value.(*flagValue) }

// findFlag returns the setting of the flag that a word names, nil if there is none.
func findFlag(flags []cli.Flag, word string) *flagValue {
	for _, f := range flags {
		if slices.Contains(f.Names(), strings.TrimLeft(word, "-")) {
			return settingOf(f)
		}
	}
	return nil
}

// typed returns the command that was typed with other flags, after its arguments: those that are given as well
// as others, without some.
func typed(c *cli.Context, without string, others ...string) string {
	words := c.Args().Slice()
	for _, f := range c.Command.Flags {
		switch s := settingOf(f); {
		case !s.typed || s.Key == without:
		case s.IsBoolFlag():
			words = append(words, dashed(s.Key))
		default:
			words = append(words, dashed(s.Key), s.text)
		}
	}
	return c.Command.HelpName + " " + format.ShellLine(append(words, others...)...)
}

func flagOf(setting string) string { return strings.ReplaceAll(setting, "_", "-") }

// dashed returns the name of a flag or of its setting as users type it: -k, --data-dir.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + flagOf(name)
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
