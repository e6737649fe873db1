// Command lago-train trains and evaluates LAGO, a zero-shot classifier that recognises
// classes from descriptions by attributes.
//
// It turns flags into the configurations of the packages experiments and dataset, and prints their
// results. main.go has the program and its help; cli.go makes flags of settings, and has what urfave/cli
// lacks; output.go writes the files of users.
package main

import (
	"cmp"
	"context"
	_ "embed" // for the texts
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/docs"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
)

// usage is the name of the program, and the place of an error in the command line as a whole.
const usage = "lago-train"

// mostThreads bounds $GOMAXPROCS: with thousands, the runtime of Go ends the process.
const mostThreads = 1024

func main() {
	if runtime.GOMAXPROCS(0) > mostThreads { // as with --threads
		runtime.GOMAXPROCS(mostThreads)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first Ctrl-C ends the epoch cleanly. After it the signals have their default
	// effect, so that a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	err := execute(ctx, os.Stdout, os.Args[1:])
	display.clear()
	if err == nil {
		return
	}
	end := exit(ctx, err)
	text := end.Error()
	if !strings.HasPrefix(text, usage+" ") && !strings.HasPrefix(text, usage+": ") {
		text = usage + ": " + text
	}
	// names from files may have control characters
	fmt.Fprintln(os.Stderr, inColour(format.WrapLines(text, display.width(), 2), table.Failure))
	os.Exit(end.ExitCode())
}

func execute(ctx context.Context, out io.Writer, words []string) error {
	app := newApp(out, slices.Contains(words, "--help-all"))
	if slices.Contains(words, "--generate-bash-completion") {
		// after -- nothing would be completed, and the command would run
		words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "--" })
	} else {
		words = ordered(app, words)
	}
	return app.RunContext(ctx, append([]string{usage}, words...))
}

// newApp returns the program. Its help has the common flags and examples, or all flags and details.
func newApp(out io.Writer, all bool) *cli.App {
	general := flags(setting.List{
		setting.Switch("help", new(bool), false).OrAs("h").Common(),
		setting.Switch("help_all", new(bool), false).Common(),
		setting.Switch("version", new(bool), false).OrAs("v").Common(),
	}.In(generalGroup))
	cli.HelpFlag, cli.VersionFlag = general[0], general[2]
	root := &cli.Command{
		Flags: general,
		Subcommands: slices.Concat(
			in("Data sets", &cli.Command{Name: "dataset", Subcommands: in("Commands",
				datasetListCommand(), fetchCommand(), extractCommand(), describeCommand(), checkCommand(),
				splitCommand())}, serveCommand()),
			in("Training and experiments", studyCommands()...),
			in("Results and trained models", runsCommand(), reportCommand(), evaluateCommand(),
				predictCommand(), explainCommand()),
			in("Program", docsCommand(), completionCommand(), versionCommand()),
		),
	}
	complete(root, usage, general[:2], all)
	return &cli.App{
		Name: usage, Usage: root.Usage, Description: root.Description, Version: blas.Versions()[usage],
		Commands: root.Subcommands, Flags: root.Flags, Action: noCommand, Writer: out,
		OnUsageError: usageError, ExitErrHandler: inFlags, CustomAppHelpTemplate: helpTemplate,
		HideHelpCommand: true, EnableBashCompletion: true,
	}
}

// in puts commands into a group of the help.
func in(group string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = group
	}
	return commands
}

// complete adds what all commands have to one and those below it: the texts of the help, the general flags,
// and checks of the command line.
func complete(c *cli.Command, path string, general []cli.Flag, all bool) {
	c.Usage, c.Description = helpFor(path, all)
	c.CustomHelpTemplate, c.HideHelpCommand, c.OnUsageError = helpTemplate, true, usageError
	if c.Action == nil {
		c.Action = noCommand
	} else {
		c.Before = before
		c.Flags = append(c.Flags, flags(setting.List{
			setting.Switch("quiet", &display.quiet, false).OrAs("q"),
		}.In(generalGroup))...)
	}
	if path != usage {
		c.Flags = append(c.Flags, general...)
	}
	slices.SortStableFunc(c.Flags, func(a, b cli.Flag) int {
		return place(settingOf(a).Key) - place(settingOf(b).Key)
	})
	for _, f := range c.Flags {
		g, s := f.(*cli.GenericFlag), settingOf(f)
		g.Category = fmt.Sprintf("%c%s", 'a'+slices.Index(groups, s.Scope), s.Scope)
		s.Help = cmp.Or(s.Help, flagUsage(path, s.Key))
		_, g.Usage = describeFlag(s.Setting)
		if !all { // the common flags, in their order and not by category
			g.Category, g.Hidden = "", !s.Short
		}
	}
	for _, below := range c.Subcommands {
		complete(below, path+" "+below.Name, general, all)
	}
}

