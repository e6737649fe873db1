package main

import (
	"slices"
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

// choiceFlag is a flag with one of several words.
type choiceFlag struct {
	*cli.StringFlag
	words []string
	set   func(word string) // writes the value, nil if it is read elsewhere
}

// choicesFlag is a flag with several of them, separated by commas.
type choicesFlag struct {
	*cli.StringSliceFlag
	words []string
	set   func(words []string)
}

// choice returns a choiceFlag with a default.
func choice[T ~string](to *T, name, group, usage string, standard T, words ...T) choiceFlag {
	f := optional(to, name, group, usage, "", words...)
	f.Value = string(standard)
	return f
}

// optional returns a choiceFlag without a default but with a description of it.
func optional[T ~string](to *T, name, group, usage, standard string, words ...T) choiceFlag {
	f := choiceFlag{StringFlag: &cli.StringFlag{Name: name, Category: group, Usage: usage, DefaultText: standard}, words: format.Strings(words)}
	if to != nil {
		f.set = func(word string) { *to = T(word) }
	}
	return f
}

// choices returns a choicesFlag.
func choices[T ~string](to *[]T, name, group, usage string, standard []T, words ...T) choicesFlag {
	f := choicesFlag{StringSliceFlag: &cli.StringSliceFlag{Name: name, Category: group, Usage: usage}, words: format.Strings(words)}
	if standard != nil {
		f.Value = cli.NewStringSlice(format.Strings(standard)...)
	}
	if to != nil {
		f.set = func(words []string) {
			*to = nil
			for _, w := range words {
				*to = append(*to, T(w))
			}
		}
	}
	return f
}

// setChoices writes the values of choices to where they belong, spelt as in the list of words.
func setChoices(c *cli.Context) error {
	for _, f := range c.Command.Flags {
		switch f := f.(type) {
		case choiceFlag:
			word := c.String(f.Name)
			if c.IsSet(f.Name) {
				var err error
				if word, err = invalid.OneOf(word, f.words...); err != nil {
					return atFlag(f.Name, err)
				}
				if err := c.Set(f.Name, word); err != nil {
					return err
				}
			}
			if f.set != nil {
				f.set(word)
			}
		case choicesFlag:
			if f.set == nil {
				continue
			}
			words := slices.Clone(c.StringSlice(f.Name))
			for i, typed := range words {
				var err error
				if words[i], err = invalid.OneOf(typed, f.words...); err != nil {
					return atFlag(f.Name, err)
				}
			}
			f.set(words)
		}
	}
	return nil
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
