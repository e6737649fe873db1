package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/experiments/explain"
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
	return slices.Concat(o.dataSettings().Without("json"), o.networkSettings(), setting.List{
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
	m.Pipeline = m.WithImputation(o.impute)
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
			setting.Whole("top", &o.Top, 5, setting.Count).Describe("`N` best classes to write per sample"),
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

// explainOptions are those of the command explain.
type explainOptions struct {
	predictionOptions
	sample, image, against string
	format                 explain.Format
	top                    int
}

func explainCommand() *cli.Command {
	var o explainOptions
	return &cli.Command{
		Name: "explain",
		Flags: flags(o.settings("none with --classes, otherwise those of the sample's class, or test"), setting.List{
			setting.Raw("sample", &o.sample, "").In(inputGroup).
				Describe("`INDEX` sample in the data set or in --features, from 0, or its id; required without --image"),
			setting.Raw("image", &o.image, "").In(inputGroup).Describe("`FILE` photograph"),
			setting.Raw("features", &o.features, "").In(inputGroup).Describe("`FILE` features: .npy, .csv or .mat"),
			setting.Raw("dataset", &o.dataset, "").In(setting.Data).Noted("that of the model").Describe("`NAME` data set"),
			setting.Raw("against", &o.against, "").In(classGroup).Noted("the runner-up").Describe("`NAME` class to compare the prediction with"),
			setting.Choice("format", &o.format, explain.Text, explain.Text, explain.JSON, explain.HTML).In(outputGroup).
				Describe("format of the explanation"),
			setting.Whole("top", &o.top, 5, setting.Count).In(outputGroup).Describe("`N` groups and changes to show; json has all groups"),
		}),
		Action: interruptible(o.run),
	}
}

func (o *explainOptions) run(c *cli.Context) error {
	if err := cmp.Or(
		excludes(c, "features", "dataset"),
		excludes(c, "image", "sample", "features", "dataset", "adapt"),
		requires(c, "image", networkFlagNames...),
	); err != nil {
		return err
	}
	if o.image == "" && o.sample == "" {
		return wrong("--sample", "the index of a sample, from 0, or --image", "none")
	}
	m, err := o.load(c)
	if err != nil {
		return err
	}
	if _, err := m.LAGO(); err != nil {
		return usageAt("explain", err) // before a data set is read
	}
	q, d, selected := new(explain.Question), candidates.TrainingData(m.Saved), candidates.Test
	switch {
	case o.features != "":
		err = o.askAboutFile(c, m, q)
	case o.image != "":
		err = o.askAboutImage(c, m, q)
	default:
		if d, err = m.open(c.Context, &o.dataOptions, o.dataset); err == nil {
			selected, err = o.askAboutDataset(c, m, d, q)
		}
	}
	if err != nil {
		return err
	}
	if q.Candidates, err = o.candidateSet(c, d, selected); err != nil {
		return err
	}
	q.Against, q.Top = o.against, o.top
	result, err := explain.Explain(m.Saved, *q)
	if err != nil {
		return err
	}
	return o.write(func(w io.Writer) error { return result.Write(w, o.format, o.top) })
}

// askAboutDataset asks about a sample of a data set. It returns the classes selected if --among
// is not set.
func (o *explainOptions) askAboutDataset(c *cli.Context, m *loadedModel, d *dataset.Dataset, q *explain.Question) (candidates.Selection, error) {
	sample, err := explain.FindSample(d, o.sample)
	if err != nil {
		return "", err
	}
	row := sample.Index
	if sample.Trained = m.trainedOn(d, row); sample.Trained {
		logrus.Warnf("the model was trained on samples of class %q: the prediction of sample %d says little about new samples", *sample.Label, row)
	}
	selected := candidates.SelectionOf(d, d.Labels[row])
	picture := func(row int) (image.Image, error) { return pictureOf(c, d, row) }
	if o.adapt {
		q.Together = &explain.Together{Rows: d.SamplesOf(slices.Concat(selected.Classes(d), []int{d.Labels[row]})), IDs: d.IDs, Picture: picture}
	}
	q.X, q.Row, q.Sample = d.Features, row, sample
	q.Sample.Picture, err = picture(row)
	return selected, err
}

// pictureOf returns the picture of a sample, nil if there is none.
func pictureOf(c *cli.Context, d *dataset.Dataset, row int) (image.Image, error) {
	if d.Name == catalog.Glyphs {
		return glyphs.Image(row)
	}
	path := d.ImageOf(row)
	if path == "" {
		return nil, nil
	}
	picture, err := images.Thumbnail(c.Context, path, explain.PictureSide)
	if err != nil {
		logrus.WithError(err).Warn("the page has no picture")
		return nil, nil
	}
	return picture, nil
}

// askAboutFile asks about a row of a feature file.
func (o *explainOptions) askAboutFile(c *cli.Context, m *loadedModel, q *explain.Question) error {
	index, err := strconv.Atoi(o.sample)
	if err != nil {
		return wrong("--sample", "the index of a row, from 0", invalid.Quote(o.sample))
	}
	q.Sample = explain.Sample{Index: index, From: o.features}
	q.X, err = features.ReadAll(c.Context, o.features)
	switch {
	case err != nil:
	case q.X.Cols != m.Dims:
		err = wrong("--features", fmt.Sprintf("%d features per sample, as the model was trained on", m.Dims), strconv.Itoa(q.X.Cols))
	case index < 0 || index >= q.X.Rows:
		err = wrong("--sample", fmt.Sprintf("0 to %d", q.X.Rows-1), o.sample)
	case o.adapt:
		q.Together = &explain.Together{Rows: q.X.AllRows()}
	}
	q.Row = index
	return err
}

// askAboutImage asks about a photograph.
func (o *explainOptions) askAboutImage(c *cli.Context, m *loadedModel, q *explain.Question) error {
	list := []images.Image{{ID: o.image, Path: o.image}}
	e, err := o.extractor(c, m, list)
	if err != nil {
		return err
	}
	q.Sample, q.X = explain.Sample{ID: o.image, From: o.image}, dataset.NewMatrix[float32](1, m.Dims)
	if _, err := e.NewSource(c.Context, list, nil).Read(q.X); err != nil {
		return err
	}
	q.Sample.Picture, err = images.Thumbnail(c.Context, o.image, explain.PictureSide)
	return err
}
