package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"golang.org/x/term"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/answers/decision"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/answers/render"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
)

// predictionOptions are those of the commands that predict with one model.
type predictionOptions struct {
	dataOptions
	networkOptions
	predictor.Options
	outputs
	noPicture                []error // of samples of a data set
	model, features, dataset string
	candidates               []predictor.Selection
	empty                    descriptions.Empty // cells of files of candidates
	to                       string             // file
}

// candidatesSetting is --candidates, with what it is by default.
func candidatesSetting(to *[]predictor.Selection, otherwise string) setting.Setting {
	parse := func(text string) (predictor.Selection, error) {
		if s, err := invalid.OneOf(text, predictor.Selections...); err == nil {
			return s, nil
		}
		return predictor.Selection(text), nil // a file, or the name of a class
	}
	s := setting.Several("candidates", to, nil, "", parse).Noted(otherwise).Common().Describe("classes to choose from: " +
		"unseen (not trained on), test, val, train, seen (train and val), all, names, or files of names or descriptions")
	s.List, s.Options = true, format.Strings(predictor.Selections)
	return s
}

// emptySetting is --empty.
func emptySetting(to *descriptions.Empty) setting.Setting {
	return setting.Choice("empty", to, descriptions.EmptyUnknown, descriptions.Empties...).
		Describe("what empty cells of a file of classes mean: unknown, or no in each group in which the class has a yes")
}

// settings are those of both commands. photographs are the keys of those that are predicted.
func (o *predictionOptions) settings(photographs ...string) setting.List {
	return slices.Concat(o.dataSettings().Without("json"), workSettings(), needing(photographs, o.networkSettings()), setting.List{
		candidatesSetting(&o.candidates, "unseen, or all for samples of classes trained on").OrAs("classes"),
		emptySetting(&o.empty),
	}.In(classGroup), setting.List{
		modelSetting(&o.model),
		adaptSetting(&o.Adapt).Excludes("temperature"),
		setting.Raw("to", &o.to, "").In(outputGroup).Common().Noted("standard output").
			Describe("`FILE` where to write; its ending says the format"),
		o.outputs.setting(),
	})
}

// trainingData returns the classes of the model's data set, as its folder describes them today or, where it
// is not found, as the model file does.
func (o *predictionOptions) trainingData(c *call, m *predictor.Model) *dataset.Dataset {
	dir, err := catalog.Folder(m.Dataset, o.dataOptions.Options)
	if err != nil {
		logrus.Infof("classes are described as in %s, since no data set %s is in %s; --data-dir names another folder", m.Path, m.Dataset, catalog.DataDir(o.DataDir))
	}
	if err != nil || dir == "" {
		return m.TrainingData()
	}
	t, err := openlayout.ReadDescriptions(c, dir)
	if err == nil {
		if d, ok := m.Described(t); ok {
			logChanged(m.Redescribed(d))
			return d
		}
		err = &invalid.Error{Where: dir, Want: "the attributes of the model", Got: "others"}
	}
	logrus.Warnf("classes are described as in %s: %v", m.Path, err)
	return m.TrainingData()
}

func adaptSetting(to *bool) setting.Setting {
	return setting.Switch("adapt", to, false).In(methodGroup).Common().Describe("adapt the predictions to all samples together (transductive)")
}

// open opens the model by openModel or openLAGO, and checks that the output is no input.
func (o *predictionOptions) open(open func(name string) (*predictor.Model, error)) (*predictor.Model, error) {
	m, err := open(o.model)
	if err != nil {
		return nil, err
	}
	if o.Adapt {
		if _, err := m.AdaptationSettings(); err != nil { // before samples are read
			return nil, err
		}
	}
	o.inputs = append(format.Strings(o.candidates), m.Path, o.features, o.weights, o.boxes)
	return m, atFlag("to", o.check(o.to))
}

