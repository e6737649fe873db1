package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst returns the arguments of the program with the flags of a command before its
// other arguments, which is where package cli looks for them.
func flagsFirst(app *cli.App, args []string) []string {
	commands, n := app.Commands, 1
	var command *cli.Command
	for n < len(args) {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[n]) })
		if i < 0 {
			break
		}
		command, commands = commands[i], commands[i].Subcommands
		n++
	}
	if command == nil || command.ArgsUsage == "" {
		return args
	}
	flags := slices.Clone(args[:n])
	var others []string
	for n < len(args) {
		arg := args[n]
		n++
		switch {
		case arg == "--":
			others = append(others, args[n:]...)
			n = len(args)
		case !strings.HasPrefix(arg, "-") || arg == "-":
			others = append(others, arg)
		default:
			flags = append(flags, arg)
			if !takesValue(command, arg) {
				continue
			}
			if n == len(args) { // package cli reports that the value is missing
				return flags
			}
			flags = append(flags, args[n])
			n++
		}
	}
	if len(others) == 0 {
		return flags
	}
	return slices.Concat(flags, []string{"--"}, others)
}

// takesValue reports whether the argument after a flag is its value.
func takesValue(c *cli.Command, arg string) bool {
	name, _, joined := strings.Cut(arg, "=")
	f := findFlag(c.Flags, name) // nil if it is unknown, which package cli reports
	_, isBool := f.(*cli.BoolFlag)
	return f != nil && !isBool && !joined
}
