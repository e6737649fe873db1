package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/version"
)

//go:embed help.txt
var helpText string

// helpFor returns what helpText says that a command is for, in a line and in paragraphs.
func helpFor(command string) (usage, description string) {
	_, text, _ := strings.Cut("\n"+helpText, "\n# "+command+"\n")
	text, _, _ = strings.Cut(text, "\n# ")
	usage, description, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	return usage, description
}

const helpWidth = 100

// rootOf returns the program as a command.
func rootOf(app *cli.App) *cli.Command {
	return &cli.Command{HelpName: app.Name, Usage: app.Usage, Description: app.Description, Subcommands: app.Commands, Flags: app.Flags}
}

// printHelp writes the help of a command in lines of at most helpWidth characters: what it does,
// its commands, examples and common flags, or all that helpText says and all flags by group.
func printHelp(w io.Writer, c *cli.Command, all bool) error {
	var b strings.Builder
	what := strings.TrimSpace("[flags] " + c.ArgsUsage)
	if len(c.Subcommands) > 0 {
		what = "COMMAND [flags]"
		if hasFlag(c, "quiet") { // as every command that acts itself
			what = "[COMMAND] [flags]"
		}
	}
	fmt.Fprintf(&b, "%s\n\nUsage: %s %s\n\n", wrap(c.HelpName+": "+c.Usage, 0), c.HelpName, what)
	category := "none"
	for _, sub := range c.Subcommands {
		if sub.Category != category {
			category = sub.Category
			fmt.Fprintf(&b, "%s:\n", cmp.Or(category, "Commands"))
		}
		fmt.Fprintf(&b, "  %-12s %s\n", sub.Name, wrap(sub.Usage, 15))
	}
	if len(c.Subcommands) > 0 {
		b.WriteString("\n")
	}
	body, docs, _ := strings.Cut(c.Description, "Documentation: ")
	for i, paragraph := range strings.Split(strings.TrimSpace(body), "\n\n") {
		if !all && i > 0 && !strings.HasPrefix(paragraph, "Examples:") {
			continue
		}
		if !strings.Contains(paragraph, "\n   ") && !strings.HasPrefix(paragraph, " ") { // examples and layouts stay as they are
			paragraph = wrap(paragraph, 0)
		}
		b.WriteString(paragraph + "\n\n")
	}
	groups := map[setting.Scope]string{}
	for _, f := range c.Flags {
		if o := f.(option); all || o.setting.Short {
			groups[o.setting.Scope] += flagHelp(o)
		}
	}
	title, end := "Flags:\n", ""
	for _, group := range flagGroups {
		switch text := groups[group]; {
		case text == "":
		case all:
			fmt.Fprintf(&b, "Flags, %s:\n%s\n", group, text)
		default:
			b.WriteString(title + text)
			title, end = "", "\n"
		}
	}
	switch {
	case len(c.Subcommands) > 0:
		end += "More: " + c.HelpName + " COMMAND --help, and --help-all. "
	case !all:
		end += "All flags: " + c.HelpName + " --help-all. "
	}
	_, err := fmt.Fprintf(w, "%s%sDocumentation: %s\n", &b, end, docs)
	return err
}

var placeholder = regexp.MustCompile("^`([^`]+)` ")

// describeFlag returns what a flag takes, "" for a flag without a value, and what it is for.
func describeFlag(o option) (value, usage string) {
	usage = o.Usage
	if m := placeholder.FindStringSubmatch(usage); m != nil {
		value, usage = m[1], strings.TrimPrefix(usage, m[0])
	}
	if o.setting.Options == nil {
		return value, usage
	}
	const short = 24
	words := o.setting.Options
	list := ": " + format.List(words, "or")
	if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(usage, word) }) {
		list = ""
	}
	if choice := strings.Join(words, "|"); !o.setting.List && len(choice) <= short {
		return choice, usage
	}
	if value == "" {
		value = "NAME"
	}
	if o.setting.List {
		value += ",..."
	}
	return value, usage + list
}

// listedNames returns the names of a flag as users type them, without those of earlier versions.
func listedNames(f cli.Flag) (names []string) {
	for i, name := range f.Names() {
		if i == 0 || len(name) == 1 {
			names = append([]string{dashed(name)}, names...)
		}
	}
	return names
}

// flagHelp is the lines of a flag.
func flagHelp(f option) string {
	const indent = 26
	value, usage := describeFlag(f)
	left := strings.TrimRight("  "+strings.Join(listedNames(f), ", ")+" "+value, " ")
	if standard := f.setting.DefaultText(); f.TakesValue() && standard != "" {
		usage += " (default: " + standard + ")"
	}
	if len(left) > indent-2 {
		left += "\n" + strings.Repeat(" ", indent)
	}
	return fmt.Sprintf("%-*s%s\n", indent, left, wrap(usage, indent))
}

// wrap breaks text into lines of at most helpWidth characters, the later ones after an
// indentation.
func wrap(text string, indent int) string { return format.Wrap(text, helpWidth, indent) }

// helpFlags are those of every command, see execute.
func helpFlags() []cli.Flag {
	return flags(setting.List{
		setting.Switch("help", new(bool), false).OrAs("h").Describe("show the common flags"),
		setting.Switch("help_all", new(bool), false).Describe("show all flags and details"),
	}.In(generalGroup))
}

func printVersion(c *cli.Context) error {
	_, err := fmt.Fprintf(c.App.Writer, "%s version %s\n", usage, version.All()[usage])
	return err
}

func versionCommand() *cli.Command { return &cli.Command{Name: "version", Action: printVersion} }
