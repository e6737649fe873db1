package main

import (
	"cmp"
	"context"
	_ "embed" // for removedText
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
)

// What urfave/cli lacks: flags after arguments, --help-all, the nearest names in errors, and exit codes.

// ordered returns the words of a command line in the order in which urfave/cli reads them: commands, flags
// and arguments. Where help is asked for, it is --help alone.
func ordered(app *cli.App, words []string) []string {
	commands, known := app.Commands, app.Flags
	var path, typed, args []string
	helped := false
	for i := 0; i < len(words); i++ {
		word := words[i]
		c := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == word })
		switch {
		case word == "--":
			args = append(args, words[i+1:]...)
			i = len(words)
		case strings.HasPrefix(word, "-") && word != "-":
			typed = append(typed, word)
			helped = helped || asksForHelp(word)
			if f := findFlag(known, word); f != nil && !f.IsBoolFlag() { // its value follows
				if i++; i == len(words) {
					return append(path, typed...)
				}
				typed = append(typed, words[i])
			}
		case args == nil && c >= 0:
			path = append(path, word)
			commands, known = commands[c].Subcommands, commands[c].Flags
		case args == nil && commands != nil && word == "help":
			helped = true
		default:
			args = append(args, word)
		}
	}
	switch {
	case helped && (args == nil || commands == nil):
		return append(path, "--help")
	case commands != nil && args != nil: // the first is no command
		typed = nil
	}
	return slices.Concat(path, typed, []string{"--"}, args)
}

func asksForHelp(word string) bool {
	name, value, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	return slices.Contains([]string{"help", "h", "help-all"}, name) && value != "false"
}

// elsewhere has the commands and flags by the words that other programs have for them.
var elsewhere = map[string]string{
	"train": "run", "test": "evaluate", "infer": "predict", "classify": "predict", "tune": "search",
	"--learning-rate": "--lr", "--batch-size": "--batch", "--checkpoint": "--model", "--workers": "--jobs",
	"--output": "--to", "--output-dir": "--out", "--verbose": "--log-level",
}

func didYouMean(word string, names []string) string {
	if known := elsewhere[word]; slices.Contains(names, known) {
		return "Did you mean " + known + "?"
	}
	return invalid.DidYouMean(word, names)
}

// removedText has what earlier versions had and this one refuses, a line each: a command, a flag or a value
// as it was typed after the program's name, and what to use instead.
//
//go:embed removed.txt
var removedText string

func replacing(command string, err error, typed ...string) error {
	words := strings.Join(append(strings.Fields(command)[1:], typed...), " ")
	_, instead, found := strings.Cut("\n"+removedText, "\n"+words+": ")
	if e := (*invalid.Error)(nil); found && errors.As(err, &e) {
		e.Hint, _, _ = strings.Cut(instead, "\n")
	}
	return err
}

// wrongWord completes the error of a word of a command line: by the names that it may mean, where the help is
// and, if it was removed, what to use instead.
func wrongWord(c *cli.Context, word string, names []string, e invalid.Error) error {
	e.Hint = strings.TrimSpace(didYouMean(word, names) + " See " + c.Command.HelpName + " --help.")
	e.Usage = true
	return replacing(c.Command.HelpName, &e, word)
}

func usageError(c *cli.Context, err error, _ bool) error {
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		var names []string
		for _, f := range c.Command.Flags {
			names = append(names, dashed(f.Names()[0]))
		}
		name = strings.Repeat("-", min(len(name), 2)) + name
		return wrongWord(c, name, names, invalid.Error{Where: name, Want: "a flag of " + c.Command.HelpName})
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag needs an argument: -"); ok {
		return wrongWord(c, "", nil, invalid.Error{Where: dashed(name), Want: "a value", Got: "none"})
	}
	return wrongWord(c, "", nil, invalid.Error{Where: c.Command.HelpName, Err: err})
}

func noCommand(c *cli.Context) error {
	word := c.Args().First()
	if word == "" {
		return cli.ShowSubcommandHelp(c)
	}
	e := invalid.Error{Where: c.Command.HelpName, Want: "a command", Got: invalid.Quote(word)}
	var names []string
	for _, below := range c.Command.Subcommands {
		names = append(names, below.Name)
		if slices.ContainsFunc(below.Subcommands, func(s *cli.Command) bool { return s.Name == word }) {
			whole := below.Name + " " + word
			return wrongWord(c, whole, []string{whole}, e)
		}
	}
	return wrongWord(c, word, names, e)
}

