package main

import (
	"embed"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/invalid"
)

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
			candidates = strings.Split(of, "|")
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