// predictor returns the predictor for the candidates that the flags name among the classes of d. Without
// such a flag they are the unseen classes, or all of them if samples are of classes that the model was
// trained on. It logs what the predictions depend on.
func (o *predictionOptions) predictor(c *call, m *predictor.Model, d *dataset.Dataset, trained bool) (*predictor.Predictor, error) {
	otherwise, other := predictor.Unseen, predictor.All
	if trained {
		otherwise, other = other, otherwise
	}
	list := slices.Clone(o.candidates)
	candidates, err := m.NewCandidates(c, d, list, otherwise, o.empty)
	if err != nil {
		return nil, err
	}
	p, err := m.Predictor(candidates, o.Options)
	if err != nil {
		return nil, err
	}
	if o.Adapt && !p.Adapts() {
		logrus.Warn(predictor.AdaptationWarning(m.Adaptation), "; predictions are those without --adapt")
	}
	const few = 5 // to name
	names, unseen := "", p.Unseen()
	if len(candidates.Names) <= few {
		names = ": " + format.Printable(strings.Join(candidates.Names, ", "))
	}
	others := "to choose from others: --candidates"
	if n := len(m.SelectedCandidates(d, other).Names); list == nil {
		others = fmt.Sprintf("--candidates %s chooses from %d", other, n)
	}
	if p.Mixed {
		others += "; for seen and unseen classes together scores are corrected with " + cmp.Or(p.Generalised.String(), "omega 0")
	}
	logrus.Infof("choosing from %s%s (%s, data set %s; %d unseen, %d seen in training); %s",
		format.Count(len(candidates.Names), "class"), names, format.Printable(candidates.What), format.Printable(d.Name), unseen, len(candidates.Names)-unseen, others)
	if given := candidates.Given(candidates.U.AllRows()...); given < 1 {
		logrus.Infof("%s of the entries of their descriptions are given; the others are filled", format.Percent(given))
	}
	return p, nil
}

// logCalibration says whether probabilities are calibrated.
func logCalibration(c *call, p *predictor.Predictor) {
	switch {
	case p.Temperature == 0:
		logrus.Warnf("scores of %s are not probabilities; --temperature converts them", p.Method.Label())
	case c.isSet("temperature"):
	case p.Calibration != nil:
		logrus.Infof("probabilities are calibrated on the validation classes (%s)", decision.CalibrationText(p.Calibration))
	default:
		logrus.Info("probabilities are not calibrated: the model has no temperature, which lago-train run --stage full chooses on the validation classes")
	}
}

// pictureOf returns the picture of a sample of a data set, nil if there is none.
func (o *predictionOptions) pictureOf(c *call, d *dataset.Dataset, row, side int) (image.Image, error) {
	picture, err := catalog.Picture(c, d, row, side)
	if err != nil {
		o.noPicture = append(o.noPicture, err)
	}
	return picture, c.Err()
}

// show writes what was found, to --to if it is given.
func (o *predictionOptions) show(write func(io.Writer) error) error {
	defer func() {
		if n := len(o.noPicture); n > 0 {
			logrus.Warnf("%s on the page without a picture, the first because of %v. Where photographs were moved, dataset extract NAME --images DIR names their new folder",
				format.Count(n, "sample"), o.noPicture[0])
		}
	}()
	if o.to != "" {
		err := o.write(o.to, write)
		if err == nil {
			o.log()
		}
		return err
	}
	w := bufio.NewWriter(os.Stdout)
	return errors.Join(write(w), w.Flush())
}

type predictOptions struct {
	predictionOptions
	predictor.Listing
	format render.Format
	images []string
	list   string // file of images

	photographs []images.Image
	paths       map[string]string // of these, by id
	split       predictor.Selection
	bom         bool

	skipBroken bool
	broken     []string // why photographs were left out
}

func predictCommand() *command {
	var o predictOptions
	return &command{
		name:     "predict",
		argument: "[IMAGE...]",
		flags: slices.Concat(o.settings("images", "list"), setting.List{
			setting.Raw("features", &o.features, "").Describe("`FILE` features: .npy, .csv or .mat, or - for CSV on standard input").Excludes("dataset", "images", "list"),
			setting.Of("images", &o.images, nil, "", o.addImage).Describe("`PATH` photograph, or folder of photographs; others can follow").Excludes("dataset"),
			setting.Raw("list", &o.list, "").Excludes("dataset", "images").
				Describe("`FILE` CSV file of photographs: path[,class], relative to the file"),
			setting.Switch("skip_broken", &o.skipBroken, false).Needs("images", "list").
				Describe("leave out photographs that cannot be decoded, and warn of them"),
			setting.Choice("split", &o.split, predictor.Test, predictor.Selections...).Describe("classes of --dataset whose samples are predicted; seen is train and val").Needs("dataset"),
		}.In(inputGroup).Common(), setting.List{
			setting.Whole("top", &o.Top, 5, setting.Count).Common().Describe("`N` best classes to write per sample"),
			setting.Number("temperature", &o.Temperature, 0, setting.BoundedPositive).Noted("1 for LAGO").
				Describe("`T` temperature of the probabilities softmax(s/T) of the scores s"),
			setting.Number("min_confidence", &o.Confidence, 0, setting.Fraction).Noted("never").Common().Describe("`P` abstain if the best class has a probability below this"),
			setting.Number("min_fit", &o.Fit, 0, setting.Fraction).Noted("never").Common().Describe("`P` abstain if the share of held-out samples that fit less well is below this"),
			setting.Choice("format", &o.format, render.Table, render.Table, render.CSV, render.JSONL, render.HTML).Common().
				Describe("format of the predictions; html is a page of pictures, with a .csv file beside it"),
			setting.Switch("bom", &o.bom, false).Describe("begin CSV with a byte order mark, by which Excel sees that it is UTF-8"),
		}.In(outputGroup), setting.List{
			setting.Raw("dataset", &o.dataset, "").In(setting.Data).Common().Describe("`NAME` data set whose samples are predicted"),
		}),
		run: o.run,
	}
}

