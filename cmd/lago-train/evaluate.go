package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/experiments/evaluation"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
)

const (
	scoresFlag = "scores"
	labelsFlag = "labels"
)

func evaluateCommand() *cli.Command {
	return &cli.Command{
		Name:  "evaluate",
		Usage: "evaluate trained models, or scores that any program wrote",
		Description: `Prints accuracy, generalised zero-shot accuracy, calibration, coverage and the most
frequent mistakes. Evaluates models by --split: val (for runs of the dev stage), test, or
gzsl (samples of test classes and held-out samples of seen classes, all classes to
choose from; needs models trained with --hold-out). Several models form an ensemble.
The gamma of calibrated stacking and the temperature are chosen on the validation
classes, by the runs of the dev stage beside the models. --scores and --labels evaluate
scores of other programs instead.

With --adapt, predictions adapted to the unlabelled batch (transductive) are evaluated, too,
with the temperature and tau that were chosen on validation classes; --stress also adapts to
random batches with absent or imbalanced classes or few samples.

Examples:
   lago-train evaluate --model latest --adapt --stress 20
   lago-train evaluate --model awa2-semantic-hard-test-seed0 --split gzsl
   lago-train evaluate --scores scores.npy --labels labels.txt --unseen 3,5,7`,
		Flags: append(dataFlags(),
			&cli.StringSliceFlag{Name: modelFlag, Category: inputGroup, Usage: modelUsage + "; repeat it for an ensemble"},
			optional(splitFlag, inputGroup, "classes to evaluate on", "val for runs of the dev stage, otherwise test", evaluation.ValSplit, evaluation.TestSplit, evaluation.GZSLSplit),
			&cli.StringFlag{Name: datasetFlag, DefaultText: "that of the model", Category: dataGroup, Usage: "`NAME` data set"},
			&cli.StringSliceFlag{Name: "dev", Category: inputGroup, DefaultText: "found beside the model", Usage: "`MODEL` run of the dev stage to validate with, one for each model"},
			adaptFlag(),
			&cli.IntFlag{Name: "stress", Category: methodGroup, DefaultText: "none", Usage: "`N` random batches of each kind to adapt to, with --adapt"},
			&cli.PathFlag{Name: scoresFlag, Category: inputGroup, Usage: "`FILE` scores, samples x classes: .npy, .csv or .mat"},
			&cli.PathFlag{Name: labelsFlag, Category: inputGroup, Usage: "`FILE` column of each sample's class in --scores, from 0: .npy or text"},
			&cli.StringFlag{Name: "unseen", Category: inputGroup, DefaultText: "all", Usage: "`N,...` columns of the unseen classes, from 0, or a file of them"},
			optional("score-kind", inputGroup, "what --scores holds", "recognised", evaluation.Probabilities, evaluation.Logits, evaluation.BareScores),
			&cli.PathFlag{Name: "val-scores", Category: inputGroup, Usage: "`FILE` scores to validate with"},
			&cli.PathFlag{Name: "val-labels", Category: inputGroup, Usage: "`FILE` labels of --val-scores"},
			&cli.StringFlag{Name: "val-unseen", Category: inputGroup, DefaultText: "all", Usage: "`N,...` columns of the unseen classes of --val-scores, or a file of them"},
			&cli.IntFlag{Name: "bins", Value: 15, Category: outputGroup, Usage: "`N` bins of the expected calibration error"},
			jsonFlagOf(),
			&cli.PathFlag{Name: figuresFlag, Category: outputGroup, Usage: "`DIR` folder for reliability.svg, coverage.svg and seen-unseen.svg"},
			&cli.PathFlag{Name: csvFlag, Category: outputGroup, Usage: "`DIR` folder for CSV files: confusion matrix, samples, classes, curves"},
			&cli.PathFlag{Name: "scores-out", Category: outputGroup, Usage: "`FILE` .npy file for the scores, samples x classes"}),
		Action: interruptible(evaluate),
	}
}

func evaluate(c *cli.Context) error {
	config := evaluation.Config{Bins: c.Int("bins")}
	if err := config.Check(); err != nil {
		return err
	}
	run := evaluateModels
	switch {
	case c.IsSet(modelFlag) == c.IsSet(scoresFlag):
		return &invalid.Error{Where: "--" + modelFlag, Want: "either --model, or --scores with --labels"}
	case c.IsSet(scoresFlag):
		run = evaluateScores
	}
	result, err := run(c, config)
	if err != nil {
		return err
	}
	if err := writeEvaluation(c, result); err != nil {
		return err
	}
	return output(c, nil, result, result.WriteText)
}

