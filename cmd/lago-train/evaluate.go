package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/experiments/answers/evaluation"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/train/methods"
)

// modelSetting is that of commands that use one model.
func modelSetting(to *string) setting.Setting {
	return setting.Raw("model", to, "").In(inputGroup).Common().Describe(modelUsage)
}

const modelUsage = "`MODEL` a run's folder, a model file, the start of a run's name in ./runs, or latest"

// openModel opens the model that --model names.
func openModel(name string) (*predictor.Model, error) {
	path, err := findModel("--model", name)
	if err != nil {
		return nil, err
	}
	m, err := predictor.Open(path)
	if err == nil {
		logModel(m)
	}
	return m, err
}

// logModel says which model it is.
func logModel(m *predictor.Model) {
	of := ""
	if m.Trial != nil {
		of = fmt.Sprintf(", stage %s, seed %d", m.Trial.Stage, m.Trial.Seed)
	}
	logrus.Infof("model: %s trained on %s%s, in %s", m.Method.Label(), m.Dataset, of, m.Dir())
}

// openLAGO opens the model that --model names for commands that need a LAGO model.
func openLAGO(name string) (*predictor.Model, error) {
	m, err := openModel(name)
	if err != nil || m.Method.Name == methods.LAGO {
		return m, err
	}
	e := &invalid.Error{
		Where: "--model", Want: "a LAGO model, which has attribute groups",
		Got: m.Method.Label() + " in " + m.Dir(), Usage: true,
	}
	if last, isLAGO := lastModel(filepath.Dir(m.Dir())); isLAGO {
		e.Hint = "The last LAGO model beside it is " + last + "."
	}
	return nil, e
}

// openView opens a data set, that of the model if name is "", with the split of the model.
func openView(ctx context.Context, m *predictor.Model, name string,
	o catalog.Options,
) (*dataset.Dataset, error) {
	o.Absent = m.Absent
	d, err := catalog.Open(ctx, cmp.Or(name, m.Dataset), o)
	if err == nil {
		d = m.View(d)
	}
	return d, err
}

// openData opens a data set for the model, its own if name is "". It warns if the model was trained
// on other data of this name.
func openData(ctx context.Context, m *predictor.Model, name string,
	o catalog.Options,
) (*dataset.Dataset, error) {
	d, err := openView(ctx, m, name, o)
	if err != nil {
		return nil, err
	}
	logChanged(m.Changed(d))
	warnData(d, false)
	return d, m.Fits(d)
}

// logChanged logs how a data set differs from that of the training, as a warning if it harms.
func logChanged(how string, harms bool) {
	switch {
	case harms:
		logrus.Warn(how)
	case how != "":
		logrus.Info(how)
	}
}

// warnData logs what makes results on a data set worth less, see check.Use.
func warnData(d *dataset.Dataset, scales bool) {
	for _, finding := range check.Use(d, scales) {
		logrus.Warn(finding)
	}
}

type evaluateOptions struct {
	dataOptions
	outputs
	evaluation.Config
	candidates []predictor.Selection
	empty      descriptions.Empty // cells of files of candidates
	models     evaluation.Models
	names, dev []string
	dataset    string
	csv, save  string
}

func evaluateCommand() *command {
	o := evaluateOptions{Config: evaluation.Config{Bins: 15}}
	return &command{
		name: "evaluate",
		flags: slices.Concat(o.dataSettings(), workSettings(), setting.List{
			setting.Texts("model", &o.names).Common().Describe(modelUsage + "; repeat it for an ensemble"),
			setting.Of("split", &o.models.Split, "", "", parseSplit).WithOptions("val", "test").
				Noted("val for runs of the dev stage, otherwise test").Common().
				Describe("classes whose samples are evaluated"),
			setting.Texts("dev", &o.dev).Noted("found beside the model").
				Describe("`MODEL` run of the dev stage to validate with, one for each model"),
		}.In(inputGroup), setting.List{
			setting.Raw("csv", &o.csv, "").Common().
				Describe("`DIR` folder for CSV files: confusion matrix, samples, classes, curves"),
			setting.Raw("scores_out", &o.save, "").
				Describe("`FILE` .npy file for the scores, samples x classes"),
			o.outputs.setting(),
		}.In(outputGroup), setting.List{
			candidatesSetting(&o.candidates, "those of --split").In(classGroup),
			emptySetting(&o.empty).In(classGroup),
			adaptSetting(&o.models.Adapt),
			setting.Raw("dataset", &o.dataset, "").In(setting.Data).Noted("that of the model").Common().
				Describe("`NAME` data set"),
		}),
		run: o.run,
	}
}

// parseSplit reads --split. The generalised setting has its candidates, not a split.
func parseSplit(text string) (evaluation.Split, error) {
	if strings.EqualFold(text, "gzsl") {
		return "", &invalid.Error{
			Want: "val or test", Got: invalid.Quote(text),
			Hint: "For the generalised setting, among seen and unseen classes, give --candidates all.",
		}
	}
	return invalid.OneOf(text, evaluation.ValSplit, evaluation.TestSplit)
}

func (o *evaluateOptions) run(c *call) error {
	r, err := o.evaluateModels(c)
	if err == nil {
		err = o.writeFiles(r)
	}
	return o.print(r, err)
}

func (o *evaluateOptions) evaluateModels(c *call) (*evaluation.Result, error) {
	var err error
	read := func(flag string, names []string) (models []*predictor.Model) {
		for _, name := range names {
			path, failed := findModel("--"+flag, name)
			o.inputs = append(o.inputs, path)
			if err = cmp.Or(err, failed); err != nil {
				return nil
			}
			var m *predictor.Model
			if m, err = evaluation.ReadModel(path); err == nil && flag == "model" {
				logModel(m)
			}
			models = append(models, m)
		}
		return models
	}
	m := o.models
	m.Models, m.Dev = read("model", o.names), read("dev", o.dev)
	o.inputs = append(o.inputs, format.Strings(o.candidates)...)
	if err = cmp.Or(err, atFlag("scores-out", o.check(o.save))); err != nil {
		return nil, err
	}
	if m.Data, err = openView(c, m.Models[0], o.dataset, o.Options); err != nil {
		return nil, err
	}
	warnData(m.Data, false)
	if o.candidates != nil {
		if m.Candidates, err = m.Models[0].NewCandidates(c, m.Data, o.candidates, "", o.empty); err != nil {
			return nil, err
		}
	}
	return o.Config.EvaluateModels(c, m)
}

// writeFiles writes the files that flags ask for.
func (o *evaluateOptions) writeFiles(r *evaluation.Result) error {
	err := o.all(func(write fileWriter) (err error) {
		if o.save != "" {
			scores := r.Scores()
			err = write(o.save, func(w io.Writer) error {
				return npy.Write(w, scores.Rows, scores.Cols, scores.Data)
			})
		}
		if err == nil && o.csv != "" {
			err = r.WriteCSV(o.csv, write)
		}
		return err
	})
	if err == nil {
		o.log()
	}
	return err
}
