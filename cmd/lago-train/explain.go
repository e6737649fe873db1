package main

import (
	"cmp"
	"fmt"
	"image"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/experiments/explain"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:  "explain",
		Usage: "explain one prediction by attribute groups",
		Description: `Shows how much each attribute group favours the predicted class over the runner-up (the
contributions add up to the difference in log probability), which attributes were detected
and described, and which other detections would change the prediction. If the prediction
is wrong, the true class is compared as well. The sample is one of the data set that the
model was trained on, of --dataset, a row of --features, or a photograph (--image, --weights).
Only models of LAGO can be explained: baselines have no groups. --adapt also says whether
the other samples of the batch change the prediction, and which of them did.

Examples:
   lago-train explain --model latest --sample 680 --format html --out why.html
   lago-train explain --model latest --features new.npy --sample 0 --classes birds.csv
   lago-train explain --model latest --image bird.jpg --weights resnet50.safetensors`,
		Flags: append(append(dataFlags(), networkFlags()...),
			&cli.StringFlag{Name: modelFlag, Category: inputGroup, Usage: modelUsage},
			&cli.StringFlag{Name: "sample", Category: inputGroup, Usage: "`INDEX` sample in the data set or in --features, from 0, or its id; required without --image"},
			&cli.PathFlag{Name: imageFlag, Category: inputGroup, Usage: "`FILE` photograph"},
			&cli.PathFlag{Name: featuresFlag, Category: inputGroup, Usage: "`FILE` features: .npy, .csv or .mat"},
			&cli.StringFlag{Name: datasetFlag, Category: dataGroup, DefaultText: "that of the model", Usage: "`NAME` data set"},
			&cli.StringFlag{Name: "against", Category: classGroup, DefaultText: "the runner-up", Usage: "`NAME` class to compare the prediction with"},
			amongFlagOf("none with --classes, otherwise those of the sample's class, or test"),
			classesFlagOf(),
			imputeFlag(),
			adaptFlag(),
			choice(formatFlag, outputGroup, "format of the explanation", explain.Text, explain.Text, explain.JSON, explain.HTML),
			&cli.IntFlag{Name: "top", Category: outputGroup, Value: 5, Usage: "`N` groups and changes to show; json has all groups"},
			&cli.PathFlag{Name: outFlag, Category: outputGroup, DefaultText: "standard output", Usage: "`FILE` where to write"}),
		Action: interruptible(explainSample),
	}
}

func explainSample(c *cli.Context) error {
	top := c.Int("top")
	if top < 1 {
		return &invalid.Error{Where: "--top", Want: "at least 1", Got: strconv.Itoa(top)}
	}
	if err := cmp.Or(
		excludes(c, featuresFlag, datasetFlag),
		excludes(c, imageFlag, "sample", featuresFlag, datasetFlag, adaptArg),
		requires(c, imageFlag, namesOf(networkFlags())...),
	); err != nil {
		return err
	}
	if !c.IsSet(imageFlag) && !c.IsSet("sample") {
		return &invalid.Error{Where: "--sample", Want: "the index of a sample, from 0, or --" + imageFlag, Got: "none"}
	}
	m, err := loadModel(c)
	if err != nil {
		return err
	}
	if _, err := m.LAGO("explain"); err != nil {
		return err // before a data set is read
	}
	setImputation(c, m)
	if err := checkAdaptation(c, m); err != nil {
		return err
	}
	out, format := c.Path(outFlag), explain.Format(c.String(formatFlag))
	if err := checkOutput(outFlag, out, m.path, c.Path(featuresFlag), c.Path(classesFlag)); err != nil {
		return err
	}
	ask := askAboutDataset
	switch {
	case c.IsSet(featuresFlag):
		ask = askAboutFile
	case c.IsSet(imageFlag):
		ask = askAboutImage
	}
	q, err := ask(c, m)
	if err != nil {
		return err
	}
	q.Against, q.Top = c.String("against"), top
	result, err := explain.Explain(m.Saved, *q)
	if err != nil {
		return err
	}
	if out == "" {
		return result.Write(os.Stdout, format, top)
	}
	if err := atomicfile.Write(out, func(w io.Writer) error { return result.Write(w, format, top) }); err != nil {
		return err
	}
	logrus.WithField("file", out).Info("explanation written")
	return nil
}

