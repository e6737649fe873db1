package main

import (
	_ "embed" // for the texts
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/docs"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
)

//go:embed help.txt
var helpText string

// section returns the text about a command, or about flags of several commands.
func section(name string) string {
	_, text, _ := strings.Cut("\n"+helpText, "\n# "+name+"\n")
	text, _, _ = strings.Cut(text, "\n# ")
	return strings.TrimSpace(text)
}

// flagUsage returns what helpText says that a flag of a command is for.
func flagUsage(command, flag string) string {
	_, text, _ := strings.Cut(section(command)+"\n"+section("flags"), "\n   "+dashed(flag)+": ")
	text, _, _ = strings.Cut(text, "\n")
	return text
}

// helpFor returns what helpText says that a command is for: in a line, and in paragraphs, of which the short
// help has the first, the examples and the documentation.
func helpFor(command string, all bool) (usage, description string) {
	usage, description, _ = strings.Cut(section(command), "\n\n")
	var paragraphs []string
	description, _, _ = strings.Cut(description, "\n\nFlags:\n")
	for i, p := range strings.Split(description, "\n\n") {
		if all || i == 0 || strings.HasPrefix(p, "Examples:") || strings.HasPrefix(p, "Documentation:") {
			paragraphs = append(paragraphs, p)
		}
	}
	return usage, strings.Join(paragraphs, "\n\n")
}

// helpTemplate is the help of the program and of each command.
const helpTemplate = `{{.HelpName}}: {{.Usage}}

Usage: {{.HelpName}}{{if .VisibleCommands}} COMMAND{{end}} [flags]{{with .ArgsUsage}} {{.}}{{end}}
{{$group := ""}}{{range .VisibleCommands}}{{if ne .Category $group}}{{$group = .Category}}
{{$group}}:
{{end}}{{printf "  %-12s %s" .Name .Usage}}
{{end}}
{{.Description}}
{{range .VisibleFlagCategories}}
Flags, {{.Name}}:
{{range .Flags}}{{.}}{{end}}{{else}}
Flags:
{{range .VisibleFlags}}{{.}}{{end}}{{end}}{{if .VisibleCommands}}
More: {{.HelpName}} COMMAND --help, and --help-all.
{{end}}`

// The groups of flags in the help beside the scopes of settings.
const (
	inputGroup   setting.Scope = "input"
	imageGroup   setting.Scope = "images"
	classGroup                 = setting.Classes
	methodGroup                = setting.Methods
	runGroup     setting.Scope = "execution"
	outputGroup                = setting.Output
	generalGroup setting.Scope = "general"
)

func versionCommand() *cli.Command {
	return &cli.Command{Name: "version", Action: func(c *cli.Context) error {
		cli.ShowVersion(c)
		return nil
	}}
}

// The scripts of urfave/cli, with the name of the program.
var (
	//go:embed completion.bash
	bashScript string
	//go:embed completion.zsh
	zshScript string
)

func completionCommand() *cli.Command {
	return &cli.Command{Name: "completion", ArgsUsage: "bash|zsh|fish", Action: func(c *cli.Context) error {
		scripts := map[string]string{"bash": bashScript, "zsh": zshScript}
		shell, err := invalid.OneOf(strings.Join(c.Args().Slice(), " "), "bash", "zsh", "fish")
		if err != nil {
			return usageAt(c.Command.HelpName, err)
		}
		if scripts["fish"], err = c.App.ToFishCompletion(); err != nil {
			return err
		}
		_, err = io.WriteString(c.App.Writer, scripts[shell])
		return err
	}}
}

// docsCommand prints a page, or without one all names with what the pages answer.
func docsCommand() *cli.Command {
	return &cli.Command{Name: "docs", ArgsUsage: "[PAGE]", Action: func(c *cli.Context) error {
		if !c.Args().Present() {
			var list strings.Builder
			for _, name := range docs.Names() {
				question, _, _ := strings.Cut(strings.SplitN(docs.Page(name), "\n\n", 3)[1], "?")
				question = format.Wrap(strings.ReplaceAll(question, "\n", " "), helpWidth, 21)
				fmt.Fprintf(&list, "%-20s %s?\n", name, question)
			}
			_, err := io.WriteString(c.App.Writer, list.String())
			return err
		}
		word := path.Base(strings.Join(c.Args().Slice(), " "))
		name, err := invalid.OneOf(strings.TrimSuffix(word, ".md"), docs.Names()...)
		if err != nil {
			return usageAt(c.Command.HelpName, err)
		}
		_, err = io.WriteString(c.App.Writer, docs.Page(name))
		return err
	}}
}
