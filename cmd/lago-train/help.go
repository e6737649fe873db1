package main

import (
	"embed"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
)

//go:embed help.txt
var helpText string

// helpFor returns what helpText says that a command is for: in a line, and in paragraphs, of which the short
// help has the first, the examples and the documentation.
func helpFor(command string, all bool) (usage, description string) {
	_, text, _ := strings.Cut("\n"+helpText, "\n# "+command+"\n")
	text, _, _ = strings.Cut(text, "\n# ")
	usage, description, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	var paragraphs []string
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
	searchGroup                = setting.Searching
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

// scripts are those of urfave/cli, with the name of the program.
//
//go:embed completion.bash completion.zsh
var scripts embed.FS

func completionCommand() *cli.Command {
	return &cli.Command{Name: "completion", ArgsUsage: "bash|zsh|fish", Action: func(c *cli.Context) error {
		shell, err := invalid.OneOf(strings.Join(c.Args().Slice(), " "), strings.Split(c.Command.ArgsUsage, "|")...)
		if err != nil {
			return usageAt(c.Command.HelpName, err)
		}
		script, err := c.App.ToFishCompletion()
		if shell != "fish" {
			var text []byte
			text, err = scripts.ReadFile("completion." + shell)
			script = string(text)
		}
		if err == nil {
			_, err = c.App.Writer.Write([]byte(script))
		}
		return err
	}}
}