var leading, trailing = strings.Fields("model dataset sample features image images list weights candidates"),
	strings.Fields("data_dir out jobs json quiet help help_all version")

// place is that of a flag in the help: first what a command works on, and what all commands have last.
func place(flag string) int {
	if i := slices.Index(leading, flag); i >= 0 {
		return i - len(leading)
	}
	return slices.Index(trailing, flag) + 1
}

func before(c *cli.Context) error {
	if err := checkLine(c); err != nil {
		return err
	}
	return setUp(c)
}

// The time an interrupted command has to clean up, and one that keeps what it has done to end an epoch.
var interruptGrace, gracefulGrace = time.Second, 10 * time.Second

// interruptible runs a command that can be abandoned at any time, since its files are written
// atomically: it ends soon after an interrupt, even while it waits for a pipe or reads a large file.
func interruptible(run cli.ActionFunc) cli.ActionFunc { return abandoned(run, &interruptGrace) }

// graceful runs a command that ends by itself after an interrupt, and keeps what it has done.
func graceful(run cli.ActionFunc) cli.ActionFunc { return abandoned(run, &gracefulGrace) }

// abandoned runs a command, and abandons it a while after an interrupt.
func abandoned(run cli.ActionFunc, after *time.Duration) cli.ActionFunc {
	return func(c *cli.Context) error {
		done := make(chan error, 1)
		go func() { done <- run(c) }()
		select {
		case err := <-done:
			return err
		case <-c.Done():
		}
		select {
		case err := <-done:
			return err
		case <-time.After(*after):
			return context.Cause(c.Context)
		}
	}
}

func setUp(c *cli.Context) error {
	logrus.SetOutput(display)
	logrus.SetFormatter(&logrus.TextFormatter{TimestampFormat: time.DateTime})
	if display.terminal {
		logrus.SetFormatter(prose{})
	}
	word := cmp.Or(c.String("log-level"), "info")
	if display.quiet && !c.IsSet("log-level") {
		word = "warning"
	}
	level, _ := logrus.ParseLevel(word) // a choice of the flag
	logrus.SetLevel(level)
	if n, err := strconv.Atoi(c.String("threads")); err == nil && c.IsSet("threads") {
		useThreads(n, 1) // products of the BLAS are split over goroutines too
	}
	info, err := blas.Use("")
	if err != nil {
		return err
	}
	logrus.WithField("blas", info.String()).Debug("matrix products")
	return nil
}

//go:embed help.txt
var helpText string

func section(name string) string {
	_, text, _ := strings.Cut("\n"+helpText, "\n# "+name+"\n")
	text, _, _ = strings.Cut(text, "\n# ")
	return strings.TrimSpace(text)
}

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

const helpWidth = 100

const helpTemplate = `{{.HelpName}}: {{.Usage}}

Usage: {{.HelpName}}{{if .VisibleCommands}} COMMAND{{end}} [flags]{{with .ArgsUsage}} {{.}}{{end}}
{{$group := ""}}{{range .VisibleCommands}}{{if ne .Category $group}}{{$group = .Category}}
{{$group}}:
{{end}}{{printf "  %-12s %s" .Name .Usage}}
{{end}}
{{.Description}}
{{range .VisibleFlagCategories}}
Flags, {{slice .Name 1}}:
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

// groups has them in their order in the help.
var groups = []setting.Scope{
	inputGroup, imageGroup, classGroup, setting.Data, methodGroup, setting.Method, setting.Training,
	setting.Protocol, setting.Searching, runGroup, outputGroup, generalGroup,
}

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
