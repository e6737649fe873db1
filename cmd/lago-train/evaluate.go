package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/experiments/evaluation"
	"github.com/lago-train/lago-train/internal/npy"
)

// evaluateOptions are those of the command evaluate.
type evaluateOptions struct {
	dataOptions
	evaluation.Config
	models             evaluation.Models
	names, dev         cli.StringSlice
	dataset            string
	files, valFiles    evaluation.ScoreFiles
	unseen, valUnseen  string
	figures, csv, save string
}

func evaluateCommand() *cli.Command {
	var o evaluateOptions
	return &cli.Command{
		Name:  "evaluate",
		Usage: "evaluate trained models, or scores that any program wrote",
		Description: `Prints accuracy, generalised zero-shot accuracy, calibration, coverage and the most frequent mistakes.
--split gzsl evaluates samples of test classes and held-out samples of seen classes, with all classes
to choose from; it needs models trained with --hold-out. Several models form an ensemble. The gamma of
calibrated stacking and the temperature are chosen on the validation classes, by the runs of the dev
stage beside the models. --scores and --labels evaluate scores of other programs instead.

With --adapt, predictions adapted to the unlabelled batch (transductive) are evaluated, too; --stress
also adapts to random batches with absent or imbalanced classes or few samples.

Examples:
   lago-train evaluate --model latest --adapt --stress 20
   lago-train evaluate --model awa2-semantic-hard-test-seed0 --split gzsl
   lago-train evaluate --scores scores.npy --labels labels.txt --unseen 3,5,7`,
		Flags: append(o.splitFlags(),
			&cli.StringSliceFlag{Name: "model", Category: inputGroup, Usage: modelUsage + "; repeat it for an ensemble", Destination: &o.names},
			optional(&o.models.Split, "split", inputGroup, "classes to evaluate on", "val for runs of the dev stage, otherwise test", evaluation.ValSplit, evaluation.TestSplit, evaluation.GZSLSplit),
			&cli.StringFlag{Name: "dataset", DefaultText: "that of the model", Category: dataGroup, Usage: "`NAME` data set", Destination: &o.dataset},
			&cli.StringSliceFlag{Name: "dev", Category: inputGroup, DefaultText: "found beside the model", Usage: "`MODEL` run of the dev stage to validate with, one for each model", Destination: &o.dev},
			adaptFlag(&o.models.Adapt),
			atLeast(0, &cli.IntFlag{Name: "stress", Category: methodGroup, DefaultText: "none", Usage: "`N` random batches of each kind to adapt to, with --adapt", Destination: &o.models.Draws}),
			&cli.PathFlag{Name: "scores", Category: inputGroup, Usage: "`FILE` scores, samples x classes: .npy, .csv or .mat", Destination: &o.files.Scores},
			&cli.PathFlag{Name: "labels", Category: inputGroup, Usage: "`FILE` column of each sample's class in --scores, from 0: .npy or text", Destination: &o.files.Labels},
			&cli.StringFlag{Name: "unseen", Category: inputGroup, DefaultText: "all", Usage: "`N,...` columns of the unseen classes, from 0, or a file of them", Destination: &o.unseen},
			optional(&o.files.Kind, "score-kind", inputGroup, "what --scores holds", "recognised", evaluation.Probabilities, evaluation.Logits, evaluation.BareScores),
			&cli.PathFlag{Name: "val-scores", Category: inputGroup, Usage: "`FILE` scores to validate with", Destination: &o.valFiles.Scores},
			&cli.PathFlag{Name: "val-labels", Category: inputGroup, Usage: "`FILE` labels of --val-scores", Destination: &o.valFiles.Labels},
			&cli.StringFlag{Name: "val-unseen", Category: inputGroup, DefaultText: "all", Usage: "`N,...` columns of the unseen classes of --val-scores, or a file of them", Destination: &o.valUnseen},
			atLeast(1, &cli.IntFlag{Name: "bins", Value: 15, Category: outputGroup, Usage: "`N` bins of the expected calibration error", Destination: &o.Bins}),
			&cli.PathFlag{Name: "figures", Category: outputGroup, Usage: "`DIR` folder for reliability.svg, coverage.svg and seen-unseen.svg", Destination: &o.figures},
			&cli.PathFlag{Name: "csv", Category: outputGroup, Usage: "`DIR` folder for CSV files: confusion matrix, samples, classes, curves", Destination: &o.csv},
			&cli.PathFlag{Name: "scores-out", Category: outputGroup, Usage: "`FILE` .npy file for the scores, samples x classes", Destination: &o.save}),
		Action: interruptible(o.run),
	}
}