func checkLine(c *cli.Context) error {
	if err := checkFlags(c); err != nil {
		return err
	}
	if c.NArg() > 0 && c.Command.ArgsUsage == "" {
		return flagsOnly(c)
	}
	return nil
}

// checkFlags returns an error for the first flag whose value is wrong, or that is set beside one that it
// excludes or without one that it needs.
func checkFlags(c *cli.Context) error {
	given := func(key string) bool { return c.IsSet(flagOf(key)) }
	for _, f := range c.Command.Flags {
		s := settingOf(f)
		name := dashed(s.Key)
		if s.err != nil {
			return replacing(c.Command.HelpName, usageAt(name, s.err), name, s.text)
		}
		if !given(s.Key) {
			continue
		}
		if i := slices.IndexFunc(s.Excluded, given); i >= 0 {
			other := dashed(s.Excluded[i])
			return wrong(other, "no "+other+" beside "+name, "")
		}
		if s.Needed != nil && !slices.ContainsFunc(s.Needed, given) {
			return wrong(name, dashed(s.Needed[0])+" beside it", "")
		}
	}
	return nil
}

// flagsOnly is the error of an argument that belongs to no flag.
func flagsOnly(c *cli.Context) error {
	word := c.Args().First()
	return wrongWord(c, word, nil, invalid.Error{
		Where: c.Command.HelpName, Want: "flags only", Got: invalid.Quote(word),
	})
}

// inFlags names the flag of an error in a field of a configuration, and of a file that was named by it.
// It marks an error in what was typed: the value of a flag, or the name of a data set.
func inFlags(c *cli.Context, err error) {
	e := (*invalid.Error)(nil)
	if !errors.As(err, &e) {
		return
	}
	system := e.Usage || errors.As(e.Err, new(syscall.Errno))
	for _, f := range c.Command.Flags {
		if s := settingOf(f); s.typed && e.Where != "" && s.text == e.Where {
			e.Where, e.Usage = dashed(s.Key)+": "+e.Where, system
			return
		}
	}
	if e.Usage {
		return
	}
	e.Usage = system && slices.Contains(c.Args().Slice(), e.Where)
	name, rest, _ := strings.Cut(e.Field, ":")
	switch name = flagOf(name); {
	case e.Where == "" && findFlag(c.Command.Flags, name) != nil:
		e.Where, e.Field, e.Usage = dashed(name), strings.TrimSpace(rest), true
	case strings.HasPrefix(e.Where, "--") && findFlag(c.Command.Flags, e.Where) != nil:
		e.Usage = true
	}
	for _, name := range []string{c.Args().First(), c.String("dataset"), c.String("like")} {
		if name != "" && e.Where == "data set "+invalid.Quote(name) {
			e.Usage = true
			_ = replacing(usage+" run", e, "--dataset", strings.ToLower(name))
		}
	}
}

func wrong(where, want, got string) error {
	return &invalid.Error{Where: where, Want: want, Got: got, Usage: true}
}

func atFlag(name string, err error) error { return usageAt(dashed(name), err) }

func usageAt(where string, err error) error {
	err = invalid.At(where, err)
	if e := (*invalid.Error)(nil); errors.As(err, &e) {
		e.Usage = true
	}
	return err
}

// The exit codes.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitRepeat    = 75  // other shards have yet to finish their part, as EX_TEMPFAIL of sysexits.h
	exitCancelled = 130 // as for a program that Ctrl-C ended
)

func exit(ctx context.Context, err error) cli.ExitCoder {
	text := err.Error()
	bad, cause := (*invalid.Error)(nil), cmp.Or(context.Cause(ctx), context.Canceled)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, cause):
		if text = strings.TrimSuffix(text, ": "+cause.Error()); !strings.HasPrefix(text, "interrupted") {
			text = "interrupted"
		}
		return cli.Exit(text, exitCancelled)
	case errors.As(err, &bad) && bad.Usage:
		return cli.Exit(text, exitUsage)
	case errors.As(err, new(*lab.Incomplete)):
		return cli.Exit(text, exitRepeat)
	}
	return cli.Exit(text, exitFailed)
}

func init() { cli.FlagStringer = flagHelp }

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

// typed returns the command as it was typed, without a flag and with further words.
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
