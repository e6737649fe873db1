package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/internal/invalid"
)

// completeCommand is the hidden command that the scripts of all shells call with the words
// of the command line up to the cursor. It prints one candidate per line, for some a tab and
// a description after it, and nothing where file names are to be completed.
const completeCommand = "__complete"

// The scripts have no more in them than calls of completeCommand need, so that they fit any
// version of the program.
var completionScripts = map[string]string{
	"bash": `_lago_train() {
    local IFS=$'\n' lines
    lines=($("$1" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    COMPREPLY=("${lines[@]%%$'\t'*}")
}
complete -o default -F _lago_train lago-train
`,
	"zsh": `#compdef lago-train
_lago_train() {
    local tab=$'\t'
    local -a lines values
    lines=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -z ${lines[1]} ]]; then
        _files
        return
    fi
    values=("${(@)lines%%$tab*}")
    lines=("${(@)lines/$tab/  -- }")
    compadd -l -d lines -- "${values[@]}"
}
if [[ ${funcstack[1]} == _lago_train ]]; then
    _lago_train "$@"
else
    compdef _lago_train lago-train
fi
`,
	"fish": `function __lago_train_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command $words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    if test (count $lines) -gt 0
        printf '%s\n' $lines
    else
        __fish_complete_path "$current"
    end
end
complete -c lago-train -f -a '(__lago_train_complete)'
`,
}

var shells = []string{"bash", "zsh", "fish"}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that completes command lines in a shell",
		ArgsUsage: strings.Join(shells, "|"),
		Description: `Completes commands, flags, their values, the names of data sets and of runs. The script is for a
folder that the shell reads when it starts; in zsh that folder must be in $fpath.

Examples:
   lago-train completion bash > ~/.local/share/bash-completion/completions/lago-train
   lago-train completion zsh > ~/.zsh/completions/_lago-train
   lago-train completion fish > ~/.config/fish/completions/lago-train.fish`,
		Action: func(c *cli.Context) error {
			shell, err := invalid.OneOf(strings.Join(c.Args().Slice(), " "), shells...)
			if err != nil {
				return usageAt(c.Command.HelpName, err)
			}
			_, err = io.WriteString(os.Stdout, completionScripts[shell])
			return err
		},
	}
}

// hiddenCompleteCommand returns the completeCommand of an application.
func hiddenCompleteCommand() *cli.Command {
	return &cli.Command{
		Name: completeCommand, Hidden: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			for _, line := range complete(c.App, c.Args().Slice()) {
				if _, err := fmt.Println(line); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// complete returns the candidates for the last of the words that follow the program's name.
func complete(app *cli.App, words []string) []string {
	if len(words) == 0 {
		return nil
	}
	command := &cli.Command{Subcommands: app.Commands, Flags: app.Flags}
	var flag cli.Flag // whose value is next
	dataDir := ""
	before, current := words[:len(words)-1], words[len(words)-1]
	if current == "=" { // bash splits words at it
		before, current = words, ""
	}
	for _, word := range before {
		switch {
		case word == "=":
		case flag != nil:
			if flag.Names()[0] == "data-dir" {
				dataDir = word
			}
			flag = nil
		case strings.HasPrefix(word, "-"):
			if takesValue(command, word) {
				flag = findFlag(command.Flags, word)
			}
		default:
			if i := slices.IndexFunc(command.Subcommands, func(c *cli.Command) bool { return c.HasName(word) }); i >= 0 {
				command = command.Subcommands[i]
			}
		}
	}
	var candidates []string
	name, value, joined := strings.Cut(current, "=")
	switch {
	case flag != nil:
		candidates = valuesOf(flag, current, dataDir)
	case joined && strings.HasPrefix(name, "-"):
		if flag = findFlag(command.Flags, name); flag != nil {
			for _, v := range valuesOf(flag, value, dataDir) {
				candidates = append(candidates, name+"="+v)
			}
		}
	case strings.HasPrefix(current, "-"):
		for _, f := range command.VisibleFlags() {
			_, usage, _ := describeFlag(f)
			candidates = append(candidates, dashed(f.Names()[0])+"\t"+usage)
		}
		if findFlag(command.Flags, "help") == nil { // which package cli adds to some commands
			candidates = append(candidates, "--help\tshow help")
		}
	default:
		for _, c := range command.Subcommands {
			if !c.Hidden {
				candidates = append(candidates, c.Name+"\t"+c.Usage)
			}
		}
		candidates = append(candidates, argumentsOf(command, dataDir)...)
	}
	return slices.DeleteFunc(candidates, func(c string) bool { return !strings.HasPrefix(c, current) })
}

// valuesOf returns candidates for the value of a flag, of which current is typed.
func valuesOf(f cli.Flag, current, dataDir string) (values []string) {
	if f, ok := f.(choiceFlag); ok {
		if !f.list {
			return f.words
		}
		given := current[:strings.LastIndex(current, ",")+1]
		for _, word := range f.words {
			if !slices.Contains(strings.Split(given, ","), word) {
				values = append(values, given+word)
			}
		}
		return values
	}
	switch f.Names()[0] {
	case "dataset":
		return datasetNames(dataDir)
	case "model", "dev":
		return runNames()
	}
	return nil
}

// runNames lists what stands for a finished run in ./runs.
func runNames() []string {
	names := []string{latest}
	for _, r := range finishedRuns(defaultRuns) {
		names = append(names, r.name)
	}
	return names
}

// argumentsOf returns candidates for the argument of a command.
func argumentsOf(c *cli.Command, dataDir string) []string {
	switch {
	case strings.HasPrefix(c.ArgsUsage, "NAME"):
		return datasetNames(dataDir)
	case c.Name == "fetch":
		return slices.Concat(fetch.Names(), fetch.Networks())
	case c.Name == "show":
		return runNames()
	case c.Name == "completion":
		return shells
	}
	return nil
}

func datasetNames(dataDir string) []string {
	names, _ := catalog.Names(catalog.Options{DataDir: dataDir}) // those that the program generates in any case
	return names
}

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