// addImage reads --images, which can be repeated with paths that may have commas.
func (o *predictOptions) addImage(path string) ([]string, error) { return append(o.images, path), nil }

func (o *predictOptions) run(c *call) (err error) {
	o.format, err = formatOf(c, o.format, map[string]render.Format{
		".txt": render.Table, ".csv": render.CSV, ".jsonl": render.JSONL, ".json": render.JSONL, ".html": render.HTML,
	})
	if err == nil {
		err = o.checkSources(c)
	}
	if err != nil {
		return err
	}
	m, err := o.open(openModel)
	if err != nil {
		return err
	}
	src, d, trained, err := o.source(c, m)
	if err != nil {
		return err
	}
	if file, ok := src.(io.Closer); ok {
		defer func() { _ = file.Close() }() // it was only read
	}
	p, err := o.predictor(c, m, d, trained)
	if err != nil {
		return err
	}
	o.keepClasses(slices.Concat(d.Classes, p.Candidates.Names))
	if p.Adapts() {
		debug.SetGCPercent(garbage)
	}
	if o.format == render.HTML {
		o.Reason = render.Short
	}
	r, err := p.Predict(c, src, o.Listing)
	if err != nil {
		return err
	}
	if n := len(o.broken); n > 0 {
		if len(r.Samples) == 0 {
			return &invalid.Error{Where: "--images", Want: "at least one photograph that can be decoded", Got: format.Count(n, "broken one")}
		}
		for _, why := range o.broken {
			logrus.Warn("left out: ", why)
		}
		logrus.Warnf("%s left out because of --skip-broken", format.Count(n, "photograph"))
	}
	o.logCount(r.Count())
	if r.Adapted == nil || r.Adapted.Declined {
		logCalibration(c, p)
	} else {
		logrus.Info("adapted probabilities are those of the settings of --adapt, which were chosen for accuracy: they are not calibrated")
	}
	if r.Adapted != nil {
		if err := table.WriteText(os.Stderr, render.Shares(r.Adapted, r.Candidates.Names)); err != nil {
			return err
		}
	}
	if o.format == render.HTML {
		return o.writeSheet(c, p, d, r)
	}
	if o.format == render.Table && o.to == "" && term.IsTerminal(int(os.Stdout.Fd())) {
		return o.show(func(w io.Writer) error { return render.Excerpt(w, r) })
	}
	return o.show(func(w io.Writer) error { return o.writePredictions(w, o.format, r) })
}

func (o *predictOptions) writePredictions(w io.Writer, f render.Format, r *predictor.Predictions) error {
	if o.bom {
		if _, err := io.WriteString(w, byteOrderMark); err != nil {
			return err
		}
	}
	return render.Predictions(w, f, r)
}

// beginsSheet is what shows that a page is a contact sheet.
const beginsSheet = `<meta name="generator" content="lago-train sheet">`

// writeSheet writes the contact sheet, with a CSV file beside it.
func (o *predictOptions) writeSheet(c *call, p *predictor.Predictor, d *dataset.Dataset, r *predictor.Predictions) error {
	beside := strings.TrimSuffix(o.to, ".html") + ".csv"
	err := o.write(beside, func(w io.Writer) error { return o.writePredictions(w, render.CSV, r) })
	if err != nil {
		return err
	}
	s := &render.Sheet{
		Predictions: r,
		Note: fmt.Sprintf("%s trained on %s, choosing from %s (%d). Every number is in %s.",
			p.Method.Label(), p.Dataset, r.Candidates.What, len(r.Candidates.Names), filepath.Base(beside)),
		Picture: func(s predictor.Prediction) (image.Image, error) {
			if o.photographs == nil {
				return o.pictureOf(c, d, s.Index, render.PictureSide)
			}
			return images.Thumbnail(c, o.paths[s.ID], render.PictureSide)
		},
	}
	return o.show(s.Write)
}

