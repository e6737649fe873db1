package main

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/experiments/predict"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/train/methods"
)

// predictionOptions are those of the commands that predict with one model.
type predictionOptions struct {
	dataOptions
	networkOptions
	model, features, dataset string
	among                    []candidates.Selection
	classes                  string // file
	impute                   impute.Kind
	adapt                    bool
	out                      string
}

func (o *predictionOptions) settings(among string) setting.List {
	return slices.Concat(o.readSettings(), setting.List{o.splitSetting()}, o.networkSettings(), setting.List{
		setting.Choices("among", &o.among, nil, candidates.Selections...).Noted(among).
			Describe("classes of the data set to choose from: test, val, train, seen (train and val) or all"),
		setting.Raw("classes", &o.classes, "").Describe("`FILE` descriptions of classes to choose from: .csv or .json"),
		setting.Choice("impute", &o.impute, impute.Neutral, impute.Kinds...).
			Describe("imputation of missing entries: neutral (within the group) or inferred (from all entries)"),
	}.In(classGroup), setting.List{
		modelSetting(&o.model),
		adaptSetting(&o.adapt),
		setting.Raw("out", &o.out, "").In(outputGroup).Noted("standard output").Describe("`FILE` where to write"),
	})
}

func adaptSetting(to *bool) setting.Setting {
	return setting.Switch("adapt", to, false).In(methodGroup).Describe("adapt the predictions to all samples together (transductive)")
}

// networkFlagNames are those that need photographs.
var networkFlagNames = []string{"weights", "fit", "size", "stride-in-1x1", "boxes"}

// load loads the model, and checks that it can be adapted and that the output is no input.
func (o *predictionOptions) load(c *cli.Context) (*loadedModel, error) {
	m, err := loadModel(o.model)
	if err != nil {
		return nil, err
	}
	m.SetImputation(o.impute)
	if o.adapt {
		if err := excludes(c, "adapt", "temperature"); err != nil {
			return nil, err
		}
		a, err := adaptation.Settings(m.Saved, m.path)
		if err != nil {
			return nil, err
		}
		if a.Tau == 0 {
			logrus.Warn(adaptation.Warning(a, 0), "; predictions are those without --adapt")
		}
	}
	return m, checkOutput("out", o.out, m.path, o.features, o.classes)
}

// write writes what was found, to --out if it is given.
func (o *predictionOptions) write(write func(io.Writer) error) error {
	if o.out != "" {
		return fileio.Write(o.out, write)
	}
	w := bufio.NewWriter(os.Stdout)
	return errors.Join(write(w), w.Flush())
}

// candidateSet returns the classes to choose from; selected are those of d if neither
// --among nor --classes is set.
func (o *predictionOptions) candidateSet(c *cli.Context, d *dataset.Dataset, selected candidates.Selection) (candidates.Set, error) {
	list := o.among
	if list == nil {
		list = []candidates.Selection{selected}
	}
	if o.classes == "" {
		return candidates.Of(d, list...), nil
	}
	read, err := candidates.Read(c.Context, o.classes, d)
	if err != nil || o.among == nil {
		return read, err
	}
	return candidates.Of(d, list...).Join(read)
}

// predictOptions are those of the command predict.
type predictOptions struct {
	predictionOptions
	predict.Options
	images []string
	split  candidates.Selection
}

func predictCommand() *cli.Command {
	var o predictOptions
	return &cli.Command{
		Name:      "predict",
		ArgsUsage: "[IMAGE...]",
		Flags: flags(o.settings("none with --classes, otherwise --split"), setting.List{
			setting.Raw("features", &o.features, "").Describe("`FILE` features: .npy, .csv or .mat, or - for CSV on standard input"),
			setting.Of("images", &o.images, nil, "", o.addImage).Describe("`PATH` photograph, or folder of photographs; others can follow"),
			setting.Choice("split", &o.split, candidates.Test, candidates.Selections...).Describe("classes of --dataset whose samples are predicted; seen is train and val"),
		}.In(inputGroup), setting.List{
			setting.Whole("top", &o.Top, 5, setting.AtLeast(1)).Describe("`N` best classes to write per sample"),
			setting.Number("temperature", &o.Temperature, 0, setting.Positive).Noted("1 for LAGO").
				Describe("`T` temperature of the probabilities softmax(s/T) of the scores s"),
			setting.Number("min_confidence", &o.Confidence, 0, setting.NotNegative).Noted("never").Describe("`P` abstain if the best class has a probability below this"),
			setting.Choice("format", &o.Format, predict.Table, predict.Table, predict.CSV, predict.JSONL).Describe("format of the predictions"),
		}.In(outputGroup), setting.List{
			setting.Raw("dataset", &o.dataset, "").In(setting.Data).Describe("`NAME` data set whose samples are predicted"),
		}),
		Action: interruptible(o.run),
	}
}

