package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/experiments/evaluation"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
	"github.com/lago-train/lago-train/internal/setting"
)

// evaluateOptions are those of the command evaluate.
type evaluateOptions struct {
	dataOptions
	evaluation.Config
	models             evaluation.Models
	names, dev         []string
	dataset            string
	files, valFiles    evaluation.ScoreFiles
	unseen, valUnseen  string
	figures, csv, save string
}

func evaluateCommand() *cli.Command {
	var o evaluateOptions
	return &cli.Command{
		Name: "evaluate",
		Flags: flags(o.listSettings(), setting.List{
			setting.Texts("model", &o.names).Describe(modelUsage + "; repeat it for an ensemble"),
			setting.Choice("split", &o.models.Split, "", evaluation.ValSplit, evaluation.TestSplit, evaluation.GZSLSplit).Noted("val for runs of the dev stage, otherwise test").
				Describe("classes to evaluate on"),
			setting.Texts("dev", &o.dev).Noted("found beside the model").Describe("`MODEL` run of the dev stage to validate with, one for each model"),
			setting.Raw("scores", &o.files.Scores, "").Describe("`FILE` scores, samples x classes: .npy, .csv or .mat"),
			setting.Raw("labels", &o.files.Labels, "").Describe("`FILE` column of each sample's class in --scores, from 0: .npy or text"),
			setting.Raw("unseen", &o.unseen, "").Noted("all").Describe("`N,...` columns of the unseen classes, from 0, or a file of them"),
			setting.Choice("score_kind", &o.files.Kind, "", evaluation.Probabilities, evaluation.Logits, evaluation.BareScores).Noted("recognised").
				Describe("what --scores holds"),
			setting.Raw("val_scores", &o.valFiles.Scores, "").Describe("`FILE` scores to validate with"),
			setting.Raw("val_labels", &o.valFiles.Labels, "").Describe("`FILE` labels of --val-scores"),
			setting.Raw("val_unseen", &o.valUnseen, "").Noted("all").Describe("`N,...` columns of the unseen classes of --val-scores, or a file of them"),
		}.In(inputGroup), setting.List{
			setting.Whole("bins", &o.Bins, 15, setting.AtLeast(1)).Describe("`N` bins of the expected calibration error"),
			setting.Raw("figures", &o.figures, "").Describe("`DIR` folder for reliability.svg, coverage.svg and seen-unseen.svg"),
			setting.Raw("csv", &o.csv, "").Describe("`DIR` folder for CSV files: confusion matrix, samples, classes, curves"),
			setting.Raw("scores_out", &o.save, "").Describe("`FILE` .npy file for the scores, samples x classes"),
		}.In(outputGroup), setting.List{
			o.splitSetting(),
			adaptSetting(&o.models.Adapt),
			setting.Raw("dataset", &o.dataset, "").In(setting.Data).Noted("that of the model").Describe("`NAME` data set"),
			setting.Whole("stress", &o.models.Draws, 0, setting.AtLeast(0)).In(methodGroup).Noted("none").
				Describe("`N` random batches of each kind to adapt to, with --adapt"),
		}),
		Action: interruptible(o.run),
	}
}

func (o *evaluateOptions) run(c *cli.Context) error {
	if err := o.Check(); err != nil {
		return err
	}
	evaluate := o.evaluateModels
	switch {
	case c.IsSet("model") == c.IsSet("scores"):
		return wrong("--model", "either --model, or --scores with --labels", "")
	case c.IsSet("scores"):
		evaluate = o.evaluateScores
	}
	r, err := evaluate(c)
	if err == nil {
		err = o.write(r)
	}
	return o.print(r, err)
}

// evaluateModels evaluates the models that flags name.
func (o *evaluateOptions) evaluateModels(c *cli.Context) (*evaluation.Result, error) {
	err := cmp.Or(
		excludes(c, "model", "labels", "unseen", "score-kind", "val-scores", "val-labels", "val-unseen"),
		requires(c, "adapt", "stress"),
	)
	read := func(flag string, names []string) (models []*evaluation.Model) {
		for _, name := range names {
			path, failed := findModel("--"+flag, name)
			if failed == nil {
				failed = checkOutput("scores-out", o.save, path)
			}
			if err = cmp.Or(err, failed); err != nil {
				return nil
			}
			var m *evaluation.Model
			m, err = evaluation.ReadModel(path)
			models = append(models, m)
		}
		return models
	}
	m := o.models
	m.Models, m.Dev = read("model", o.names), read("dev", o.dev)
	if err != nil {
		return nil, err
	}
	if m.Data, err = catalog.Open(c.Context, cmp.Or(o.dataset, m.Models[0].Dataset), o.Options); err != nil {
		return nil, err
	}
	return o.Config.EvaluateModels(c.Context, m)
}

// evaluateScores evaluates the files that flags name.
func (o *evaluateOptions) evaluateScores(c *cli.Context) (*evaluation.Result, error) {
	err := cmp.Or(
		excludes(c, "scores", "split", "dataset", "dev", "scores-out", "adapt", "stress"),
		columnsOf(c.Context, &o.files, "", o.unseen),
	)
	validation := (*evaluation.ScoreFiles)(nil)
	if c.IsSet("val-scores") || c.IsSet("val-labels") || c.IsSet("val-unseen") {
		validation = &o.valFiles
		err = cmp.Or(err, columnsOf(c.Context, validation, "val-", o.valUnseen))
	}
	if err != nil {
		return nil, err
	}
	return o.EvaluateScores(c.Context, o.files, validation)
}

// columnsOf reads the columns of unseen classes of scores whose flags have a prefix.
func columnsOf(ctx context.Context, f *evaluation.ScoreFiles, prefix, columns string) (err error) {
	if f.Scores == "" || f.Labels == "" {
		return wrong("--"+prefix+"scores", fmt.Sprintf("both --%sscores and --%slabels", prefix, prefix), "")
	}
	flag := "--" + prefix + "unseen"
	switch {
	case columns == "":
		return nil
	case strings.Trim(columns, "0123456789, ") != "": // numbers are columns even if a file has such a name
		f.Unseen, err = npy.ReadIntegers(ctx, columns)
		return invalid.At(flag, err)
	}
	if f.Unseen, err = npy.ParseIntegers(flag, columns); err == nil && len(f.Unseen) == 0 {
		err = wrong(flag, "columns of unseen classes, as in 3,5,7", "none")
	}
	return err
}

// write writes the files that flags ask for.
func (o *evaluateOptions) write(r *evaluation.Result) (err error) {
	var written []string
	if o.save != "" {
		written, err = []string{o.save}, features.WriteNPY(o.save, r.Scores())
	}
	if o.csv != "" && err == nil {
		written, err = append(written, o.csv), r.WriteCSV(o.csv)
	}
	if o.figures != "" && err == nil {
		var figures []string
		figures, err = r.WriteFigures(o.figures)
		written = append(written, figures...)
	}
	if written != nil && err == nil {
		logrus.WithField("files", written).Info("written")
	}
	return err
}
