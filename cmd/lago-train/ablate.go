package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/ablation"
)

const fromFlag = "from"

func ablateCommand() *cli.Command {
	return &cli.Command{
		Name:  "ablate",
		Usage: "val accuracy of the model's design decisions, the paper's table A.2",
		Description: `Trains on the dev stage with each of the eight combinations of
   p(a_m)                 uniform, or per attribute
   p(ac|x)                constant, or by De-Morgan's rule from the attributes
   attribute supervision  implicit (alpha 0), or explicit (--alpha, 1 if not given)
for each seed, and prints the table in the paper's form, best first, with what the
paper has for CUB and AWA2. All other settings are those of the variant.

The accuracy of a seed is that of the best epoch of its curve. With --from the table
is made of the curves in a folder, and nothing is trained: the settings that are
given, all of them with --config, choose among the ablations in it. A trial that
failed, or that another shard has not finished, is named below the table.`,
		Flags: append(append(settingFlagsBut("stage", "prior", "complement"), gridFlags()...),
			&cli.PathFlag{Name: fromFlag, Usage: "make the table of the runs in `DIR`, and train nothing"}),
		Action: ablate,
	}
}

func ablate(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	p, err := configOf(c)
	if err != nil {
		return err
	}
	var a *ablation.Result
	if from := c.Path(fromFlag); from != "" {
		chosen := givenSettings(c)
		if c.IsSet(configFlag) {
			chosen = settingNames()
		}
		a, err = ablation.From(from, p.Config, chosen)
	} else {
		l, open := openLab(c, p.Dataset, p.DevSplit)
		if open != nil {
			return open
		}
		a, err = ablation.Run(c.Context, l, p.Config)
	}
	if ambiguous := (*ablation.Ambiguous)(nil); errors.As(err, &ambiguous) {
		return fmt.Errorf("%w: %s", err, howToChoose(ambiguous))
	}
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(a)
	}
	return a.WriteText(os.Stdout)
}

// settingFlagsBut are the flags of settings that a command does not decide itself.
func settingFlagsBut(names ...string) []cli.Flag {
	return slices.DeleteFunc(settingFlags(), func(f cli.Flag) bool { return slices.Contains(names, f.Names()[0]) })
}

// givenSettings names the settings that flags were given for, as config files do.
func givenSettings(c *cli.Context) []string {
	return slices.DeleteFunc(settingNames(), func(name string) bool { return !c.IsSet(flagOf(name)) })
}

// settingNames are the names of all settings in config files.
func settingNames() []string {
	var names []string
	for _, f := range settingFlags() {
		names = append(names, strings.ReplaceAll(f.Names()[0], "-", "_"))
	}
	return names
}

// flagOf names the flag of a setting.
func flagOf(setting string) string { return strings.ReplaceAll(setting, "_", "-") }

// howToChoose names the flags that choose between configurations.
func howToChoose(a *ablation.Ambiguous) string {
	var flags []string
	for _, d := range a.Differ {
		if slices.Contains(settingNames(), d.Name) {
			flags = append(flags, "--"+flagOf(d.Name))
		}
	}
	if flags == nil {
		return "the data was another, as with --dev-split; give each a folder of its own"
	}
	return "choose with " + strings.Join(flags, ", ")
}
