package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/experiments/answers/evaluation"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/experiments/studies"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

func runsSetting(to *string) setting.Setting {
	return setting.Raw("from", to, defaultRuns).In(inputGroup)
}

func runsCommand() *cli.Command {
	var from string
	var o dataOptions
	var filter results.RunFilter
	return &cli.Command{
		Name: "runs",
		Flags: flags(slices.Concat(setting.List{
			runsSetting(&from),
			setting.Choice("method", &filter.Method, "", methods.Labels()...).OrAs("variant").Noted("all"),
			setting.Choice("stage", &filter.Stage, "", string(train.Dev), string(train.Test)).Noted("all"),
			setting.Choice("status", &filter.Status, "", format.Strings(results.RunStatuses)...).Noted("all"),
		}.In(inputGroup).Common(), setting.List{
			o.jsonSetting(),
		}.Common())),
		Action: interruptible(func(*cli.Context) error {
			l, err := filter.List(from)
			return o.print(l, err)
		}),
	}
}

func reportCommand() *cli.Command {
	var from, to, figures string
	var o dataOptions
	var out outputs
	return &cli.Command{
		Name: "report",
		Flags: flags(setting.List{
			runsSetting(&from),
			setting.Raw("to", &to, "report.html").In(outputGroup),
			setting.Raw("figures", &figures, "").In(outputGroup),
			out.setting(),
			o.jsonSetting(),
		}.Common()),
		Action: interruptible(func(c *cli.Context) error {
			if ext := strings.ToLower(filepath.Ext(to)); ext != ".html" && ext != ".htm" {
				return wrong("--to", "a file that ends in .html", invalid.Quote(to))
			}
			page, err := results.ReadReport(c.Context, from, studies.Kinds())
			if err != nil {
				return err
			}
			s := &page.Summary
			s.Page = to
			err = out.All(func(write fileio.Writer) error {
				err := write(to, page.Write)
				if err == nil && figures != "" {
					s.Figures, err = plot.WriteFiles(write, figures, page.Figures()...)
				}
				return err
			})
			return o.print(s, err)
		}),
	}
}

type evaluateOptions struct {
	dataOptions
	outputs
	candidates []predictor.Selection
	empty      descriptions.Empty // cells of files of candidates
	request    evaluation.Request
	model      string
	dataset    string
	csv        string
}

func evaluateCommand() *cli.Command {
	var o evaluateOptions
	return &cli.Command{
		Name: "evaluate",
		Flags: flags(slices.Concat(o.dataSettings(), workSettings(), setting.List{
			modelSetting(&o.model),
		}.In(inputGroup), setting.List{
			setting.Raw("csv", &o.csv, "").Common(),
			o.outputs.setting(),
		}.In(outputGroup), setting.List{
			candidatesSetting(&o.candidates, "test, or val for runs of the dev stage").In(classGroup),
			emptySetting(&o.empty).In(classGroup),
			adaptSetting(&o.request.Adapt),
			setting.Raw("dataset", &o.dataset, "").In(setting.Data).Noted("that of the model").Common(),
		})),
		Action: interruptible(o.run),
	}
}

func (o *evaluateOptions) run(c *cli.Context) error {
	r, err := o.evaluate(c)
	if err == nil && o.csv != "" {
		err = o.All(func(write fileio.Writer) error { return r.WriteCSV(o.csv, write) })
		o.log()
	}
	return o.print(r, err)
}

func (o *evaluateOptions) evaluate(c *cli.Context) (*evaluation.Evaluation, error) {
	path, err := findModel("--model", o.model)
	if err != nil {
		return nil, err
	}
	q := o.request
	if q.Model, err = evaluation.ReadModel(path); err != nil {
		return nil, err
	}
	logModel(q.Model)
	if q.Data, err = openView(c.Context, q.Model, o.dataset, o.Options); err != nil {
		return nil, err
	}
	warnData(q.Data, false)
	if o.candidates != nil {
		q.Candidates, err = q.Model.NewCandidates(c.Context, q.Data, o.candidates, "", o.empty)
		if err != nil {
			return nil, err
		}
	}
	return evaluation.Evaluate(c.Context, q)
}