// addImage reads --images, which can be repeated with paths that may have commas.
func (o *predictOptions) addImage(path string) ([]string, error) { return append(o.images, path), nil }

func (o *predictOptions) run(c *cli.Context) error {
	if err := o.checkSources(c); err != nil {
		return err
	}
	m, err := o.load(c)
	if err != nil {
		return err
	}
	if o.adapts(m) || o.Temperature == 0 && m.Method.Name == methods.LAGO {
		o.Temperature = 1 // of log p(z|x), or of the adapted probabilities
	}
	if o.Temperature == 0 {
		logrus.Warnf("scores of %s are not probabilities; --temperature converts them", m.Method.Label())
	}
	if err := o.Check(); err != nil {
		return err
	}
	src, d, selected, err := o.source(c, m)
	if err != nil {
		return err
	}
	if file, ok := src.(io.Closer); ok {
		defer func() { _ = file.Close() }() // it was only read
	}
	set, err := o.candidateSet(c, d, selected)
	if err != nil {
		return err
	}
	scorer, err := model.NewScorer(m.Pipeline, set.U)
	if err != nil {
		return err
	}
	return o.write(func(w io.Writer) error {
		if !o.adapts(m) {
			count, err := predict.Run(c.Context, src, scorer, set.Names, o.Options, w)
			if err == nil {
				o.logCount(count)
			}
			return err
		}
		debug.SetGCPercent(garbage)
		count, a, err := predict.RunAdapted(c.Context, src, m.Saved, scorer, set.Names, o.Options, w)
		if err != nil {
			return err
		}
		if warning := adaptation.Warning(m.Adaptation, a.P.Rows); warning != "" {
			logrus.Warn(warning)
		}
		o.logCount(count)
		return table.WriteText(os.Stderr, a.Table(set.Names))
	})
}

// checkSources returns an error unless the samples come from one place.
func (o *predictOptions) checkSources(c *cli.Context) error {
	given := slices.DeleteFunc([]string{"features", "dataset", "images"}, func(flag string) bool { return !c.IsSet(flag) })
	if len(given) != 1 {
		return wrong("--features", "one of --features, --dataset and --images", "")
	}
	if !c.IsSet("images") && c.NArg() > 0 {
		return wrong(c.Command.HelpName, "flags only", invalid.Quote(c.Args().First()))
	}
	return cmp.Or(requires(c, "dataset", "split"), requires(c, "images", networkFlagNames...))
}

func (o *predictOptions) adapts(m *loadedModel) bool { return o.adapt && m.Adaptation.Tau > 0 }

// source opens the samples. It returns the data set that --among refers to, and the classes
// selected if the flag is not set.
func (o *predictOptions) source(c *cli.Context, m *loadedModel) (src predict.Source, d *dataset.Dataset, selected candidates.Selection, err error) {
	d, selected = candidates.TrainingData(m.Saved), candidates.Test
	switch {
	case o.features != "":
		src, err = predict.OpenFeatures(c.Context, o.features, m.Saved)
	case o.images != nil:
		list, err := imageList(slices.Concat(o.images, c.Args().Slice()))
		if err != nil {
			return nil, nil, "", err
		}
		e, err := o.extractor(c, m, list)
		if err != nil {
			return nil, nil, "", err
		}
		src = e.NewSource(c.Context, list, showExtraction("extracting"))
	default:
		if d, err = m.open(c.Context, &o.dataOptions, o.dataset); err != nil {
			return nil, nil, "", err
		}
		src, selected = predict.SamplesOf(d, o.split), o.split
	}
	return src, d, selected, err
}

func (o *predictOptions) logCount(n predict.Count) {
	fields := logrus.Fields{"samples": n.Samples}
	if o.Confidence > 0 {
		fields["abstained"] = n.Abstained
	}
	if n.Labelled > 0 {
		fields["correct"], fields["of candidate classes"] = n.Correct, n.Labelled
	}
	logrus.WithFields(fields).Info("predicted")
}