// askAboutDataset asks about a sample of a data set.
func askAboutDataset(c *cli.Context, m *loadedModel) (*explain.Question, error) {
	d, err := openDataset(c, cmp.Or(c.String(datasetFlag), m.Dataset), c.Int("dev-split"))
	if err != nil {
		return nil, err
	}
	if err := m.Fits(d); err != nil {
		return nil, err
	}
	m.warnIfChanged(d)
	sample, err := explain.FindSample(d, c.String("sample"))
	if err != nil {
		return nil, err
	}
	row := sample.Index
	if sample.Trained = m.trainedOn(d, row); sample.Trained {
		logrus.Warnf("the model was trained on samples of class %q: the prediction of sample %d says little about new samples", *sample.Label, row)
	}
	q := &explain.Question{Sample: sample, X: d.Features, Row: row}
	picture := func(row int) (image.Image, error) { return pictureOf(c, d, row) }
	if q.Sample.Picture, err = picture(row); err != nil {
		return nil, err
	}
	selected := candidates.SelectionOf(d, d.Labels[row])
	if c.Bool(adaptArg) {
		q.Together = &explain.Together{Rows: d.SamplesOf(slices.Concat(selected.Classes(d), []int{d.Labels[row]})), IDs: d.IDs, Picture: picture}
	}
	q.Candidates, err = candidateSet(c, d, selected)
	return q, err
}

// pictureOf returns the picture of a sample, nil if there is none.
func pictureOf(c *cli.Context, d *dataset.Dataset, row int) (image.Image, error) {
	if d.Name == catalog.Glyphs {
		return glyphs.Image(d.Classes[d.Labels[row]], indexInClass(d, row))
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

// indexInClass returns the index of a sample among the samples of its class.
func indexInClass(d *dataset.Dataset, row int) int {
	n := 0
	for _, z := range d.Labels[:row] {
		if z == d.Labels[row] {
			n++
		}
	}
	return n
}

// askAboutFile asks about a row of a feature file.
func askAboutFile(c *cli.Context, m *loadedModel) (*explain.Question, error) {
	index, err := strconv.Atoi(c.String("sample"))
	if err != nil {
		return nil, &invalid.Error{Where: "--sample", Want: "the index of a row, from 0", Got: strconv.Quote(c.String("sample"))}
	}
	q := &explain.Question{Sample: explain.Sample{Index: index, From: c.Path(featuresFlag)}}
	if c.Bool(adaptArg) {
		err = askAboutBatch(c, m, q)
	} else {
		q.X, err = features.ReadRow(c.Context, q.Sample.From, q.Sample.Index, m.Dims)
	}
	if err != nil {
		return nil, err
	}
	q.Candidates, err = candidateSet(c, candidates.TrainingData(m.Saved), candidates.Test)
	return q, err
}

// askAboutBatch sets the features of all rows of a file.
func askAboutBatch(c *cli.Context, m *loadedModel, q *explain.Question) error {
	var err error
	if q.X, err = features.ReadAll(c.Context, q.Sample.From); err != nil {
		return err
	}
	if q.X.Cols != m.Dims {
		return &invalid.Error{Where: q.Sample.From, Want: fmt.Sprintf("%d features per sample, as the model was trained on", m.Dims), Got: strconv.Itoa(q.X.Cols)}
	}
	if q.Row = q.Sample.Index; q.Row < 0 || q.Row >= q.X.Rows {
		return &invalid.Error{Where: "--sample", Want: fmt.Sprintf("0 to %d", q.X.Rows-1), Got: strconv.Itoa(q.Row)}
	}
	q.Together = &explain.Together{Rows: q.X.AllRows()}
	return nil
}

// askAboutImage asks about a photograph.
func askAboutImage(c *cli.Context, m *loadedModel) (*explain.Question, error) {
	path := c.Path(imageFlag)
	list := []images.Image{{ID: path, Path: path}}
	e, err := openImages(c, m, list)
	if err != nil {
		return nil, err
	}
	q := &explain.Question{Sample: explain.Sample{ID: path, From: path}, X: dataset.NewMatrix[float32](1, m.Dims)}
	if _, err := e.NewSource(c.Context, list, nil).Read(q.X); err != nil {
		return nil, err
	}
	if q.Sample.Picture, err = images.Thumbnail(c.Context, path, explain.PictureSide); err != nil {
		return nil, err
	}
	q.Candidates, err = candidateSet(c, candidates.TrainingData(m.Saved), candidates.Test)
	return q, err
}
