package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/experiments/explain"
	"github.com/lago-train/lago-train/experiments/predict"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/train"
)

func explainCommand() *cli.Command {
	const question, output = "question", "output"
	return &cli.Command{
		Name:  "explain",
		Usage: "say why a model names a sample as it does, group by group",
		Description: `Takes the prediction of a sample apart, as the paper does in its examples: how far
each group speaks for the predicted class against the runner-up, in log units that add
up to the log odds between the two; which attributes were seen, which are described,
and what each adds to the score of its group; and what would have been had attributes
been seen otherwise. Where the prediction is wrong, the true class is compared too.
--against compares with a class of your choice.

The sample is one of the data set that the model was trained on, or of --dataset, or a
row of --features, a file of features as the model was trained on. The classes to choose
from are given as in predict; where a sample's class is known, they are those of its
part of the split if nothing else is said.

Only LAGO has groups: models of other methods have no such explanation.`,
		Flags: append(dataFlags(),
			&cli.PathFlag{Name: modelFlag, Category: question, Usage: "`DIR` of a run, or the file of a model"},
			&cli.StringFlag{Name: "sample", Category: question, Usage: "`N`, the number of a sample, counted from 0 in the order of the data set or of --features"},
			&cli.StringFlag{Name: "against", Category: question, DefaultText: "the runner-up", Usage: "compare with this `CLASS`"},
			&cli.StringSliceFlag{Name: amongFlag, Aliases: []string{splitFlag}, Category: question, DefaultText: "none beside --classes, else those of the sample's part, else test", Usage: "`NAME,NAME...` of the classes to choose from: test, val, train, seen (train and val) or all"},
			&cli.PathFlag{Name: classesFlag, Category: question, Usage: "`FILE` of classes to choose from and their descriptions: .csv or .json"},
			&cli.StringFlag{Name: "impute", Category: question, Value: string(impute.Neutral), Usage: "`KIND` of rule for what a description leaves out, as in predict: neutral or inferred"},
			&cli.PathFlag{Name: featuresFlag, Category: question, Usage: "`FILE` of the features of samples: .npy, .csv or .mat"},
			&cli.StringFlag{Name: datasetFlag, Category: question, DefaultText: "that of the model", Usage: "`NAME` of the data set"},
			&cli.StringFlag{Name: formatFlag, Category: output, Value: string(explain.Text), Usage: "`FORMAT`: text, json (full precision) or html (one page, which needs no network)"},
			&cli.IntFlag{Name: "top", Category: output, Value: 5, Usage: "tell the `N` groups that contribute most, and N changes (json has all groups)"},
			&cli.PathFlag{Name: outFlag, Category: output, DefaultText: "stdout", Usage: "`FILE` to write to"}),
		Action: explainSample,
	}
}

func explainSample(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	var format explain.Format
	if err := setText(&format, c, formatFlag); err != nil {
		return err
	}
	top := c.Int("top")
	if top < 1 {
		return fmt.Errorf("--top: expected at least 1, found %d", top)
	}
	if c.Path(modelFlag) == "" || c.String("sample") == "" {
		return errors.New("expected --model and --sample; see lago-train explain --help")
	}
	m, err := loadModel(c.Path(modelFlag))
	if err != nil {
		return err
	}
	if _, err := m.LAGO("explain"); err != nil {
		return err // before a data set is read
	}
	var kind impute.Kind
	if err := setText(&kind, c, "impute"); err != nil {
		return err
	}
	m.SetImputation(kind)
	q, err := questionOf(c, m)
	if err != nil {
		return err
	}
	q.Against, q.Top = c.String("against"), top
	x, err := explain.Explain(m, *q)
	if err != nil {
		return err
	}
	out := c.Path(outFlag)
	if out == "" {
		return x.Write(os.Stdout, format, top)
	}
	if err := atomicfile.Write(out, func(w io.Writer) error { return x.Write(w, format, top) }); err != nil {
		return err
	}
	logrus.WithField("file", out).Info("explanation")
	return nil
}

// questionOf finds the sample and the classes that the flags name.
func questionOf(c *cli.Context, m *train.Saved) (*explain.Question, error) {
	if c.IsSet(featuresFlag) {
		return ofFile(c, m)
	}
	d, err := openDataset(c, cmp.Or(c.String(datasetFlag), m.Dataset), c.Int("dev-split"))
	if err != nil {
		return nil, err
	}
	if err := m.Fits(d); err != nil {
		return nil, err
	}
	row, err := explain.Find(d, c.String("sample"))
	if err != nil {
		return nil, err
	}
	q := &explain.Question{Sample: explain.Of(d, row), X: d.Features, Row: row}
	if d.Name == catalog.Glyphs {
		// As catalog.Open draws them.
		q.Sample.Picture, err = glyphs.Image(glyphs.Options{}, *q.Sample.Label, place(d, row))
		if err != nil {
			return nil, err
		}
	}
	q.Candidates, err = candidatesOf(c, d, explain.PartOf(d.Split, d.Labels[row]))
	return q, err
}

// candidatesOf returns the classes that the flags name, those of a part where they
// name none.
func candidatesOf(c *cli.Context, known *dataset.Dataset, part predict.Part) (explain.Candidates, error) {
	classes, err := predictClasses(c, known, part)
	if err != nil {
		return explain.Candidates{}, err
	}
	var sources []string
	switch {
	case c.IsSet(amongFlag):
		sources = append(sources, strings.Join(c.StringSlice(amongFlag), " and ")+" classes")
	case !c.IsSet(classesFlag):
		sources = append(sources, string(part)+" classes")
	}
	if c.IsSet(classesFlag) {
		sources = append(sources, "classes of "+c.Path(classesFlag))
	}
	return explain.Candidates{Classes: classes, What: strings.Join(sources, " and ")}, nil
}

// place is that of a sample within its class.
func place(d *dataset.Dataset, row int) int {
	n := 0
	for _, z := range d.Labels[:row] {
		if z == d.Labels[row] {
			n++
		}
	}
	return n
}

// ofFile asks about a row of a file of features: what is known of classes is what the
// model knows.
func ofFile(c *cli.Context, m *train.Saved) (*explain.Question, error) {
	if c.IsSet(datasetFlag) {
		return nil, errors.New("--dataset: expected none with --features, whose samples are of no data set")
	}
	x, sample, err := explain.ReadRow(c.Context, c.Path(featuresFlag), c.String("sample"), m.Dims)
	if err != nil {
		return nil, fmt.Errorf("the model of %s trained on %s: %w", m.Method, m.Dataset, err)
	}
	q := &explain.Question{Sample: sample, X: x}
	q.Candidates, err = candidatesOf(c, predict.Traveller(m), predict.Test)
	return q, err
}
