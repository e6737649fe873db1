package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/experiments/explain"
	"github.com/lago-train/lago-train/experiments/predict"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
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
	adapt, forceAdapt        bool
	uncalibrated             bool
	to                       string // file
}

func (o *predictionOptions) settings(among string) setting.List {
	return slices.Concat(o.dataSettings().Without("json"), o.networkSettings(), setting.List{
		setting.Choices("among", &o.among, nil, candidates.Selections...).Noted(among).Common().
			Describe("classes of the data set to choose from: test, val, train, seen (train and val) or all"),
		setting.Raw("classes", &o.classes, "").Common().Describe("`FILE` descriptions of classes to choose from: .csv or .json"),
		setting.Choice("impute", &o.impute, impute.Neutral, impute.Kinds...).
			Describe("imputation of missing entries: neutral (within the group) or inferred (from all entries)"),
	}.In(classGroup), setting.List{
		modelSetting(&o.model),
		adaptSetting(&o.adapt),
		setting.Switch("force_adapt", &o.forceAdapt, false).In(methodGroup).Describe("adapt to batches that are smaller than the smallest one that validation found safe, too"),
		setting.Switch("no_calibration", &o.uncalibrated, false).In(outputGroup).Describe("print probabilities without the temperature that is stored with the model"),
		setting.Raw("to", &o.to, "").In(outputGroup).OrAs("out").Common().Noted("standard output").Describe("`FILE` where to write"),
	})
}

func adaptSetting(to *bool) setting.Setting {
	return setting.Switch("adapt", to, false).In(methodGroup).Common().Describe("adapt the predictions to all samples together (transductive)")
}

// networkFlagNames are those that need photographs.
var networkFlagNames = []string{"weights", "fit", "size", "stride-in-1x1", "boxes"}

// load loads the model, and checks that it can be adapted and that the output is no input.
func (o *predictionOptions) load(c *cli.Context) (*loadedModel, error) {
	m, err := loadModel(o.model)
	if err != nil {
		return nil, err
	}
	m.Pipeline = m.WithImputation(o.impute)
	if err := requires(c, "adapt", "force-adapt"); err != nil {
		return nil, err
	}
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
	return m, checkOutput("to", o.to, m.path, o.features, o.classes)
}

// logCalibration says whether probabilities are calibrated.
func (o *predictionOptions) logCalibration(c *cli.Context, m *loadedModel) {
	switch {
	case o.uncalibrated || c.IsSet("temperature"):
	case m.Calibration != nil:
		logrus.Infof("probabilities are calibrated on the validation classes (%s); --no-calibration prints them as scored", adaptation.CalibrationText(m.Calibration))
	case m.Method.Name == methods.LAGO:
		logrus.Info("probabilities are not calibrated: the model has no temperature, which lago-train run --stage full chooses on the validation classes")
	}
}

// adapts reports whether predictions are adapted, if the batch is large enough.
func (o *predictionOptions) adapts(m *loadedModel) bool { return o.adapt && m.Adaptation.Tau > 0 }

// logCandidates says which classes predictions choose from.
func logCandidates(m *loadedModel, set candidates.Set, d *dataset.Dataset) {
	const few = 5 // to name
	trained := 0
	for _, name := range set.Names {
		if m.TrainedOn(name) {
			trained++
		}
	}
	names := ""
	if len(set.Names) <= few {
		names = ": " + format.Printable(strings.Join(set.Names, ", "))
	}
	logrus.Infof("choosing from %s%s (%s, data set %s; %d unseen, %d seen in training); to choose from others: --among, --classes",
		format.Count(len(set.Names), "class"), names, format.Printable(set.What), format.Printable(d.Name), len(set.Names)-trained, trained)
}

