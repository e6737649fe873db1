package main

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/docs"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
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

// flagGroups are the groups in the order of the help.
var flagGroups = []setting.Scope{
	inputGroup, setting.Data, imageGroup, classGroup, methodGroup, searchGroup,
	setting.Protocol, setting.Method, setting.Training, runGroup, outputGroup, generalGroup,
}

const helpWidth = 100

// printHelp writes the help of a command in lines of at most helpWidth characters: what it does,
// its commands, examples and common flags, or all that helpText says and all flags by group.
func printHelp(w io.Writer, c *command, all bool) error {
	var b strings.Builder
	what := strings.TrimSpace("[flags] " + c.argument)
	switch {
	case c.below != nil && c.run != nil:
		what = "[COMMAND] [flags]"
	case c.below != nil:
		what = "COMMAND [flags]"
	}
	fmt.Fprintf(&b, "%s\n\nUsage: %s %s\n\n", wrap(c.path+": "+c.usage, 0), c.path, what)
	group := "none"
	for _, below := range c.below {
		if below.group != group {
			group = below.group
			fmt.Fprintf(&b, "%s:\n", cmp.Or(group, "Commands"))
		}
		fmt.Fprintf(&b, "  %-12s %s\n", below.name, wrap(below.usage, 15))
	}
	if c.below != nil {
		b.WriteString("\n")
	}
	body, page, _ := strings.Cut(c.about, "Documentation: ")
	for i, paragraph := range strings.Split(strings.TrimSpace(body), "\n\n") {
		if !all && i > 0 && !strings.HasPrefix(paragraph, "Examples:") {
			continue
		}
		// examples and layouts stay as they are
		if !strings.Contains(paragraph, "\n   ") && !strings.HasPrefix(paragraph, " ") {
			paragraph = wrap(paragraph, 0)
		}
		b.WriteString(paragraph + "\n\n")
	}
	groups := map[setting.Scope]string{}
	for _, s := range c.flags {
		if all || s.Short {
			groups[s.Scope] += flagHelp(s)
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
	case c.below != nil:
		end += "More: " + c.path + " COMMAND --help, and --help-all. "
	case !all:
		end += "All flags: " + c.path + " --help-all. "
	}
	_, err := fmt.Fprintf(w, "%s%sDocumentation: %s\n", &b, end, page)
	return err
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
	const short = 24
	words := s.Options
	list := ": " + format.List(words, "or")
	if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(usage, word) }) {
		list = ""
	}
	if choice := strings.Join(words, "|"); !s.List && len(choice) <= short {
		return choice, usage
	}
	if value == "" {
		value = "NAME"
	}
	if s.List {
		value += ",..."
	}
	return value, usage + list
}

// flagHelp is the lines of a flag.
func flagHelp(s setting.Setting) string {
	const indent = 26
	value, usage := describeFlag(s)
	left := strings.TrimRight("  "+dashed(flagOf(s.Key))+" "+value, " ")
	if len(s.Alias) == 1 { // others are names of earlier versions
		left = "  " + dashed(s.Alias) + "," + left[1:]
	}
	if standard := s.DefaultText(); s.Kind() != "boolean" && standard != "" {
		usage += " (default: " + standard + ")"
	}
	if len(left) > indent-2 {
		left += "\n" + strings.Repeat(" ", indent)
	}
	return fmt.Sprintf("%-*s%s\n", indent, left, wrap(usage, indent))
}

// wrap breaks text into lines of at most helpWidth characters, the later ones after an indentation.
func wrap(text string, indent int) string { return format.Wrap(text, helpWidth, indent) }

func printVersion(c *call) error {
	_, err := fmt.Fprintf(c.out, "%s version %s\n", usage, blas.Versions()[usage])
	return err
}

func versionCommand() *command { return &command{name: "version", run: printVersion} }

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

func completionCommand() *command {
	return &command{name: "completion", argument: strings.Join(shells, "|"), run: func(c *call) error {
		shell, err := invalid.OneOf(strings.Join(c.args, " "), shells...)
		if err != nil {
			return usageAt(c.path, err)
		}
		script, err := scripts.ReadFile("completion." + shell)
		if err == nil {
			_, err = c.out.Write(script)
		}
		return err
	}}
}

// complete returns the candidates for the last of the words that follow the program's name.
func complete(program *command, words []string) (candidates []string) {
	if len(words) == 0 {
		return nil
	}
	last := len(words) - 1
	l, current := parse(program, words[:last]), words[last]
	dataDir := ""
	for _, f := range l.flags {
		if dir, ok := strings.CutPrefix(f, "--data-dir="); ok {
			dataDir = dir
		}
	}
	switch {
	case l.open != nil:
		candidates = valuesOf(*l.open, current, dataDir)
	case strings.HasPrefix(current, "-"):
		for _, s := range l.command.flags {
			_, usage := describeFlag(s)
			candidates = append(candidates, dashed(flagOf(s.Key))+"\t"+usage)
		}
	default:
		for _, c := range l.command.below {
			candidates = append(candidates, c.name+"\t"+c.usage)
		}
		switch of := l.command.argument; {
		case strings.HasPrefix(of, "NAME"):
			candidates = datasetNames(dataDir)
		case of == "[PAGE]":
			candidates = docs.Names()
		case strings.Contains(of, "|"):
			candidates = strings.Split(strings.Replace(of, "NETWORK", strings.Join(fetch.Networks(), "|"), 1),
				"|")
		}
	}
	return slices.DeleteFunc(candidates, func(c string) bool {
		name, _, _ := strings.Cut(c, "\t")
		// of a folder, which a terminal would obey
		return !strings.HasPrefix(c, current) || invalid.HasControl(name)
	})
}

// valuesOf returns candidates for the value of a flag, of which current is typed.
func valuesOf(s setting.Setting, current, dataDir string) (values []string) {
	switch {
	case s.Key == "dataset":
		return datasetNames(dataDir)
	case s.Key == "model", s.Key == "dev":
		return append([]string{latest}, runsWithModel(defaultRuns)...)
	case !s.List:
		return slices.Clone(s.Options)
	}
	given := current[:strings.LastIndex(current, ",")+1]
	for _, word := range s.Options {
		if !slices.Contains(strings.Split(given, ","), word) {
			values = append(values, given+word)
		}
	}
	return values
}

func datasetNames(dataDir string) []string {
	// those that the program generates in any case
	names, _ := catalog.Names(catalog.Options{DataDir: dataDir})
	return names
}
