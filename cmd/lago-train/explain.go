package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/described"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/experiments/explain"
	"github.com/lago-train/lago-train/internal/atomicfile"
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
row of --features, a file of features as the model was trained on. Classes are chosen
from --split; where a sample's class is known, from the part of the split that has it.
--classes takes the classes of a file instead, described by attributes.

Only LAGO has groups: models of other methods have no such explanation.`,
		Flags: append(dataFlags(),
			&cli.PathFlag{Name: modelFlag, Category: question, Usage: "`DIR` of a run, or the file of a model"},
			&cli.StringFlag{Name: "sample", Category: question, Usage: "`N`, the number of a sample, counted from 0 in the order of the data set or of --features"},
			&cli.StringFlag{Name: "against", Category: question, DefaultText: "the runner-up", Usage: "compare with this `CLASS`"},
			&cli.StringFlag{Name: "split", Aliases: []string{"among"}, Category: question, DefaultText: "that of the sample, else test", Usage: "`NAME` of the classes to choose from: train, val, test, seen (train and val) or all"},
			&cli.PathFlag{Name: "classes", Category: question, Usage: "`FILE` of the classes to choose from and their descriptions: .csv or .json"},
			&cli.PathFlag{Name: "features", Category: question, Usage: "`FILE` of the features of samples: .npy, .csv or .mat"},
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
	path := c.Path(modelFlag)
	if path == "" || c.String("sample") == "" {
		return errors.New("expected --model and --sample; see lago-train explain --help")
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, train.ModelFile)
	}
	m, err := train.Load(path)
	if err != nil {
		return err
	}
	if _, err := m.LAGO("explain"); err != nil {
		return err // before a data set is read
	}
	q, err := questionOf(c, m)
	if err != nil {
		return err
	}
	q.Against, q.Top = c.String("against"), top
	x, err := explain.Explain(m, *q)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return x.Write(w, format, top) }
	if out := c.Path(outFlag); out != "" {
		if err := atomicfile.Write(out, write); err != nil {
			return err
		}
		logrus.WithField("file", out).Info("explanation")
		return nil
	}
	return write(os.Stdout)
}

// questionOf finds the sample and the classes that the flags name.
func questionOf(c *cli.Context, m *train.Saved) (*explain.Question, error) {
	if c.IsSet("classes") && c.IsSet("split") {
		return nil, errors.New("expected --classes or --split, found both")
	}
	if c.IsSet("features") {
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
func candidatesOf(c *cli.Context, d *dataset.Dataset, part explain.Part) (explain.Candidates, error) {
	if path := c.Path("classes"); path != "" {
		names, u, err := described.Read(path, d.Attributes, d.Groups)
		return explain.Candidates{What: "classes of " + path, Names: names, U: u}, err
	}
	if c.IsSet("split") {
		if err := setText(&part, c, "split"); err != nil {
			return explain.Candidates{}, err
		}
	}
	return explain.Among(part, d), nil
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
	x, sample, err := explain.ReadRow(c.Path("features"), c.String("sample"), m.Dims)
	if err != nil {
		return nil, fmt.Errorf("the model of %s trained on %s: %w", m.Method, m.Dataset, err)
	}
	known := &dataset.Dataset{Classes: m.Classes, Groups: m.Groups, Descriptions: m.Descriptions, Split: m.Split}
	for i, name := range m.Attributes {
		a := dataset.Attribute{Name: name, Group: -1}
		if m.Semantic != nil {
			a.Group = m.Semantic[i]
		}
		known.Attributes = append(known.Attributes, a)
	}
	q := &explain.Question{Sample: sample, X: x}
	q.Candidates, err = candidatesOf(c, known, explain.Test)
	return q, err
}