// write writes what was found, to --to if it is given.
func (o *predictionOptions) write(write func(io.Writer) error) error {
	if o.to != "" {
		return fileio.Write(o.to, write)
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
	paths  map[string]string // of the images, by id
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
		}.In(inputGroup).Common(), setting.List{
			setting.Whole("top", &o.Top, 5, setting.Count).Common().Describe("`N` best classes to write per sample"),
			setting.Number("temperature", &o.Temperature, 0, setting.Positive).Noted("1 for LAGO").
				Describe("`T` temperature of the probabilities softmax(s/T) of the scores s"),
			setting.Number("min_confidence", &o.Confidence, 0, setting.Fraction).Noted("never").Common().Describe("`P` abstain if the best class has a probability below this"),
			setting.Choice("format", &o.Format, predict.Table, predict.Table, predict.CSV, predict.JSONL, predict.HTML).Common().
				Describe("format of the predictions; html is a page of pictures, with a .csv file beside it"),
		}.In(outputGroup), setting.List{
			setting.Raw("dataset", &o.dataset, "").In(setting.Data).Common().Describe("`NAME` data set whose samples are predicted"),
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
	switch {
	case o.Temperature > 0:
	case m.Calibration != nil && !o.uncalibrated:
		o.Temperature = m.Calibration.Temperature
	case m.Method.Name == methods.LAGO:
		o.Temperature = 1 // of log p(z|x)
	}
	checked := o.Options
	if o.adapts(m) {
		checked.Temperature = 1 // of the adapted probabilities
	} else {
		o.logCalibration(c, m)
	}
	if checked.Temperature == 0 {
		logrus.Warnf("scores of %s are not probabilities; --temperature converts them", m.Method.Label())
	}
	if err := checked.Check(); err != nil {
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
	logCandidates(m, set, d)
	if outside, n := predict.Outside(src, set.Names); outside > 0 {
		logrus.Warnf("%d of %s belong to none of these classes, so that their predictions are wrong", outside, format.Count(n, "sample"))
	}
	scorer, err := model.NewScorer(m.Pipeline, set.U)
	if err != nil {
		return err
	}
	predictions := func(w io.Writer) error {
		if !o.adapts(m) {
			count, err := predict.Run(c.Context, src, scorer, set.Names, o.Options, w)
			if err == nil {
				o.logCount(count)
			}
			return err
		}
		debug.SetGCPercent(garbage)
		count, a, err := predict.RunAdapted(c.Context, src, m.Saved, scorer, set.Names, o.forceAdapt, o.Options, w)
		if err != nil {
			return err
		}
		warnSmall(m, count.Samples, a.Result != nil)
		o.logCount(count)
		if a.Result == nil {
			o.logCalibration(c, m)
			return nil
		}
		logrus.Info("adapted probabilities are those of the settings of --adapt, which were chosen for accuracy: they are not calibrated")
		return table.WriteText(os.Stderr, a.Table(set.Names))
	}
	if o.Format != predict.HTML {
		return o.write(predictions)
	}
	if err := checkOutput("to", o.beside(), m.path, o.classes); err != nil {
		return err
	}
	o.Sheet = o.sheet(c, m, src, d, set)
	if err := fileio.Write(o.beside(), predictions); err != nil {
		return err
	}
	return fileio.Write(o.to, o.Sheet.Write)
}

// beside is the CSV file of a contact sheet.
func (o *predictOptions) beside() string { return strings.TrimSuffix(o.to, ".html") + ".csv" }

// sheet returns the contact sheet to fill.
func (o *predictOptions) sheet(c *cli.Context, m *loadedModel, src predict.Source, d *dataset.Dataset, set candidates.Set) *predict.Sheet {
	of := src.(predict.Identified) // of images or of a data set, see checkSources
	s := &predict.Sheet{
		Title: format.Count(of.Len(), "prediction"), Confidence: o.Confidence,
		Note: fmt.Sprintf("%s trained on %s, choosing from %d %s. Every number is in %s.", m.Method.Label(), m.Dataset, len(set.Names), set.What, filepath.Base(o.beside())),
		Picture: func(i int) (image.Image, error) {
			row, id, _ := of.Sample(i)
			if o.images == nil {
				return pictureOf(c, d, row, predict.PictureSide)
			}
			return images.Thumbnail(c.Context, o.paths[id], predict.PictureSide)
		},
	}
	if m.Method.Name == methods.LAGO && len(set.Names) > 1 {
		s.Reason = func(x dataset.Matrix[float32], row int) (string, error) {
			r, err := explain.Explain(m.Saved, explain.Question{X: x, Row: row, Candidates: set, Uncalibrated: o.uncalibrated})
			if err != nil {
				return "", err
			}
			return r.Sentence(), nil
		}
	}
	return s
}

// checkSources returns an error unless the samples come from one place.
func (o *predictOptions) checkSources(c *cli.Context) error {
	given := slices.DeleteFunc([]string{"features", "dataset", "images"}, func(flag string) bool { return !c.IsSet(flag) })
	if len(given) != 1 {
		found := "none"
		for i, flag := range given {
			given[i] = dashed(flag)
			found = format.List(given, "and")
		}
		return wrong("--features", "one of --features, --dataset and --images", found)
	}
	if !c.IsSet("images") && c.NArg() > 0 {
		return wrong(c.Command.HelpName, "flags only", invalid.Quote(c.Args().First()))
	}
	if o.Format == predict.HTML {
		switch {
		case c.IsSet("features"):
			return wrong("--format", "samples of --images or --dataset for html", "--features")
		case !strings.HasSuffix(o.to, ".html"):
			return wrong("--to", "a file that ends in .html for --format html", invalid.Quote(o.to))
		}
	}
	return cmp.Or(requires(c, "dataset", "split"), requires(c, "images", networkFlagNames...))
}

// warnSmall warns of a batch that is too small to adapt to.
func warnSmall(m *loadedModel, samples int, adapted bool) {
	if samples >= m.Adaptation.Smallest {
		return
	}
	then := "; predictions are not adapted (--force-adapt adapts them)"
	if adapted {
		then = "; predictions are adapted because of --force-adapt"
	}
	logrus.Warn(adaptation.Warning(m.Adaptation, samples), then)
}

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
		o.paths = map[string]string{}
		for _, m := range list {
			o.paths[m.ID] = m.Path
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