// checkSources returns an error unless there are samples, which html can show.
func (o *predictOptions) checkSources(c *call) error {
	switch {
	case !c.isSet("images") && c.args != nil:
		return c.flagsOnly()
	case !c.isSet("features") && !c.isSet("dataset") && !c.isSet("images") && !c.isSet("list"):
		return wrong("--features", "one of --features, --dataset, --images and --list", "none")
	case o.bom && o.format != render.CSV && o.format != render.HTML:
		return wrong("--bom", "--format csv or html beside it", "")
	case o.format == render.HTML && c.isSet("features"):
		return wrong("--format", "samples of --images or --dataset for html", "--features")
	case o.format == render.HTML && !strings.HasSuffix(o.to, ".html"):
		return wrong("--to", "a file that ends in .html for --format html", invalid.Quote(o.to))
	case o.format == render.HTML:
		return o.checkFile("to", o.to, beginsSheet)
	}
	return o.checkFile("to", o.to, "")
}

// source opens the samples. It returns the data set that --candidates refers to, and whether samples are
// known to be of classes that the model was trained on.
func (o *predictOptions) source(c *call, m *predictor.Model) (src predictor.Source, d *dataset.Dataset, trained bool, err error) {
	if o.dataset == "" {
		d = o.trainingData(c, m)
	}
	switch {
	case o.features != "":
		src, err = featuresFor(c, m, o.features)
	case o.images != nil || o.list != "":
		if err := o.listPhotographs(c, d.Classes); err != nil {
			return nil, nil, false, err
		}
		e, err := o.extractor(c, m, o.photographs)
		if err != nil {
			return nil, nil, false, err
		}
		o.paths = map[string]string{}
		for _, photograph := range o.photographs {
			o.paths[photograph.ID] = photograph.Path
			trained = trained || m.TrainedOn(photograph.Class)
		}
		photographs := e.NewSource(c, o.photographs, display.show)
		photographs.OnBroken = o.onBroken
		src = photographs
	default:
		if d, err = openData(c, m, o.dataset, o.dataOptions.Options); err != nil {
			return nil, nil, false, err
		}
		classes := m.ClassesOf(d, o.split)
		src = &predictor.Samples{Data: d, Rows: d.SamplesOf(classes)}
		trained = slices.ContainsFunc(classes, func(z int) bool { return m.TrainedOn(d.Classes[z]) && slices.Contains(d.Labels, z) })
	}
	return src, d, trained, err
}

// listPhotographs sets the photographs. The class of one in a folder is the nearest folder above it that is
// a class, or else, until keepClasses, the folder that it is in.
func (o *predictOptions) listPhotographs(c *call, classes []string) (err error) {
	if o.list != "" {
		o.photographs, err = images.ReadList(c, o.list, "")
		return err
	}
	o.photographs, err = imageList(slices.Concat(o.images, c.args))
	for i, m := range o.photographs {
		folders := strings.Split(path.Dir(m.ID), "/")
		for _, folder := range folders {
			if slices.Contains(classes, folder) {
				o.photographs[i].Class = folder
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

// featuresFor opens a file of features as a model takes them. Names of the samples are in the file or, beside
// it, in images.csv.
func featuresFor(c *call, m *predictor.Model, file string) (*features.Reader, error) {
	r, err := features.OpenNamed(c, file)
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
	if names, err := openlayout.ReadImageNames(c, filepath.Dir(file)); file != "-" && err == nil {
		r.Name(names)
	}
	return r, nil
}

// onBroken leaves a photograph out if that is asked for.
func (o *predictOptions) onBroken(_ images.Image, err error) error {
	if !o.skipBroken {
		return &invalid.Error{Err: err, Hint: "--skip-broken leaves such photographs out."}
	}
	o.broken = append(o.broken, err.Error())
	return nil
}

func (o *predictOptions) logCount(n predictor.Count) {
	if n.Outside > 0 {
		logrus.Warnf("%d of %s belong to none of the candidates, so that their predictions are wrong; --candidates all includes their classes", n.Outside, format.Count(n.Known, "sample"))
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
