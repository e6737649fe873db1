package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/predict"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/train"
)

func predictCommand() *cli.Command {
	const question, answer = "question", "answer"
	return &cli.Command{
		Name:  "predict",
		Usage: "name samples by a trained model, among known classes or new ones that a file describes",
		Description: `Names each sample of --features (.npy, .csv or .mat, samples x D as the model was trained
on; - is CSV on stdin), or of a data set's --split. Samples stream through: their number
is not bound by memory, but for .mat.

Classes are those of the data set that the model was trained on, which travel with it
(--among, the test classes by default), or new ones that --classes describes by the
names of attributes; with --among too, both:

   class,wing color: olive,bill length: short    a row a class, or the columns
   Olive Warbler,often,0.2                       class,attribute,value, or JSON
                                                 {"class": {"attribute": value}}

Values are 0 to 1 or never, rarely, sometimes, often, always, yes and no. A handful of
attributes will do. What is left out of a group of attributes counts as what is said
there lets one expect, by the classes that the model learned from; a group of which
nothing is said speaks neither for the class nor against it. With --impute inferred, all
that is said counts for all that is not.

Probabilities are those of LAGO, whose temperature evaluate can fit (--temperature).
Other methods give scores; a temperature makes them probabilities. With --min-confidence
a sample whose best class is less probable is "unsure": null in jsonl, empty in csv.`,
		Flags: append(dataFlags(),
			&cli.PathFlag{Name: modelFlag, Category: question, Required: true, Usage: "`DIR` of a run, or the file of a model"},
			&cli.PathFlag{Name: featuresFlag, Category: question, Usage: "`FILE` of the features of samples: .npy, .csv or .mat, or - for CSV on stdin"},
			&cli.StringFlag{Name: datasetFlag, Category: question, Usage: "`NAME` of a data set to name samples of"},
			&cli.StringFlag{Name: splitFlag, Category: question, Value: string(predict.Test), Usage: "`NAME` of the data set's classes whose samples to name: test, val, train, seen (train and val) or all"},
			&cli.PathFlag{Name: classesFlag, Category: question, Usage: "`FILE` of classes to choose from and their descriptions: .csv or .json"},
			&cli.StringSliceFlag{Name: amongFlag, Category: question, DefaultText: "none beside --classes, else those of --split", Usage: "`NAME,NAME...` of the classes to choose from: test, val, train, seen or all"},
			&cli.StringFlag{Name: "impute", Category: question, Value: string(impute.Neutral), Usage: "`KIND` of rule for what a description leaves out: neutral or inferred"},
			&cli.IntFlag{Name: "top", Category: answer, Value: 5, Usage: "tell the `N` best classes of each sample"},
			&cli.Float64Flag{Name: "temperature", Category: answer, DefaultText: "1 for LAGO", Usage: "`T` of the probabilities, softmax(s/T)"},
			&cli.Float64Flag{Name: "min-confidence", Aliases: []string{"abstain-below"}, Category: answer, Usage: "name a sample only if the best class has the probability `P` at least"},
			&cli.StringFlag{Name: "format", Category: answer, Value: string(predict.Table), Usage: "`FORMAT`: table, csv or jsonl"},
			&cli.PathFlag{Name: outFlag, Category: answer, DefaultText: "stdout", Usage: "`FILE` to write to, whole or not at all"}),
		Action: predictSamples,
	}
}

const (
	featuresFlag = "features"
	splitFlag    = "split"
	classesFlag  = "classes"
	amongFlag    = "among"
)

