package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/ablation"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/invalid"
)

const (
	fromFlag     = "from"
	perGroupFlag = "per-group"
	alphasFlag   = "alphas"
)

func ablateCommand() *cli.Command {
	return &cli.Command{
		Name:  "ablate",
		Usage: "validation accuracy by design decision (table A.2)",
		Description: `Trains every seed on the dev stage in eight designs: attribute prior p(a) uniform or per attribute,
none-of-group term p(ac|x) constant or by De Morgan's rule, attribute supervision implicit
(alpha 0) or explicit (--alpha, 1 if that is 0, or the best of --alphas). Prints the accuracy of the best
epoch of each curve beside the paper's, and differences between designs with 95 % intervals over
classes. --per-group adds a row that the paper does not have: the default design with the attribute
prior per group. With --from, it prints the table of finished runs and trains nothing;
the given settings choose between several ablations in the folder. With --rotate N every class is a
validation class once.

Examples:
   lago-train ablate --dataset cub --seeds 3 --alphas 0.1,0.3,1
   lago-train ablate --from runs --dataset cub --variant semantic-hard`,
		Flags: append(append(devSettingFlags(devEpochs, "prior", "complement"), append(gridFlags(), rotationFlags()...)...),
			&cli.BoolFlag{Name: perGroupFlag, Category: protocol.ModelGroup, Usage: "also train the default design with the attribute prior per group"},
			&cli.Float64SliceFlag{Name: alphasFlag, Category: protocol.ModelGroup, DefaultText: "--alpha", Usage: "`VALUE,...` weights of explicit supervision to try; the one with the best validation accuracy is reported"},
			&cli.PathFlag{Name: fromFlag, Category: inputGroup, Usage: "`DIR` folder of finished runs to make the table of, without training"}),
		Action: ablate,
	}
}

func ablate(c *cli.Context) error {
	p, err := configOf(c)
	if err != nil {
		return err
	}
	options := ablation.Options{PerGroup: c.Bool(perGroupFlag)}
	if c.IsSet(alphasFlag) {
		if c.IsSet("alpha") {
			return &invalid.Error{Where: "--" + alphasFlag, Want: "either --alpha or --alphas"}
		}
		options.Alphas = c.Float64Slice(alphasFlag)
	}
	var l *lab.Lab
	var a *ablation.Result
	if from := c.Path(fromFlag); from != "" {
		if c.IsSet(rotateFlag) {
			return &invalid.Error{Where: "--" + rotateFlag, Want: "it without --" + fromFlag, Got: "both"}
		}
		chosen := givenSettings(c)
		if c.IsSet(configFlag) {
			for _, s := range protocol.All() {
				chosen = append(chosen, s.Key)
			}
		}
		a, err = ablation.From(from, p.Config, options.Alphas, chosen)
	} else {
		if l, err = openLab(c, p.Config); err != nil {
			return err
		}
		a, err = ablation.Run(c.Context, l, p.Config, options)
	}
	if several := (*ablation.Ambiguous)(nil); errors.As(err, &several) {
		return &invalid.Error{Where: "--" + fromFlag, Err: err, Hint: howToChoose(c, several)}
	}
	if err != nil {
		return err
	}
	return output(c, l, a, a.WriteText)
}

// howToChoose names the flags that choose between configurations.
func howToChoose(c *cli.Context, a *ablation.Ambiguous) string {
	var flags []string
	for _, d := range a.Differ {
		if name := flagOf(d.Name); hasFlag(c.Command, name) {
			flags = append(flags, dashed(name))
		}
	}
	if flags == nil {
		return "The data differ, for example by --dev-split: use one folder for each."
	}
	slices.Sort(flags)
	return "Choose with " + strings.Join(flags, ", ") + "."
}