// evaluateModels evaluates the models that flags name.
func evaluateModels(c *cli.Context, config evaluation.Config) (*evaluation.Result, error) {
	if err := excludes(c, modelFlag, labelsFlag, "unseen", "score-kind", "val-scores", "val-labels", "val-unseen"); err != nil {
		return nil, err
	}
	m := evaluation.Models{Split: evaluation.Split(c.String(splitFlag)), Adapt: c.Bool(adaptArg), Draws: c.Int("stress")}
	if err := requires(c, adaptArg, "stress"); err != nil {
		return nil, err
	}
	if m.Draws < 0 {
		return nil, &invalid.Error{Where: "--stress", Want: "0 or more", Got: fmt.Sprint(m.Draws)}
	}
	for _, group := range []struct {
		flag string
		to   *[]*evaluation.Model
	}{{modelFlag, &m.Models}, {"dev", &m.Dev}} {
		for _, value := range c.StringSlice(group.flag) {
			path, err := findModel("--"+group.flag, value)
			if err != nil {
				return nil, err
			}
			model, err := evaluation.ReadModel(path)
			if err != nil {
				return nil, err
			}
			if err := checkOutput("scores-out", c.Path("scores-out"), model.Path); err != nil {
				return nil, err
			}
			*group.to = append(*group.to, model)
		}
	}
	var err error
	m.Data, err = openDataset(c, cmp.Or(c.String(datasetFlag), m.Models[0].Dataset), c.Int("dev-split"))
	if err != nil {
		return nil, err
	}
	return config.EvaluateModels(c.Context, m)
}

// evaluateScores evaluates the files that flags name.
func evaluateScores(c *cli.Context, config evaluation.Config) (*evaluation.Result, error) {
	if err := excludes(c, scoresFlag, splitFlag, datasetFlag, "dev", "scores-out", adaptArg, "stress"); err != nil {
		return nil, err
	}
	files, err := scoreFiles(c, "")
	if err != nil {
		return nil, err
	}
	files.Kind = evaluation.ScoreKind(c.String("score-kind"))
	var validation *evaluation.ScoreFiles
	if c.IsSet("val-scores") || c.IsSet("val-labels") || c.IsSet("val-unseen") {
		if validation, err = scoreFiles(c, "val-"); err != nil {
			return nil, err
		}
	}
	return config.EvaluateScores(c.Context, *files, validation)
}

// scoreFiles reads the flags of scores whose names have a prefix.
func scoreFiles(c *cli.Context, prefix string) (*evaluation.ScoreFiles, error) {
	f := &evaluation.ScoreFiles{Scores: c.Path(prefix + scoresFlag), Labels: c.Path(prefix + labelsFlag)}
	if f.Scores == "" || f.Labels == "" {
		return nil, &invalid.Error{Where: "--" + prefix + scoresFlag, Want: fmt.Sprintf("both --%s%s and --%s%s", prefix, scoresFlag, prefix, labelsFlag)}
	}
	flag := prefix + "unseen"
	if !c.IsSet(flag) {
		return f, nil
	}
	// Numbers are columns even if a file has such a name.
	var err error
	columns := c.String(flag)
	if strings.Trim(columns, "0123456789, ") != "" {
		if _, missing := os.Stat(columns); missing == nil {
			f.Unseen, err = npy.ReadIntegers(c.Context, columns)
			return f, err
		}
		return nil, &invalid.Error{Where: "--" + flag, Want: "columns, as in 3,5,7, or a file of them", Got: fmt.Sprintf("%q", columns)}
	}
	f.Unseen, err = npy.ParseIntegers("--"+flag, columns)
	if err == nil && len(f.Unseen) == 0 {
		err = &invalid.Error{Where: "--" + flag, Want: "columns of unseen classes, as in 3,5,7", Got: "none"}
	}
	return f, err
}

// writeEvaluation writes the files that flags ask for.
func writeEvaluation(c *cli.Context, r *evaluation.Result) error {
	if path := c.Path("scores-out"); path != "" {
		if err := features.WriteNPY(path, r.Scores()); err != nil {
			return err
		}
		logrus.WithField("file", path).Info("scores written")
	}
	if dir := c.Path("csv"); dir != "" {
		if err := r.WriteCSV(dir); err != nil {
			return err
		}
		logrus.WithField("dir", dir).Info("CSV files written")
	}
	dir := c.Path(figuresFlag)
	if dir == "" {
		return nil
	}
	paths, err := r.WriteFigures(dir)
	for _, path := range paths {
		logrus.WithField("file", path).Info("figure written")
	}
	return err
}
