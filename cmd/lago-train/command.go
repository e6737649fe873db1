package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
)

// command is a command of the program, or a group of commands.
type command struct {
	path         string // the words that name it, as in "lago-train dataset check"
	usage, about string // what it is for, in a line and in paragraphs
	group        string // in the help of the program

	name     string
	argument string // its arguments as in the help, "" if it takes none
	flags    setting.List
	run      func(*call) error // nil for a group
	below    []*command
	// graceful is set if the command ends by itself after an interrupt, and keeps what it has done.
	graceful bool
}

// call is a command with what was typed after it.
type call struct {
	context.Context
	*command
	program *command
	out     io.Writer
	args    []string
	typed   map[string]string // the values of flags by their first name
}

func (c *call) isSet(flag string) bool {
	_, ok := c.typed[flag]
	return ok
}

// text returns the value of a flag as it was typed, else the default, "" if there is no such flag.
func (c *call) text(flag string) string {
	if text, ok := c.typed[flag]; ok {
		return text
	}
	if s := c.flag(flag); s != nil {
		return fmt.Sprint(s.Default)
	}
	return ""
}

// arg returns the first argument, "" if there is none.
func (c *call) arg() string { return strings.Join(c.args[:min(1, len(c.args))], "") }

// flag returns the flag that a word names, nil if there is none.
func (c *command) flag(word string) *setting.Setting {
	name := strings.TrimLeft(word, "-")
	i := slices.IndexFunc(c.flags, func(s setting.Setting) bool {
		return name == flagOf(s.Key) || name != "" && name == s.Alias
	})
	if i < 0 {
		return nil
	}
	return &c.flags[i]
}

// find returns the command below this one that a word names, nil if there is none.
func (c *command) find(word string) *command {
	i := slices.IndexFunc(c.below, func(c *command) bool { return c.name == word })
	if i < 0 {
		return nil
	}
	return c.below[i]
}

// line is the words of a command line by what they are.
type line struct {
	program, command *command
	flags, args      []string         // flags as --name=value, or --name if no value was typed
	open             *setting.Setting // whose value is missing at the end
	help, helpAll    bool
	unknown          bool // a word that is no command comes before all flags
}

// parse reads the words that follow the program's name. Flags and arguments can be in any order.
func parse(program *command, words []string) line {
	l := line{program: program, command: program}
	for i, word := range words {
		name, value, valued := strings.Cut(word, "=")
		switch {
		case l.open != nil:
			l.flags[len(l.flags)-1] += "=" + word
			l.open = nil
		case word == "--":
			l.args = append(l.args, words[i+1:]...)
			return l
		case strings.HasPrefix(word, "-") && word != "-":
			l.flags = append(l.flags, word)
			name = strings.TrimLeft(name, "-")
			asked := !valued || value == "true"
			l.helpAll = l.helpAll || asked && name == "help-all"
			l.help = l.help || l.helpAll || asked && (name == "help" || name == "h")
			if f := l.command.flag(name); f != nil && !valued && f.Kind() != "boolean" {
				l.open = f
			}
		case word == "help" && l.command.below != nil:
			l.help = true
		case l.args == nil && l.command.find(word) != nil:
			l.command = l.command.find(word)
		default:
			l.unknown = l.unknown || l.flags == nil && l.args == nil && l.command.below != nil
			l.args = append(l.args, word)
		}
	}
	return l
}

