package main

import (
	"errors"
	"fmt"
	"image"
	"io"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/answers/predictor/render"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
)

type predictOptions struct {
	predictionOptions
	predictor.Listing
	format      render.Format
	images      []string
	list        string // file of images
	classColumn string // of the list

	photographs []images.Image
	paths       map[string]string // of these, by id
	split       predictor.Selection

	skipBroken bool
	broken     int // photographs that were left out
}

func predictCommand() *cli.Command {
	var o predictOptions
	return &cli.Command{
		Name:      "predict",
		ArgsUsage: "[IMAGE...]",
		Flags: flags(slices.Concat(o.settings("images", "list"), setting.List{
			setting.Raw("features", &o.features, "").Excludes("dataset", "images", "list"),
			setting.Of("images", &o.images, nil, "", o.addImage).Excludes("dataset"),
			setting.Raw("list", &o.list, "").Excludes("dataset", "images"),
			setting.Switch("skip_broken", &o.skipBroken, false).Needs("images", "list"),
			setting.Choice("split", &o.split, predictor.Test, predictor.Selections...).
				Needs("dataset"),
		}.In(inputGroup).Common(), setting.List{classColumnSetting(&o.classColumn)}, setting.List{
			setting.Whole("top", &o.Top, 5, setting.Count).Common(),
			setting.Number("temperature", &o.Temperature, 0, setting.BoundedPositive).Noted("1 for LAGO"),
			setting.Number("min_confidence", &o.Confidence, 0, setting.Fraction).Noted("never").Common(),
			setting.Number("min_fit", &o.Fit, 0, setting.Fraction).Noted("never").Common(),
			setting.Choice("format", &o.format, render.Table, render.Table, render.CSV, render.HTML).Common(),
		}.In(outputGroup), setting.List{
			setting.Raw("dataset", &o.dataset, "").In(setting.Data).Common(),
		})),
		Action: interruptible(o.run),
	}
}

// addImage reads --images, which can be repeated with paths that may have commas.
func (o *predictOptions) addImage(path string) ([]string, error) { return append(o.images, path), nil }

func (o *predictOptions) run(c *cli.Context) (err error) {
	o.format, err = formatOf(c, o.format, map[string]render.Format{
		".txt": render.Table, ".csv": render.CSV, ".html": render.HTML,
	})
	if err == nil {
		err = o.checkSources(c)
	}
	if err == nil {
		err = o.open(openModel)
	}
	if err != nil {
		return err
	}
	src, err := o.source(c)
	if err != nil {
		return err
	}
	if file, ok := src.(io.Closer); ok {
		defer func() { _ = file.Close() }() // it was only read
	}
	if err := o.choose(c); err != nil {
		return err
	}
	o.keepClasses(slices.Concat(o.data.Classes, o.p.Candidates.Names))
	if o.p.Adapts() {
		debug.SetGCPercent(garbage)
	}
	if o.format == render.HTML {
		o.Reason = render.Short
	}
	r, err := o.p.Predict(c.Context, src, o.Listing)
	if err != nil {
		return err
	}
	if o.broken > 0 && len(r.Samples) == 0 {
		return &invalid.Error{
			Where: "--images", Want: "at least one photograph that can be decoded",
			Got: format.Count(o.broken, "broken one"),
		}
	}
	for _, warning := range r.Warnings() {
		logrus.Warn(warning)
	}
	o.logCount(r.Count())
	samples := format.Count(len(r.Samples), "sample")
	switch a := r.Adapted; {
	case a == nil:
		o.logCalibration(c)
	case a.Declined:
		logrus.Warnf("not adapted to %s: only about %.0f of the %d candidate classes seem to be present, "+
			"and adaptation can then lower accuracy (--candidates restricts them)",
			samples, a.Present, len(r.Candidates.Names))
		o.logCalibration(c)
	default:
		logrus.Infof("adapted to %s: %s changed; the probabilities are those of the settings of --adapt, "+
			"which were chosen for accuracy: they are not calibrated", samples,
			format.Count(a.Changed, "prediction"))
	}
	if o.format == render.HTML {
		return o.writeSheet(c, r)
	}
	return o.show(func(w io.Writer) error { return render.Predictions(w, o.format, r) })
}

// beginsSheet is what shows that a page is a contact sheet.
const beginsSheet = `<meta name="generator" content="lago-train sheet">`

func (o *predictOptions) writeSheet(c *cli.Context, r *predictor.Predictions) error {
	beside := strings.TrimSuffix(o.to, ".html") + ".csv"
	err := o.Write(beside, func(w io.Writer) error { return render.Predictions(w, render.CSV, r) })
	if err != nil {
		return err
	}
	s := &render.Sheet{
		Predictions: r,
		Note: fmt.Sprintf("%s trained on %s, choosing from %s (%d). Every number is in %s.",
			o.m.Method.Label(), o.m.Dataset, r.Candidates.What, len(r.Candidates.Names),
			filepath.Base(beside)),
		Picture: func(s predictor.Prediction) (image.Image, error) {
			if o.photographs == nil {
				return o.pictureOf(c, s.Index)
			}
			return images.Thumbnail(c.Context, o.paths[s.ID], render.PictureSide)
		},
	}
	return o.show(s.Write)
}

