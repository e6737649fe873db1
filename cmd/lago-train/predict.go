package main

import (
	"bufio"
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

func (o *predictionOptions) flags(among string) []cli.Flag {
	amongFlag := choices(&o.among, "among", classGroup, "classes of the data set to choose from: test, val, train, seen (train and val) or all", nil, candidates.Selections...)
	amongFlag.DefaultText = among
	return append(append(without(o.splitFlags(), "json"), o.networkOptions.flags()...),
		modelFlag(&o.model), amongFlag,
		&cli.PathFlag{Name: "classes", Category: classGroup, Usage: "`FILE` descriptions of classes to choose from: .csv or .json", Destination: &o.classes},
		choice(&o.impute, "impute", classGroup, "imputation of missing entries: neutral (within the group) or inferred (from all entries)", impute.Neutral, impute.Kinds...),
		adaptFlag(&o.adapt),
		&cli.PathFlag{Name: "out", Category: outputGroup, DefaultText: "standard output", Usage: "`FILE` where to write", Destination: &o.out})
}

func adaptFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "adapt", Category: methodGroup, Usage: "adapt the predictions to all samples together (transductive)", Destination: to}
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
	images paths
	split  candidates.Selection
}

func predictCommand() *cli.Command {
	var o predictOptions
	return &cli.Command{
		Name:      "predict",
		Usage:     "predict classes of samples, seen or unseen, with a trained model",
		ArgsUsage: "[IMAGE...]",
		Description: `Predicts the class of each sample in a feature file (--features), in a data set (--dataset, --split)
or of photographs (--images, --weights). The classes to choose from are those of the data set that the
model was trained on (--among), or new classes that a file describes by some of the attributes
(--classes), or both. A CSV file has one class per line, with values from 0 to 1 or never, rarely,
sometimes, often, always, yes, no; missing entries are imputed (--impute):

   class,wing color: olive,bill length: short
   Olive Warbler,often,0.2

Scores of LAGO are probabilities; those of baselines need a --temperature, which evaluate fits. With
--adapt, all samples are read first and predicted together (transductive): clusters of similar samples
correct the model's probabilities. It needs the memory of the features plus about 20 %.

Examples:
   lago-train predict --model latest --dataset awa2
   lago-train predict --model latest --features new.npy --classes birds.csv --adapt --format csv
   lago-train predict --model latest --weights resnet50.safetensors --images *.jpg`,
		Flags: append(o.predictionOptions.flags("none with --classes, otherwise --split"),
			&cli.PathFlag{Name: "features", Category: inputGroup, Usage: "`FILE` features: .npy, .csv or .mat, or - for CSV on standard input", Destination: &o.features},
			&cli.GenericFlag{Name: "images", Value: &o.images, Category: inputGroup, Usage: "`PATH` photograph, or folder of photographs; others can follow"},
			&cli.StringFlag{Name: "dataset", Category: dataGroup, Usage: "`NAME` data set whose samples are predicted", Destination: &o.dataset},
			choice(&o.split, "split", inputGroup, "classes of --dataset whose samples are predicted; seen is train and val", candidates.Test, candidates.Selections...),
			&cli.IntFlag{Name: "top", Category: outputGroup, Value: 5, Usage: "`N` best classes to write per sample", Destination: &o.Top},
			&cli.Float64Flag{Name: "temperature", Category: outputGroup, DefaultText: "1 for LAGO", Usage: "`T` temperature of the probabilities softmax(s/T) of the scores s", Destination: &o.Temperature},
			&cli.Float64Flag{Name: "min-confidence", Category: outputGroup, DefaultText: "never", Usage: "`P` abstain if the best class has a probability below this", Destination: &o.Confidence},
			choice(&o.Format, "format", outputGroup, "format of the predictions", predict.Table, predict.Table, predict.CSV, predict.JSONL)),
		Action: interruptible(o.run),
	}
}

func (o *predictOptions) run(c *cli.Context) error {
	if err := o.checkSources(c); err != nil {
		return err
	}
	m, err := o.load(c)
	if err != nil {
		return err
	}
	if err := o.setTemperature(c, m); err != nil {
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
	write := func(w io.Writer) error {
		if o.adapts(m) {
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
		}
		count, err := predict.Run(c.Context, src, scorer, set.Names, o.Options, w)
		if err == nil {
			o.logCount(count)
		}
		return err
	}
	return o.write(write)
}

// checkSources returns an error unless the samples come from one place.
func (o *predictOptions) checkSources(c *cli.Context) error {
	given := 0
	for _, flag := range []string{"features", "dataset", "images"} {
		if c.IsSet(flag) {
			given++
		}
	}
	if given != 1 {
		return wrong("--features", "one of --features, --dataset and --images", "")
	}
	if c.IsSet("split") && !c.IsSet("dataset") {
		return &invalid.Error{Where: "--split", Want: "--dataset beside it", Hint: "--among selects the classes to choose from.", Usage: true}
	}
	if c.IsSet("images") {
		return nil
	}
	if c.NArg() > 0 {
		return wrong(c.Command.HelpName, "flags only", invalid.Quote(c.Args().First()))
	}
	return requires(c, "images", networkFlagNames...)
}

func (o *predictOptions) adapts(m *loadedModel) bool { return o.adapt && m.Adaptation.Tau > 0 }

// setTemperature sets the temperature that the method needs, and checks the flags of the
// output.
func (o *predictOptions) setTemperature(c *cli.Context, m *loadedModel) error {
	if c.IsSet("temperature") && o.Temperature == 0 {
		return wrong("--temperature", "a finite number above 0", "0")
	}
	if o.adapts(m) || o.Temperature == 0 && m.Method.Name == methods.LAGO {
		o.Temperature = 1 // of log p(z|x), or of the adapted probabilities
	}
	if err := o.Check(); err != nil {
		return err
	}
	if o.Temperature == 0 {
		logrus.Warnf("scores of %s are not probabilities; --temperature converts them", m.Method.Label())
	}
	return nil
}

// source opens the samples. It returns the data set that --among refers to, and the classes
// selected if the flag is not set.
func (o *predictOptions) source(c *cli.Context, m *loadedModel) (src predict.Source, d *dataset.Dataset, selected candidates.Selection, err error) {
	d, selected = candidates.TrainingData(m.Saved), candidates.Test
	switch {
	case o.features != "":
		src, err = predict.OpenFeatures(c.Context, o.features, m.Saved)
		return src, d, selected, err
	case len(o.images) > 0:
		list, err := imageList(slices.Concat(o.images, c.Args().Slice()))
		if err != nil {
			return nil, nil, selected, err
		}
		e, err := o.networkOptions.open(c, m, list)
		if err != nil {
			return nil, nil, selected, err
		}
		return e.NewSource(c.Context, list, showExtraction("extracting")), d, selected, nil
	}
	selected = o.split
	if d, err = m.open(c.Context, &o.dataOptions, o.dataset); err != nil {
		return nil, nil, selected, err
	}
	return predict.SamplesOf(d, selected), d, selected, nil
}

func (o *predictOptions) logCount(n predict.Count) {
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
