package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/experiments/predict"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
)

const (
	featuresFlag = "features"
	splitFlag    = "split"
	classesFlag  = "classes"
	amongFlag    = "among"
	formatFlag   = "format"
)

// selections are the values of --split and --among.
var selections = []candidates.Selection{candidates.Test, candidates.Val, candidates.Train, candidates.Seen, candidates.All}

func predictCommand() *cli.Command {
	return &cli.Command{
		Name:      "predict",
		Usage:     "predict classes of samples, seen or unseen, with a trained model",
		ArgsUsage: "[IMAGE...]",
		Description: `Predicts the class of each sample in a feature file (--features), in a data set (--dataset,
--split) or of photographs (--images, --weights), which are preprocessed as those that the
model was trained on. The classes to choose from are those of the data set that the
model was trained on, by default the test classes (--among), or new classes that a file
describes by some of the attributes (--classes), or both. A CSV file has one class per
line, with values from 0 to 1 or never, rarely, sometimes, often, always, yes, no:

   class,wing color: olive,bill length: short
   Olive Warbler,often,0.2

Missing entries are imputed from the other entries of their group (--impute).
Scores of LAGO are probabilities; those of baselines need a --temperature, which
"lago-train evaluate" fits.

With --adapt, all samples are read first and predicted together (transductive): clusters of similar
samples correct the model's probabilities. Its settings were chosen on validation classes when the
model was trained. It needs the memory of the features plus about 20 %, and about 20 seconds for
100,000 samples of 2,048 dimensions and 50 classes on two cores. The estimated share of each class
is printed on standard error.

Examples:
   lago-train predict --model latest --dataset awa2
   lago-train predict --model latest --features new.npy --classes birds.csv --adapt --format csv
   lago-train predict --model latest --weights resnet50.safetensors --images *.jpg`,
		Flags: append(append(dataFlags(), networkFlags()...),
			&cli.StringFlag{Name: modelFlag, Category: inputGroup, Usage: modelUsage},
			&cli.PathFlag{Name: featuresFlag, Category: inputGroup, Usage: "`FILE` features: .npy, .csv or .mat, or - for CSV on standard input"},
			&cli.GenericFlag{Name: imagesFlag, Value: &paths{}, Category: inputGroup, Usage: "`PATH` photograph, or folder of photographs; others can follow"},
			&cli.StringFlag{Name: datasetFlag, Category: dataGroup, Usage: "`NAME` data set whose samples are predicted"},
			choice(splitFlag, inputGroup, "classes of --dataset whose samples are predicted; seen is train and val", candidates.Test, selections...),
			amongFlagOf("none with --classes, otherwise --split"),
			classesFlagOf(),
			imputeFlag(),
			adaptFlag(),
			&cli.IntFlag{Name: "top", Category: outputGroup, Value: 5, Usage: "`N` best classes to write per sample"},
			&cli.Float64Flag{Name: "temperature", Category: outputGroup, DefaultText: "1 for LAGO", Usage: "`T` temperature of the probabilities softmax(s/T) of the scores s"},
			&cli.Float64Flag{Name: "min-confidence", Category: outputGroup, DefaultText: "never", Usage: "`P` abstain if the best class has a probability below this"},
			choice(formatFlag, outputGroup, "format of the predictions", predict.Table, predict.Table, predict.CSV, predict.JSONL),
			&cli.PathFlag{Name: outFlag, Category: outputGroup, DefaultText: "standard output", Usage: "`FILE` where to write"}),
		Action: interruptible(predictSamples),
	}
}

func imputeFlag() cli.Flag {
	return choice("impute", classGroup, "imputation of missing entries: neutral (within the group) or inferred (from all entries)", impute.Neutral, impute.Kinds...)
}

func amongFlagOf(standard string) cli.Flag {
	f := choices(amongFlag, classGroup, "classes of the data set to choose from: test, val, train, seen (train and val) or all", nil, selections...)
	f.DefaultText = standard
	return f
}

func classesFlagOf() cli.Flag {
	return &cli.PathFlag{Name: classesFlag, Category: classGroup, Usage: "`FILE` descriptions of classes to choose from: .csv or .json"}
}

func predictSamples(c *cli.Context) error {
	given := 0
	for _, flag := range []string{featuresFlag, datasetFlag, imagesFlag} {
		if c.IsSet(flag) {
			given++
		}
	}
	if given != 1 {
		return &invalid.Error{Where: "--features", Want: "one of --features, --dataset and --images"}
	}
	if c.IsSet(splitFlag) && !c.IsSet(datasetFlag) {
		return &invalid.Error{Where: "--split", Want: "--dataset beside it", Hint: "--among selects the classes to choose from."}
	}
	if !c.IsSet(imagesFlag) {
		if c.NArg() > 0 {
			return &invalid.Error{Where: c.Command.HelpName, Want: "flags only", Got: invalid.Quote(c.Args().First())}
		}
		if err := requires(c, imagesFlag, namesOf(networkFlags())...); err != nil {
			return err
		}
	}
	m, err := loadModel(c)
	if err != nil {
		return err
	}
	if err := checkAdaptation(c, m); err != nil {
		return err
	}
	o, err := predictOptions(c, m)
	if err != nil {
		return err
	}
	setImputation(c, m)
	out := c.Path(outFlag)
	if err := checkOutput(outFlag, out, m.path, c.Path(featuresFlag), c.Path(classesFlag)); err != nil {
		return err
	}
	src, d, selected, err := predictSource(c, m)
	if err != nil {
		return err
	}
	if file, ok := src.(io.Closer); ok {
		defer func() { _ = file.Close() }() // it was only read
	}
	set, err := candidateSet(c, d, selected)
	if err != nil {
		return err
	}
	scorer, err := model.NewScorer(m.Classifier, set.U)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		run := predict.Run
		if c.Bool(adaptArg) && m.Adaptation.Tau > 0 {
			run = adapted(m)
		}
		count, err := run(c.Context, src, scorer, set.Names, o, w)
		if err != nil {
			return err
		}
		logCount(count, o)
		return nil
	}
	if out != "" {
		return atomicfile.Write(out, write)
	}
	w := bufio.NewWriter(os.Stdout)
	return errors.Join(write(w), w.Flush())
}

