package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

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
	candidates []predictor.Selection
	empty      descriptions.Empty // cells of files of candidates
	request    evaluation.Request
	model, dev string
	dataset    string
	csv, save  string
}

func evaluateCommand() *cli.Command {
	var o evaluateOptions
	return &cli.Command{
		Name: "evaluate",
		Flags: flags(slices.Concat(o.dataSettings(), workSettings(), setting.List{
			setting.Of("model", &o.model, "", "", o.oneModel).Common().Describe(modelUsage),
			setting.Of("split", &o.request.Split, "", "", parseSplit).WithOptions("val", "test").
				Noted("val for runs of the dev stage, otherwise test").Common().
				Describe("classes whose samples are evaluated"),
			setting.Raw("dev", &o.dev, "").Noted("found beside the model").
				Describe("`MODEL` run of the dev stage to validate with"),
		}.In(inputGroup), setting.List{
			setting.Raw("csv", &o.csv, "").Common().
				Describe("`DIR` folder for samples.csv and classes.csv"),
			setting.Raw("scores_out", &o.save, "").
				Describe("`FILE` .npy file for the scores, samples x classes"),
			o.outputs.setting(),
		}.In(outputGroup), setting.List{
			candidatesSetting(&o.candidates, "those of --split").In(classGroup),
			emptySetting(&o.empty).In(classGroup),
			adaptSetting(&o.request.Adapt),
			setting.Raw("dataset", &o.dataset, "").In(setting.Data).Noted("that of the model").Common().
				Describe("`NAME` data set"),
		})),
		Action: interruptible(o.run),
	}
}

// oneModel reads --model, which took several models of an ensemble.
func (o *evaluateOptions) oneModel(name string) (string, error) {
	if o.model != "" {
		return "", &invalid.Error{
			Want: "one model", Got: "a second one",
			Hint: "An ensemble is the mean of the probabilities, softmax of --scores-out, of each model.",
		}
	}
	return name, nil
}

func parseSplit(text string) (evaluation.Split, error) {
	return invalid.OneOf(text, evaluation.ValSplit, evaluation.TestSplit)
}

func (o *evaluateOptions) run(c *cli.Context) error {
	r, err := o.evaluate(c)
	if err == nil {
		err = o.writeFiles(r)
	}
	if err != nil {
		return err
	}
	return o.print(r, r.Tables()...)
}

func (o *evaluateOptions) evaluate(c *cli.Context) (*evaluation.Result, error) {
	read := func(flag, name string) (*predictor.Model, error) {
		path, err := findModel("--"+flag, name)
		if err != nil {
			return nil, err
		}
		o.inputs = append(o.inputs, path)
		return evaluation.ReadModel(path)
	}
	q := o.request
	var err error
	if q.Model, err = read("model", o.model); err != nil {
		return nil, err
	}
	logModel(q.Model)
	if o.dev != "" {
		if q.Dev, err = read("dev", o.dev); err != nil {
			return nil, err
		}
	}
	o.inputs = append(o.inputs, format.Strings(o.candidates)...)
	if err := atFlag("scores-out", o.check(o.save)); err != nil {
		return nil, err
	}
	if q.Data, err = openView(c.Context, q.Model, o.dataset, o.Options); err != nil {
		return nil, err
	}
	warnData(q.Data, false)
	if o.candidates != nil {
		if q.Candidates, err = q.Model.NewCandidates(c.Context, q.Data, o.candidates, "", o.empty); err != nil {
			return nil, err
		}
	}
	return evaluation.Evaluate(c.Context, q)
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