func (o *evaluateOptions) run(c *cli.Context) error {
	evaluate := o.evaluateModels
	switch {
	case c.IsSet("model") == c.IsSet("scores"):
		return wrong("--model", "either --model, or --scores with --labels", "")
	case c.IsSet("scores"):
		evaluate = o.evaluateScores
	}
	return o.printing(func(c *cli.Context) (tabled, error) {
		r, err := evaluate(c)
		if err != nil {
			return nil, err
		}
		return r, o.write(r)
	})(c)
}

// evaluateModels evaluates the models that flags name.
func (o *evaluateOptions) evaluateModels(c *cli.Context) (*evaluation.Result, error) {
	if err := cmp.Or(
		excludes(c, "model", "labels", "unseen", "score-kind", "val-scores", "val-labels", "val-unseen"),
		requires(c, "adapt", "stress"),
	); err != nil {
		return nil, err
	}
	m := o.models
	for _, group := range []struct {
		flag  string
		names []string
		to    *[]*evaluation.Model
	}{{"model", o.names.Value(), &m.Models}, {"dev", o.dev.Value(), &m.Dev}} {
		for _, name := range group.names {
			path, err := findModel("--"+group.flag, name)
			if err != nil {
				return nil, err
			}
			model, err := evaluation.ReadModel(path)
			if err != nil {
				return nil, err
			}
			if err := checkOutput("scores-out", o.save, model.Path); err != nil {
				return nil, err
			}
			*group.to = append(*group.to, model)
		}
	}
	var err error
	if m.Data, err = o.open(c.Context, cmp.Or(o.dataset, m.Models[0].Dataset)); err != nil {
		return nil, err
	}
	return o.Config.EvaluateModels(c.Context, m)
}

// evaluateScores evaluates the files that flags name.
func (o *evaluateOptions) evaluateScores(c *cli.Context) (*evaluation.Result, error) {
	if err := excludes(c, "scores", "split", "dataset", "dev", "scores-out", "adapt", "stress"); err != nil {
		return nil, err
	}
	if err := columnsOf(c.Context, &o.files, "", o.unseen); err != nil {
		return nil, err
	}
	if !c.IsSet("val-scores") && !c.IsSet("val-labels") && !c.IsSet("val-unseen") {
		return o.EvaluateScores(c.Context, o.files, nil)
	}
	if err := columnsOf(c.Context, &o.valFiles, "val-", o.valUnseen); err != nil {
		return nil, err
	}
	return o.EvaluateScores(c.Context, o.files, &o.valFiles)
}

// columnsOf reads the columns of unseen classes of scores whose flags have a prefix.
func columnsOf(ctx context.Context, f *evaluation.ScoreFiles, prefix, columns string) (err error) {
	if f.Scores == "" || f.Labels == "" {
		return wrong("--"+prefix+"scores", fmt.Sprintf("both --%sscores and --%slabels", prefix, prefix), "")
	}
	if columns == "" {
		return nil
	}
	flag := prefix + "unseen"
	// Numbers are columns even if a file has such a name.
	if strings.Trim(columns, "0123456789, ") != "" {
		if _, missing := os.Stat(columns); missing != nil {
			return wrong("--"+flag, "columns, as in 3,5,7, or a file of them", fmt.Sprintf("%q", columns))
		}
		f.Unseen, err = npy.ReadIntegers(ctx, columns)
		return err
	}
	if f.Unseen, err = npy.ParseIntegers("--"+flag, columns); err == nil && len(f.Unseen) == 0 {
		err = wrong("--"+flag, "columns of unseen classes, as in 3,5,7", "none")
	}
	return err
}

// write writes the files that flags ask for.
func (o *evaluateOptions) write(r *evaluation.Result) error {
	if o.save != "" {
		if err := features.WriteNPY(o.save, r.Scores()); err != nil {
			return err
		}
		logrus.WithField("file", o.save).Info("scores written")
	}
	if o.csv != "" {
		if err := r.WriteCSV(o.csv); err != nil {
			return err
		}
		logrus.WithField("dir", o.csv).Info("CSV files written")
	}
	if o.figures == "" {
		return nil
	}
	paths, err := r.WriteFigures(o.figures)
	for _, path := range paths {
		logrus.WithField("file", path).Info("figure written")
	}
	return err
}