// call sets the settings of the flags that were typed.
func (l line) call(ctx context.Context, out io.Writer) (*call, error) {
	c := &call{
		Context: ctx, command: l.command, program: l.program, out: out, args: l.args,
		typed: map[string]string{},
	}
	first := map[string]string{} // the name by which a flag was typed first
	help := "See " + c.path + " --help."
	for _, typed := range l.flags {
		word, text, valued := strings.Cut(typed, "=")
		word = dashed(strings.TrimLeft(word, "-"))
		s := c.flag(word)
		if s == nil {
			name := strings.TrimLeft(word, "-")
			near := c.flags.Nearest(strings.ReplaceAll(name, "-", "_"))
			for i, key := range near {
				near[i] = dashed(flagOf(key))
			}
			hint := invalid.Suggest(near)
			switch {
			case slices.Contains([]string{"gpu", "gpus", "cuda", "device"}, name):
				hint = "There is no GPU support: training runs on the processor."
			case name == "seeds" && c.name == "search":
				hint = "A search trains its two best settings with 3 seeds; the run command has --seeds."
			case name == "dataset" && strings.HasPrefix(c.argument, "NAME"):
				hint = "The name of the data set follows the command without a flag."
			}
			hint = strings.TrimSpace(hint + " " + help)
			return c, c.replacing(
				&invalid.Error{Where: word, Want: "a flag of " + c.path, Hint: hint, Usage: true}, word)
		}
		if !valued && s.Kind() == "boolean" {
			text, valued = "true", true
		}
		name := flagOf(s.Key)
		if first[name] == "" {
			first[name] = word
		}
		switch {
		case !valued:
			return c, &invalid.Error{Where: word, Want: "a value", Got: "none", Hint: help, Usage: true}
		case first[name] != word:
			return c, wrong(word, "no "+word+" beside "+first[name]+", another name of the flag", "")
		}
		if err := s.Parse(text); err != nil {
			return c, c.replacing(usageAt(word, err), word, text)
		}
		c.typed[name] = text
	}
	return c, nil
}

// execute runs the command that words name, or prints its help.
func execute(ctx context.Context, out io.Writer, words []string) error {
	l := parse(newProgram(), words)
	switch {
	case l.unknown, l.help && l.args != nil && l.command.below != nil:
		l.flags = nil // of no command
	case l.help:
		return printHelp(out, l.command, l.helpAll)
	}
	c, err := l.call(ctx, out)
	switch {
	case err != nil:
	case c.run == nil:
		err = noCommand(c)
	case c.args != nil && c.argument == "" && c.below == nil:
		err = c.flagsOnly()
	default:
		if err = checkBeside(c); err == nil {
			err = setUp(c)
		}
		if err == nil {
			err = interruptible(c)
		}
	}
	inFlags(c, err)
	return err
}

// flagsOnly is the error of an argument that belongs to no flag.
func (c *call) flagsOnly() error {
	return c.replacing(&invalid.Error{
		Where: c.path, Want: "flags only", Got: invalid.Quote(c.arg()), Hint: c.flagFor(c.arg()), Usage: true,
	}, c.arg())
}

// flagFor says of which flag an argument of a command that takes none may be the value.
func (c *call) flagFor(argument string) string {
	for _, s := range c.flags {
		if s.List && c.isSet(flagOf(s.Key)) {
			return fmt.Sprintf("The values of a list are separated by commas: %s %s,%s.",
				dashed(flagOf(s.Key)), c.text(flagOf(s.Key)), argument)
		}
	}
	if !strings.ContainsFunc(argument, unicode.IsLetter) {
		return ""
	}
	names := []string{"model", "dataset"}
	switch strings.ToLower(filepath.Ext(argument)) {
	case ".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff":
		names = []string{"images", "image"}
	case ".npy", ".mat", ".csv":
		names = []string{"features"}
	}
	for _, name := range names {
		if c.flag(name) != nil && !c.isSet(name) {
			if info, err := os.Stat(argument); name == "dataset" && err == nil && info.IsDir() &&
				!catalog.IsPath(argument) &&
				!catalog.Is(argument, catalog.Options{DataDir: c.text("data-dir")}) {
				argument = "." + string(filepath.Separator) + argument
			}
			return fmt.Sprintf("Did you mean --%s %s?", name, argument)
		}
	}
	return ""
}

// The time an interrupted command has to clean up, and one that keeps what it has done to end an epoch.
var interruptGrace, gracefulGrace = time.Second, 10 * time.Second

// interruptible runs a command that can be abandoned at any time, since its files are written
// atomically: it ends soon after an interrupt, even while it waits for a pipe or reads a large file.
func interruptible(c *call) error {
	grace := interruptGrace
	if c.graceful {
		grace = gracefulGrace
	}
	done := make(chan error, 1)
	go func() { done <- c.run(c) }()
	select {
	case err := <-done:
		return err
	case <-c.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
		return context.Cause(c)
	}
}