// checkSources returns an error unless there are samples, which html can show.
func (o *predictOptions) checkSources(c *cli.Context) error {
	switch {
	case !c.IsSet("images") && c.Args().Present():
		return flagsOnly(c)
	case !c.IsSet("features") && !c.IsSet("dataset") && !c.IsSet("images") && !c.IsSet("list"):
		return wrong("--features", "one of --features, --dataset, --images and --list", "none")
	case o.format == render.HTML && c.IsSet("features"):
		return wrong("--format", "samples of --images or --dataset for html", "--features")
	case o.format == render.HTML && !strings.HasSuffix(o.to, ".html"):
		return wrong("--to", "a file that ends in .html for --format html", invalid.Quote(o.to))
	case o.format == render.HTML:
		return atFlag("to", o.CheckFile(o.to, beginsSheet))
	}
	return atFlag("to", o.CheckFile(o.to, ""))
}

func (o *predictOptions) source(c *cli.Context) (predictor.Source, error) {
	if o.dataset != "" {
		d, err := openData(c.Context, o.m, o.dataset, o.dataOptions.Options)
		if err != nil {
			return nil, err
		}
		warnOf(check.Unchecked(d)...)
		classes := o.m.ClassesOf(d, o.split)
		o.data, o.trained = d, slices.ContainsFunc(classes, func(z int) bool {
			return o.m.TrainedOn(d.Classes[z]) && slices.Contains(d.Labels, z)
		})
		return &predictor.Samples{Data: d, Rows: d.SamplesOf(classes)}, nil
	}
	o.data = o.trainingData(c)
	if o.features != "" {
		return o.openFeatures(c)
	}
	if err := o.listPhotographs(c, o.data.Classes); err != nil {
		return nil, err
	}
	e, err := o.extractor(c, o.m, len(o.photographs))
	if err != nil {
		return nil, err
	}
	o.paths = map[string]string{}
	for _, photograph := range o.photographs {
		o.paths[photograph.ID] = photograph.Path
		o.trained = o.trained || o.m.TrainedOn(photograph.Class)
	}
	source := e.NewSource(c.Context, o.photographs, display.show)
	source.OnBroken = o.onBroken
	return source, nil
}

// listPhotographs sets the photographs. The class of one in a folder is the nearest folder above it that is
// a class, or else, until keepClasses, the folder that it is in.
func (o *predictOptions) listPhotographs(c *cli.Context, classes []string) (err error) {
	if o.list != "" {
		o.photographs, err = images.ReadList(c.Context, o.list, "", o.classColumn, false)
	} else {
		var warnings []string
		o.photographs, warnings, err = images.ListPaths(slices.Concat(o.images, c.Args().Slice()))
		warnOf(warnings...)
		for i, m := range o.photographs {
			for folder := range strings.SplitSeq(path.Dir(m.ID), "/") {
				if slices.Contains(classes, folder) {
					o.photographs[i].Class = folder
				}
			}
		}
	}
	return err
}

// keepClasses forgets the classes of photographs in folders that are no classes: sites, months, cards.
func (o *predictOptions) keepClasses(known []string) {
	for i, m := range o.photographs {
		if o.list == "" && !slices.Contains(known, m.Class) {
			o.photographs[i].Class = ""
		}
	}
}

// openFeatures opens the file of features as the model takes them. Names of the samples are in the file or,
// beside it, in images.csv.
func (o *predictionOptions) openFeatures(c *cli.Context) (*features.Reader, error) {
	m, file := o.m, o.features
	r, err := features.Open(c.Context, file, true)
	if err != nil {
		return nil, err
	}
	err = r.Match(m.Columns)
	if err == nil {
		err = m.CheckDims(file, r.Cols())
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if m.Absent != nil {
		r.Replace(m.Absent)
	}
	if names, err := openlayout.ReadImageNames(c.Context, filepath.Dir(file)); file != "-" && err == nil {
		r.Name(names)
	}
	return r, nil
}

func (o *predictOptions) onBroken(_ images.Image, err error) error {
	if !o.skipBroken {
		return &invalid.Error{Err: err, Hint: "--skip-broken leaves such photographs out."}
	}
	o.broken++
	logrus.Warn("left out: ", err)
	return nil
}

func (o *predictOptions) logCount(n predictor.Count) {
	if n.Outside > 0 {
		logrus.Warnf("%d of %s belong to none of the candidates, so that their predictions are wrong; "+
			"--candidates all includes their classes", n.Outside, format.Count(n.Known, "sample"))
	}
	fields := logrus.Fields{"samples": n.Samples}
	if o.Confidence > 0 || o.Fit > 0 {
		fields["abstained"] = n.Abstained
	}
	if of := n.Known - n.Outside; of > 0 {
		fields["correct"], fields["labelled"] = n.Correct, of
	}
	logrus.WithFields(fields).Info("predicted")
}
