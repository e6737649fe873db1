package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/grouping"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

func groupsCommand() *cli.Command {
	return &cli.Command{
		Name:  "groups",
		Usage: "what a trained soft model grouped, the paper's analysis of Gamma",
		Description: `Prints how sparse Gamma is, its groups with their attributes by weight, and how many
of the attributes that are grouped together are anti-correlated, against all pairs:
two are grouped together where the inner product of their rows of Gamma is above
--threshold. A Kolmogorov-Smirnov test compares the correlations of both. Beside them
is what the paper reports for CUB, AWA2 and SUN.

The paper correlates attributes by samples for CUB and SUN, and by classes for AWA2.
It doesn't say below which correlation it calls attributes anti-correlated. Below 0
are half of all pairs by the descriptions of classes; what it reports of all pairs is
about what is below -0.15 on CUB and SUN, and below -0.4 on AWA2 (--below).

Takes the model of a file (--model) or of the folder of a run (--from). With neither it
trains k-soft by the full protocol, and looks at the model of the first seed.`,
		Flags: append(append(settingFlagsBut("stage", "epochs", variantFlag), gridFlags()...),
			devEpochsFlag(),
			&cli.PathFlag{Name: "model", Usage: "`FILE` of a trained model, model.safetensors"},
			&cli.PathFlag{Name: fromFlag, Usage: "`DIR` of a run, which holds the model"},
			&cli.StringFlag{Name: "by", Value: string(grouping.BySamples), Usage: "correlate attributes over `WHAT`: samples or classes"},
			&cli.Float64Flag{Name: "threshold", Value: 1e-3, Usage: "`T` up to which entries of Gamma and products of its rows count as zero"},
			&cli.Float64Flag{Name: "below", Usage: "`R`, the correlation below which attributes are anti-correlated"},
			&cli.IntFlag{Name: "top", Value: 5, Usage: "print the `N` attributes of a group with the most weight (--json has all)"},
			// configOf reads the variant from its flag.
			&cli.StringFlag{Name: variantFlag, Value: string(model.KSoft), Hidden: true}),
		Action: groups,
	}
}

func groups(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	config := grouping.Config{Threshold: c.Float64("threshold"), Below: c.Float64("below")}
	if err := setText(&config.By, c, "by"); err != nil {
		return err
	}
	if err := config.Check(); err != nil {
		return err
	}
	if top := c.Int("top"); top < 0 {
		return errors.New("--top: expected 0 or more")
	}
	d, m, err := groupedModel(c)
	if err != nil {
		return err
	}
	g, err := grouping.Run(d, m, config)
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(g)
	}
	return g.WriteText(os.Stdout, c.Int("top"))
}

// groupedModel returns the model that the flags name, or trains one, and the data
// set that it was trained on.
func groupedModel(c *cli.Context) (*dataset.Dataset, *train.Saved, error) {
	path := c.Path("model")
	if from := c.Path(fromFlag); from != "" {
		if path != "" {
			return nil, nil, errors.New("expected --model or --from, found both")
		}
		path = filepath.Join(from, train.ModelFile)
	}
	if path != "" {
		if given := givenSettings(c); len(given) > 0 {
			return nil, nil, fmt.Errorf("--%s: the settings are those of the model that is given", flagOf(given[0]))
		}
		m, err := train.Load(path)
		if err != nil {
			return nil, nil, err
		}
		d, err := openDataset(c, m.Dataset, c.Int("dev-split"))
		return d, m, err
	}
	p, err := configOf(c)
	if err != nil {
		return nil, nil, err
	}
	l, err := openLab(c, p.Dataset, p.DevSplit)
	if err != nil {
		return nil, nil, err
	}
	m, err := grouping.TrainModel(c.Context, l, p.Config)
	return l.Data, m, err
}