// adapted returns predict.RunAdapted as a predict.Run.
func adapted(m *loadedModel) func(context.Context, predict.Source, model.Scorer, []string, predict.Options, io.Writer) (predict.Count, error) {
	return func(ctx context.Context, src predict.Source, scorer model.Scorer, classes []string, o predict.Options, w io.Writer) (predict.Count, error) {
		count, a, err := predict.RunAdapted(ctx, src, m.Saved, scorer, classes, o, w)
		if err != nil {
			return count, err
		}
		if warning := adaptation.Warning(m.Adaptation, a.Samples); warning != "" {
			logrus.Warn(warning)
		}
		return count, a.WriteText(os.Stderr)
	}
}

func setImputation(c *cli.Context, m *loadedModel) { m.SetImputation(impute.Kind(c.String("impute"))) }

// predictOptions reads the flags of the output.
func predictOptions(c *cli.Context, m *loadedModel) (predict.Options, error) {
	o := predict.Options{
		Top: c.Int("top"), Temperature: c.Float64("temperature"), Confidence: c.Float64("min-confidence"),
		Format: predict.Format(c.String(formatFlag)),
	}
	if c.IsSet("temperature") && o.Temperature == 0 {
		return o, &invalid.Error{Where: "--temperature", Want: "a finite number above 0", Got: "0"}
	}
	if o.Temperature == 0 {
		if _, err := m.LAGO(""); err == nil {
			o.Temperature = 1 // its scores are log p(z|x)
		}
	}
	if c.Bool(adaptArg) && m.Adaptation.Tau > 0 {
		o.Temperature = 1 // of the adapted probabilities
	}
	if err := o.Check(); err != nil {
		return o, err
	}
	if o.Temperature == 0 {
		logrus.Warnf("scores of %s are not probabilities; --temperature converts them", m.Method)
	}
	return o, nil
}

// predictSource opens the samples. It returns the data set that --among refers to, and
// the classes selected if the flag is not set.
func predictSource(c *cli.Context, m *loadedModel) (src predict.Source, d *dataset.Dataset, selected candidates.Selection, err error) {
	if path := c.Path(featuresFlag); path != "" {
		src, err = predict.OpenFeatures(c.Context, path, m.Saved)
		return src, candidates.TrainingData(m.Saved), candidates.Test, err
	}
	if c.IsSet(imagesFlag) {
		list, err := imageList(c)
		if err != nil {
			return nil, nil, selected, err
		}
		e, err := openImages(c, m, list)
		if err != nil {
			return nil, nil, selected, err
		}
		return e.NewSource(c.Context, list, showExtraction("extracting")), candidates.TrainingData(m.Saved), candidates.Test, nil
	}
	selected = candidates.Selection(c.String(splitFlag))
	if d, err = openDataset(c, c.String(datasetFlag), c.Int("dev-split")); err != nil {
		return nil, nil, selected, err
	}
	if err := m.Fits(d); err != nil {
		return nil, nil, selected, err
	}
	m.warnIfChanged(d)
	return predict.SamplesOf(d, selected), d, selected, nil
}

// candidateSet returns the classes to choose from; selected are those of d if neither
// --among nor --classes is set.
func candidateSet(c *cli.Context, d *dataset.Dataset, selected candidates.Selection) (candidates.Set, error) {
	list := []candidates.Selection{selected}
	if c.IsSet(amongFlag) {
		list = nil
		for _, name := range c.StringSlice(amongFlag) {
			s, err := invalid.OneOf(name, selections...)
			if err != nil {
				return candidates.Set{}, invalid.At("--"+amongFlag, err)
			}
			list = append(list, s)
		}
	}
	path := c.Path(classesFlag)
	if path == "" {
		return candidates.Of(d, list...), nil
	}
	read, err := candidates.Read(c.Context, path, d)
	if err != nil || !c.IsSet(amongFlag) {
		return read, err
	}
	return candidates.Of(d, list...).Join(read)
}

func logCount(n predict.Count, o predict.Options) {
	entry := logrus.WithField("samples", n.Samples)
	if o.Confidence > 0 {
		entry = entry.WithField("abstained", n.Abstained)
	}
	if n.Labelled > 0 {
		entry = entry.WithField("correct", n.Correct)
		if n.Labelled < n.Samples {
			entry = entry.WithField("of candidate classes", n.Labelled)
		}
	}
	entry.Info("predicted")
}