func predictSamples(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if c.IsSet(featuresFlag) == c.IsSet(datasetFlag) {
		return errors.New("expected --features or --dataset, for the samples to name")
	}
	if c.IsSet(splitFlag) && !c.IsSet(datasetFlag) {
		return errors.New("--split: expected none without --dataset; --among says which classes to choose from")
	}
	m, err := loadModel(c.Path(modelFlag))
	if err != nil {
		return err
	}
	o, err := predictOptions(c, m)
	if err != nil {
		return err
	}
	var kind impute.Kind
	if err := setText(&kind, c, "impute"); err != nil {
		return err
	}
	m.SetImputation(kind)
	src, known, part, err := predictSource(c, m)
	if err != nil {
		return err
	}
	if file, ok := src.(io.Closer); ok {
		defer func() { _ = file.Close() }() // nothing was written to it
	}
	classes, err := predictClasses(c, known, part)
	if err != nil {
		return err
	}
	scorer, err := model.NewScorer(m.Classifier, classes.U)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		count, err := predict.Run(c.Context, src, scorer, classes.Names, o, w)
		if err != nil {
			return err
		}
		tellCount(count, o)
		return nil
	}
	if path := c.Path(outFlag); path != "" {
		return atomicfile.Write(path, write)
	}
	out := bufio.NewWriter(os.Stdout)
	return errors.Join(write(out), out.Flush())
}

// loadModel loads the model of a run's folder, or of a file.
func loadModel(path string) (*train.Saved, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, train.ModelFile)
	}
	return train.Load(path)
}

// predictOptions reads the flags of what is told.
func predictOptions(c *cli.Context, m *train.Saved) (predict.Options, error) {
	o := predict.Options{Top: c.Int("top"), Temperature: c.Float64("temperature"), Confidence: c.Float64("min-confidence")}
	if err := setText(&o.Format, c, "format"); err != nil {
		return o, err
	}
	if c.IsSet("temperature") && o.Temperature == 0 {
		return o, errors.New("--temperature: expected a number above 0, found 0")
	}
	if o.Temperature == 0 {
		if _, err := m.LAGO(""); err == nil {
			o.Temperature = 1 // its scores are log p(z|x)
		}
	}
	if err := o.Check(); err != nil {
		return o, fmt.Errorf("--%w", err)
	}
	if o.Temperature == 0 {
		logrus.Warnf("scores of %s are no probabilities; a --temperature, as evaluate fits one, makes them some", m.Method)
	}
	return o, nil
}

// predictSource opens the samples. known has the classes that --among means, and part
// is what it means where it is not given.
func predictSource(c *cli.Context, m *train.Saved) (src predict.Source, known *dataset.Dataset, part predict.Part, err error) {
	if path := c.Path(featuresFlag); path != "" {
		src, err = predict.OpenFeatures(c.Context, path, m)
		return src, predict.Traveller(m), predict.Test, err
	}
	if err := setText(&part, c, splitFlag); err != nil {
		return nil, nil, part, err
	}
	d, err := openDataset(c, c.String(datasetFlag), c.Int("dev-split"))
	if err != nil {
		return nil, nil, part, err
	}
	return predict.OpenSamples(d, part), d, part, m.Fits(d)
}

// predictClasses returns the classes to choose from.
func predictClasses(c *cli.Context, known *dataset.Dataset, part predict.Part) (predict.Classes, error) {
	parts := []predict.Part{part}
	if c.IsSet(amongFlag) {
		parts = nil
		for _, name := range c.StringSlice(amongFlag) {
			if err := part.UnmarshalText([]byte(name)); err != nil {
				return predict.Classes{}, fmt.Errorf("--%s: %w", amongFlag, err)
			}
			parts = append(parts, part)
		}
	}
	path := c.Path(classesFlag)
	if path == "" {
		return predict.Known(known, parts...), nil
	}
	described, err := predict.Described(path, known)
	if err != nil || !c.IsSet(amongFlag) {
		return described, err
	}
	return predict.Known(known, parts...).And(described)
}

// tellCount logs what came of a run.
func tellCount(n predict.Count, o predict.Options) {
	entry := logrus.WithField("samples", n.Samples)
	if o.Confidence > 0 {
		entry = entry.WithField("unsure", n.Unsure)
	}
	if n.Labelled > 0 {
		entry = entry.WithField("right", n.Right)
	}
	entry.Info("named")
}
