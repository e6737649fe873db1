package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/experiments/evaluation"
	"github.com/lago-train/lago-train/internal/integers"
)

func evaluateCommand() *cli.Command {
	const models, files, judging, output = "models", "scores of any program", "judging", "output"
	return &cli.Command{
		Name:  "evaluate",
		Usage: "judge trained models, or scores that any program wrote",
		Description: `Judges the model of a run, or the mean probabilities of several, by --split:

   val    the val classes, for models of the dev stage
   test   the test classes, chosen between these alone
   gzsl   generalised zero-shot learning: samples of the test classes and held-out
          samples of the others, all named as any class. The model must have been
          trained by run --hold-out.

Prints accuracy per class and per sample, top 5, the accuracies of seen and unseen
classes with their harmonic mean and the area under the seen-unseen curve, how far
probabilities can be trusted, and the classes that are confused most.

Gamma, which calibrated stacking subtracts from the scores of seen classes, and the
temperature of the probabilities are chosen by validation: the run of the dev stage
with the same settings, which lies beside that of the test stage where run --stage
full made both. Its val classes are the unseen ones, and the samples held out of its
train classes the seen ones. Where there is no such run, neither is chosen.

With --scores and --labels it judges what another program wrote: an .npy of samples x
classes, and the column of each sample's class, counted from 0. --unseen names the
columns of unseen classes; without it all are.`,
		Flags: append(dataFlags(),
			&cli.StringSliceFlag{Name: modelFlag, Category: models, Usage: "`DIR` of a run, or the file of a model beside its trial.json; several are an ensemble"},
			&cli.StringFlag{Name: "split", Value: string(evaluation.TestSplit), Category: models, Usage: "`NAME` of what to judge by: val, test or gzsl"},
			&cli.StringFlag{Name: datasetFlag, DefaultText: "that of the model", Category: models, Usage: "`NAME` of the data set"},
			&cli.StringSliceFlag{Name: "dev", Category: models, DefaultText: "found beside the model", Usage: "`DIR` of the run of the dev stage to validate by, one for each model"},
			&cli.PathFlag{Name: scoresFlag, Category: files, Usage: "`FILE` of scores, samples x classes: .npy, .csv or .mat"},
			&cli.PathFlag{Name: labelsFlag, Category: files, Usage: "`FILE` of the column of each sample's class, from 0: .npy of integers, or text"},
			&cli.StringFlag{Name: "unseen", Category: files, DefaultText: "all", Usage: "`LIST` of the columns of unseen classes, as in 3,5,7, or a file of them"},
			&cli.StringFlag{Name: "score-kind", Category: files, DefaultText: "found out", Usage: "`KIND` of the scores: probabilities, logits (whose softmax they are) or scores (which validation finds a temperature for)"},
			&cli.PathFlag{Name: "val-scores", Category: files, Usage: "`FILE` of scores to choose gamma and the temperature by"},
			&cli.PathFlag{Name: "val-labels", Category: files, Usage: "`FILE` of their labels"},
			&cli.StringFlag{Name: "val-unseen", Category: files, Usage: "`LIST` of their columns of unseen classes, or a file of them"},
			&cli.IntFlag{Name: "bins", Value: 15, Category: judging, Usage: "`N` bins of confidence, for the calibration error"},
			&cli.BoolFlag{Name: jsonFlag, Category: output, Usage: "print one JSON object on stdout, accuracies as fractions"},
			&cli.PathFlag{Name: "pictures", Category: output, Usage: "`DIR` for reliability.svg, coverage.svg and seen-unseen.svg"},
			&cli.PathFlag{Name: "csv", Category: output, Usage: "`DIR` for the whole confusion matrix, each sample, each class and the numbers of the pictures, as CSV"},
			&cli.PathFlag{Name: "scores-out", Category: output, Usage: "`FILE`.npy for the scores, samples x classes"}),
		Action: evaluate,
	}
}

const (
	scoresFlag = "scores"
	labelsFlag = "labels"
)

func evaluate(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	config := evaluation.Config{Bins: c.Int("bins")}
	if err := config.Check(); err != nil {
		return err
	}
	judge := evaluateModels
	switch {
	case c.IsSet(modelFlag) == c.IsSet(scoresFlag):
		return errors.New("expected --model, or --scores with --labels; see lago-train evaluate --help")
	case c.IsSet(scoresFlag):
		judge = evaluateScores
	}
	e, err := judge(c, config)
	if err != nil {
		return err
	}
	if err := writeEvaluation(c, e); err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(e)
	}
	return e.WriteText(os.Stdout)
}

