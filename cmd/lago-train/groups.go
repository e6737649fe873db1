package main

import (
	"io"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/grouping"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

func groupsCommand() *cli.Command {
	return &cli.Command{
		Name:  "groups",
		Usage: "analyse the attribute groups that a soft model learned",
		Description: `Prints the sparsity of the group assignment Gamma, the attributes of each group, and how many pairs
of attributes in the same group are anti-correlated, compared with the other pairs (permutation
test) and with the paper's numbers for CUB, AWA2 and SUN. Correlations are over the descriptions of
classes. The paper used the attributes of each image for CUB and SUN, and does not state the
correlation that counts as anti-correlated (--below). Without --model, k-soft is trained by the full
protocol, and the model of the first seed is analysed.

Examples:
   lago-train groups --model latest
   lago-train groups --dataset awa2 --by weighted-classes --below -0.4`,
		Flags: append(append(devSettingFlags(devEpochs, variantFlag), gridFlags()...),
			&cli.StringFlag{Name: modelFlag, Category: inputGroup, Usage: modelUsage},
			choice("by", classGroup, "correlate attributes over classes, or over classes weighted by their samples", grouping.ByClasses, grouping.ByClasses, grouping.ByWeightedClasses),
			&cli.Float64Flag{Name: "threshold", Category: classGroup, Value: 1e-3, Usage: "`T` value up to which entries of Gamma and products of its rows count as zero"},
			&cli.Float64Flag{Name: "below", Category: classGroup, Usage: "`R` correlation below which attributes are anti-correlated"},
			&cli.IntFlag{Name: "top", Category: outputGroup, Value: 5, Usage: "`N` attributes to print per group; --json has all"}),
		Action: groups,
	}
}

func groups(c *cli.Context) error {
	config := grouping.Config{By: grouping.By(c.String("by")), Threshold: c.Float64("threshold"), Below: c.Float64("below")}
	if err := config.Check(); err != nil {
		return err
	}
	if top := c.Int("top"); top < 0 {
		return &invalid.Error{Where: "--top", Want: "0 or more", Got: strconv.Itoa(top)}
	}
	analyse := func(get func(*cli.Context) (*dataset.Dataset, *train.Saved, error)) error {
		d, m, err := get(c)
		if err != nil {
			return err
		}
		result, err := grouping.Run(d, m, config)
		if err != nil {
			return err
		}
		return output(c, nil, result, func(w io.Writer) error { return result.WriteText(w, c.Int("top")) })
	}
	if !c.IsSet(modelFlag) {
		return analyse(trainGroups)
	}
	return interruptible(func(*cli.Context) error { return analyse(loadGroups) })(c)
}

// loadGroups loads the model of --model and the data set that it was trained on.
func loadGroups(c *cli.Context) (*dataset.Dataset, *train.Saved, error) {
	ofTraining := []string{configFlag, jobsFlag, shardFlagName, outFlag}
	for _, key := range givenSettings(c) {
		ofTraining = append(ofTraining, flagOf(key))
	}
	if err := excludes(c, modelFlag, ofTraining...); err != nil {
		return nil, nil, err
	}
	m, err := loadModel(c)
	if err != nil {
		return nil, nil, err
	}
	d, err := openDataset(c, m.Dataset, c.Int("dev-split"))
	if err != nil {
		return nil, nil, err
	}
	m.warnIfChanged(d)
	return d, m.Saved, nil
}

// trainGroups trains a model and returns it with its data set.
func trainGroups(c *cli.Context) (*dataset.Dataset, *train.Saved, error) {
	p, err := configOf(c, model.KSoft, model.SemanticSoft)
	if err != nil {
		return nil, nil, err
	}
	l, err := openLab(c, p)
	if err != nil {
		return nil, nil, err
	}
	m, err := grouping.TrainModel(c.Context, l, p.Config)
	return l.Data, m, err
}
