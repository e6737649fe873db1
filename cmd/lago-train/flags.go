package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The groups of flags in the help, which lists them in this order.
const (
	inputGroup   = "input"
	dataGroup    = protocol.DataGroup
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
	protocol.ProtocolGroup, protocol.ModelGroup, protocol.TrainingGroup, runGroup, outputGroup, generalGroup,
}

// choiceFlag is a flag with one of several words.
type choiceFlag struct {
	*cli.StringFlag
	words []string
}

// choicesFlag is a flag with several of them, separated by commas.
type choicesFlag struct {
	*cli.StringSliceFlag
	words []string
}

// choice returns a choiceFlag with a default.
func choice[T ~string](name, group, usage string, standard T, words ...T) choiceFlag {
	return choiceFlag{&cli.StringFlag{Name: name, Category: group, Usage: usage, Value: string(standard)}, format.Strings(words)}
}

// optional returns a choiceFlag without a default but with a description of it.
func optional[T ~string](name, group, usage, standard string, words ...T) choiceFlag {
	return choiceFlag{&cli.StringFlag{Name: name, Category: group, Usage: usage, DefaultText: standard}, format.Strings(words)}
}

// choices returns a choicesFlag.
func choices[T ~string](name, group, usage string, standard []T, words ...T) choicesFlag {
	f := &cli.StringSliceFlag{Name: name, Category: group, Usage: usage}
	if standard != nil {
		f.Value = cli.NewStringSlice(format.Strings(standard)...)
	}
	return choicesFlag{f, format.Strings(words)}
}

// checkChoices returns an error for a choiceFlag with another word.
func checkChoices(c *cli.Context) error {
	for _, f := range c.Command.Flags {
		f, ok := f.(choiceFlag)
		if !ok || !c.IsSet(f.Name) {
			continue
		}
		word, err := invalid.OneOf(c.String(f.Name), f.words...)
		if err != nil {
			return invalid.At(dashed(f.Name), err)
		}
		if err := c.Set(f.Name, word); err != nil { // as it is spelt
			return err
		}
	}
	return nil
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

// namesOf returns the names of flags, without aliases.
func namesOf(flags []cli.Flag) []string {
	names := make([]string, len(flags))
	for i, f := range flags {
		names[i] = f.Names()[0]
	}
	return names
}

func hasFlag(c *cli.Command, name string) bool { return findFlag(c.Flags, name) != nil }

// excludes returns an error for the first of the flags that is set beside another one.
func excludes(c *cli.Context, other string, flags ...string) error {
	for _, name := range flags {
		if c.IsSet(other) && c.IsSet(name) {
			return &invalid.Error{Where: dashed(name), Want: "no " + dashed(name) + " beside " + dashed(other)}
		}
	}
	return nil
}

// requires returns an error for the first of the flags that is set without another one.
func requires(c *cli.Context, other string, flags ...string) error {
	for _, name := range flags {
		if !c.IsSet(other) && c.IsSet(name) {
			return &invalid.Error{Where: dashed(name), Want: dashed(other) + " beside it"}
		}
	}
	return nil
}

// without returns flags but those of some names.
func without(flags []cli.Flag, names ...string) []cli.Flag {
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { return slices.Contains(names, f.Names()[0]) })
}
