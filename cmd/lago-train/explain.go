package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/answers/predictor/render"
	"github.com/lago-train/lago-train/experiments/answers/serve"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
)

type explainOptions struct {
	predictionOptions
	sample, image, against string
	format                 render.Format
	top                    int
}

func explainCommand() *cli.Command {
	var o explainOptions
	return &cli.Command{
		Name: "explain",
		Flags: flags(slices.Concat(o.settings("image").Without("adapt"), setting.List{
			setting.Raw("sample", &o.sample, "").In(inputGroup),
			setting.Raw("image", &o.image, "").In(inputGroup).
				Excludes("sample", "features", "dataset", "adapt"),
			setting.Raw("features", &o.features, "").In(inputGroup).Excludes("dataset"),
			setting.Raw("dataset", &o.dataset, "").In(setting.Data).Noted("that of the model"),
			setting.Raw("against", &o.against, "").In(classGroup).Noted("the runner-up"),
			setting.Choice("format", &o.format, render.Text, render.Text, render.JSON, render.HTML).
				In(outputGroup),
			setting.Whole("top", &o.top, 5, setting.Count).In(outputGroup),
		}.Common())),
		Action: interruptible(o.run),
	}
}

func (o *explainOptions) run(c *cli.Context) (err error) {
	o.format, err = formatOf(c, o.format, map[string]render.Format{
		".txt": render.Text, ".json": render.JSON, ".html": render.HTML, ".htm": render.HTML,
	})
	if err != nil {
		return err
	}
	if o.image == "" && o.sample == "" {
		return wrong("--sample", "the index of a sample, from 0, its id, or --image", "none")
	}
	if err = o.open(openLAGO); err != nil {
		return err
	}
	q := &predictor.Question{Against: o.against}
	switch {
	case o.features != "":
		err = o.askAboutFile(c, q)
	case o.image != "":
		err = o.askAboutImage(c, q)
	default:
		err = o.askAboutDataset(c, q)
	}
	if err != nil {
		return err
	}
	if o.data == nil {
		o.data = o.trainingData(c)
	}
	if err := o.choose(c); err != nil {
		return err
	}
	q.Predictor = o.p
	o.logCalibration(c)
	if predictor.IsZero(q.X.Row(q.Row)) {
		logrus.Warn("the features of the sample are all 0: its prediction says nothing")
	}
	result, err := predictor.Explain(*q)
	if err != nil {
		return err
	}
	return o.show(func(w io.Writer) error { return render.Explanation(w, o.format, result, o.top) })
}

func (o *explainOptions) askAboutDataset(c *cli.Context, q *predictor.Question) error {
	d, err := openData(c.Context, o.m, o.dataset, o.dataOptions.Options)
	if err != nil {
		return err
	}
	sample, err := predictor.FindSample(d, o.sample)
	if err != nil {
		return err
	}
	row := sample.Index
	if sample.Trained = o.m.TrainedOnSample(d, row); sample.Trained {
		logrus.Warnf("the model was trained on samples of class %q: the prediction of sample %d "+
			"says little about new samples", *sample.Label, row)
	}
	q.X, q.Row, q.Sample = d.Features, row, sample
	o.data, o.trained = d, o.m.TrainedOn(d.Classes[d.Labels[row]])
	q.Sample.Picture, err = o.pictureOf(c, row)
	return err
}

func (o *explainOptions) askAboutFile(c *cli.Context, q *predictor.Question) error {
	index, err := strconv.Atoi(o.sample)
	if err != nil {
		return wrong("--sample", "the index of a row, from 0", invalid.Quote(o.sample))
	}
	r, err := o.openFeatures(c)
	if err != nil {
		return err
	}
	if q.X, err = r.All(); err != nil {
		return err
	}
	if index < 0 || index >= q.X.Rows {
		return wrong("--sample", fmt.Sprintf("0 to %d", q.X.Rows-1), o.sample)
	}
	q.Sample, q.Row = predictor.Sample{Index: index, From: o.features}, index
	return nil
}

func (o *explainOptions) askAboutImage(c *cli.Context, q *predictor.Question) error {
	e, err := o.extractor(c, o.m, 1)
	if err != nil {
		return err
	}
	x, err := e.FeaturesOf(c.Context, o.image, nil)
	if err != nil {
		return err
	}
	q.Sample, q.X = predictor.Sample{ID: o.image, From: o.image}, dataset.NewMatrix[float32](1, len(x))
	copy(q.X.Data, x)
	q.Sample.Picture, err = images.Thumbnail(c.Context, o.image, render.PictureSide)
	return err
}

type serveOptions struct {
	dataOptions
	networkOptions
	model    string
	port     int
	readOnly bool
}

func serveCommand() *cli.Command {
	var o serveOptions
	return &cli.Command{
		Name: "serve", ArgsUsage: "NAME|DIR", Action: interruptible(withArgument(o.run)),
		Flags: flags(slices.Concat(o.dataSettings().Without("json"), setting.List{
			modelSetting(&o.model).Noted("none"),
			weightsSetting(&o.weights).Needs("model"),
			setting.Whole("port", &o.port, 0, setting.Between(0, 65535)).In(runGroup).Noted("any free one").
				Common(),
			setting.Switch("read_only", &o.readOnly, false).In(outputGroup).Common(),
		})),
	}
}

func (o *serveOptions) run(c *cli.Context, name string) error {
	dir, err := catalog.Folder(name, o.Options)
	if err != nil {
		return err
	}
	config := serve.Page{Name: catalog.NameOf(name), Dir: dir, ReadOnly: o.readOnly}
	if o.Undecided = true; dir == "" {
		if config.Data, err = catalog.Open(c.Context, name, o.Options); err != nil {
			return err
		}
	}
	if o.model != "" {
		m, err := openLAGO(o.model)
		if err != nil {
			return err
		}
		config.Model = m
		if o.weights != "" {
			e, err := o.extractor(c, m, 1)
			if err != nil {
				return err
			}
			config.Features = e.FeaturesOf
		}
	}
	s, err := serve.New(c.Context, config)
	if err != nil {
		return err
	}
	if why := s.WhyReadOnly(); why != "" && !o.readOnly {
		logrus.Warn(why)
	}
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGQUIT) // as Ctrl-C, in place of stacks
	defer stop()
	return s.Serve(ctx, o.port, func(address string) error {
		_, err := fmt.Fprintf(os.Stdout, "%s: open %s in a browser of this machine; Ctrl-C ends it\n",
			config.Name, address)
		return err
	})
}