// elsewhere has the commands by the words that other programs have for them.
var elsewhere = map[string][]string{
	"train": {"lago-train run"}, "fit": {"lago-train run"}, "test": {"lago-train evaluate"},
	"validate": {"lago-train evaluate"}, "score": {"lago-train evaluate"},
	"infer": {"lago-train predict"}, "classify": {"lago-train predict"}, "tune": {"lago-train search"},
	"optimize":  {"lago-train search"},
	"benchmark": {"lago-train compare"}, "list": {"lago-train dataset list", "lago-train runs"},
	"ls":       {"lago-train dataset list", "lago-train runs"},
	"download": {"lago-train dataset fetch"}, "gui": {"lago-train serve"}, "web": {"lago-train serve"},
}

// noCommand is what happens if no argument names a command.
func noCommand(c *call) error {
	if c.isSet("version") {
		return printVersion(c)
	}
	if c.args == nil {
		return printHelp(c.out, c.command, false)
	}
	var names []string
	for _, below := range c.below {
		names = append(names, below.name)
	}
	near := invalid.Nearest(c.arg(), names)
	if known, ok := elsewhere[strings.ToLower(c.arg())]; ok {
		near = known
	} else if of := c.program.find("dataset"); of.find(c.arg()) != nil {
		near = []string{of.find(c.arg()).path}
	}
	hint := strings.TrimSpace(invalid.Suggest(near) + " See " + c.path + " --help.")
	return c.replacing(&invalid.Error{
		Where: c.path, Want: "a command", Got: invalid.Quote(c.arg()), Hint: hint, Usage: true,
	}, c.arg())
}

// inFlags names the flag of an error in a field of a configuration, and of a file that was named by it.
// It marks an error in what was typed: the value of a flag, or the name of a data set.
func inFlags(c *call, err error) {
	e := (*invalid.Error)(nil)
	if !errors.As(err, &e) || e.Usage {
		return
	}
	system := errors.As(e.Err, new(syscall.Errno))
	e.Usage = system && slices.Contains(c.args, e.Where)
	for _, s := range c.flags {
		if name := flagOf(s.Key); e.Where != "" && c.typed[name] == e.Where {
			e.Where, e.Usage = dashed(name)+": "+e.Where, system
			return
		}
	}
	if c.flag("dataset") != nil && !c.isSet("dataset") { // the model's is not there
		e.Hint = strings.Replace(e.Hint, "here, write .", "here, write --dataset .", 1)
	}
	name, rest, _ := strings.Cut(e.Field, ":")
	switch name = flagOf(name); {
	case e.Where == "" && c.flag(name) != nil:
		e.Where, e.Field, e.Usage = dashed(name), strings.TrimSpace(rest), true
	case strings.HasPrefix(e.Where, "--") && c.flag(e.Where) != nil:
		e.Usage = true
	}
	for _, name := range []string{c.arg(), c.text("dataset"), c.text("like")} {
		if name != "" && e.Where == "data set "+invalid.Quote(name) {
			e.Usage = true
			_ = c.program.find("run").replacing(e, "--dataset", strings.ToLower(name))
		}
	}
}

func flagOf(setting string) string { return strings.ReplaceAll(setting, "_", "-") }

// dashed returns the name of a flag as users type it: -k, --lr.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func wrong(where, want, got string) error {
	return &invalid.Error{Where: where, Want: want, Got: got, Usage: true}
}

func atFlag(name string, err error) error { return usageAt(dashed(name), err) }

// usageAt adds a place in the command line to an error.
func usageAt(where string, err error) error {
	err = invalid.At(where, err)
	if e := (*invalid.Error)(nil); errors.As(err, &e) {
		e.Usage = true
	}
	return err
}

// checkBeside returns an error for the first flag that is set beside one that it excludes, or without
// one that it needs.
func checkBeside(c *call) error {
	for _, s := range c.flags {
		if !c.isSet(flagOf(s.Key)) {
			continue
		}
		for _, key := range s.Excluded {
			if c.isSet(flagOf(key)) {
				name := dashed(flagOf(key))
				return wrong(name, "no "+name+" beside "+dashed(flagOf(s.Key)), "")
			}
		}
		given := func(key string) bool { return c.isSet(flagOf(key)) }
		if s.Needed != nil && !slices.ContainsFunc(s.Needed, given) {
			return wrong(dashed(flagOf(s.Key)), dashed(flagOf(s.Needed[0]))+" beside it", "")
		}
	}
	return nil
}