// evaluateModels judges the models that flags name.
func evaluateModels(c *cli.Context, config evaluation.Config) (*evaluation.Result, error) {
	if err := onlyWith(c, scoresFlag, labelsFlag, "unseen", "score-kind", "val-scores", "val-labels", "val-unseen"); err != nil {
		return nil, err
	}
	var m evaluation.Models
	if err := setText(&m.Split, c, "split"); err != nil {
		return nil, err
	}
	for _, group := range []struct {
		flag string
		to   *[]*evaluation.Model
	}{{modelFlag, &m.Models}, {"dev", &m.Dev}} {
		for _, path := range c.StringSlice(group.flag) {
			r, err := evaluation.ReadModel(path)
			if err != nil {
				return nil, err
			}
			*group.to = append(*group.to, r)
		}
	}
	var err error
	m.Data, err = openDataset(c, cmp.Or(c.String(datasetFlag), m.Models[0].Dataset), c.Int("dev-split"))
	if err != nil {
		return nil, err
	}
	return config.EvaluateModels(m)
}

// evaluateScores judges the files that flags name.
func evaluateScores(c *cli.Context, config evaluation.Config) (*evaluation.Result, error) {
	if err := onlyWith(c, modelFlag, "split", datasetFlag, "dev", "scores-out"); err != nil {
		return nil, err
	}
	files, err := scoreFiles(c, "")
	if err != nil {
		return nil, err
	}
	if c.IsSet("score-kind") {
		if err := setText(&files.Kind, c, "score-kind"); err != nil {
			return nil, err
		}
	}
	var validation *evaluation.ScoreFiles
	if c.IsSet("val-scores") || c.IsSet("val-labels") || c.IsSet("val-unseen") {
		if validation, err = scoreFiles(c, "val-"); err != nil {
			return nil, err
		}
	}
	return config.EvaluateScores(c.Context, *files, validation)
}

// scoreFiles reads the flags of scores with a prefix.
func scoreFiles(c *cli.Context, prefix string) (*evaluation.ScoreFiles, error) {
	f := &evaluation.ScoreFiles{Scores: c.Path(prefix + scoresFlag), Labels: c.Path(prefix + labelsFlag)}
	if f.Scores == "" || f.Labels == "" {
		return nil, fmt.Errorf("expected both --%s%s and --%s%s", prefix, scoresFlag, prefix, labelsFlag)
	}
	flag := prefix + "unseen"
	if !c.IsSet(flag) {
		return f, nil
	}
	var err error
	list := c.String(flag)
	if _, missing := os.Stat(list); missing == nil {
		f.Unseen, err = integers.Read(c.Context, list)
		return f, err
	}
	f.Unseen, err = integers.Parse("--"+flag+", which is no file", list)
	if err == nil && len(f.Unseen) == 0 {
		err = fmt.Errorf("--%s: expected columns of unseen classes, found none", flag)
	}
	return f, err
}

// onlyWith returns an error for the first flag that the other way to evaluate has.
func onlyWith(c *cli.Context, flags ...string) error {
	with := modelFlag
	if flags[0] == modelFlag {
		with = scoresFlag
	}
	for _, flag := range flags {
		if c.IsSet(flag) {
			return fmt.Errorf("--%s: expected none with --%s", flag, with)
		}
	}
	return nil
}

// writeEvaluation writes the files that flags ask for.
func writeEvaluation(c *cli.Context, e *evaluation.Result) error {
	if path := c.Path("scores-out"); path != "" {
		if err := features.WriteNPY(path, e.Scores()); err != nil {
			return err
		}
		logrus.WithField("file", path).Info("scores")
	}
	if dir := c.Path("csv"); dir != "" {
		if err := e.WriteCSV(dir); err != nil {
			return err
		}
		logrus.WithField("dir", dir).Info("tables")
	}
	dir := c.Path("pictures")
	if dir == "" {
		return nil
	}
	paths, err := e.WritePictures(dir)
	for _, path := range paths {
		logrus.WithField("file", path).Info("picture")
	}
	return err
}
