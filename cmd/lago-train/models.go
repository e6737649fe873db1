package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/answers/predictor/render"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/studies"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

func modelSetting(to *string) setting.Setting {
	return setting.Raw("model", to, "").In(inputGroup).Common()
}

const latest = "latest"

// findModel returns the model file that the value of a flag names: the file, the folder of its run or, in the
// folder that the value begins with, ./runs if it has none, a unique prefix of its name, or latest.
func findModel(flag, value string) (string, error) {
	const what = "a run's folder, a model file, latest, or the start of the name of a run"
	if value == "" {
		return "", wrong(flag, what, "none")
	}
	info, err := os.Stat(value)
	switch {
	case err == nil && info.IsDir():
		path := filepath.Join(value, train.ModelFile)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return "", &invalid.Error{
				Where: value, Want: "the folder of a run, with a " + train.ModelFile, Got: "none",
			}
		}
		return path, nil
	case err == nil && filepath.Ext(value) != filepath.Ext(train.ModelFile):
		return "", wrong(flag, what+" ("+train.ModelFile+")", value)
	case err == nil:
		return value, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", invalid.At(flag, invalid.File(value, err))
	}
	dir, prefix := filepath.Split(value)
	dir = filepath.Clean(cmp.Or(dir, defaultRuns))
	names := runsWithModel(dir)
	if prefix == latest && len(names) > 0 {
		run, err := lastModel(dir, names)
		return filepath.Join(run, train.ModelFile), invalid.At(flag+" "+value, err)
	}
	matches := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.HasPrefix(name, prefix)
	})
	e := &invalid.Error{Where: flag, Want: what + " in " + dir, Got: invalid.Quote(value), Usage: true}
	switch {
	case len(matches) == 1:
		return filepath.Join(dir, matches[0], train.ModelFile), nil
	case len(matches) > 1:
		e.Want = "the start of the name of one run in " + dir
		e.Hint = fmt.Sprintf("%d begin so, such as %s and %s.", len(matches), matches[0], matches[1])
	case len(names) == 0:
		e.Hint = dir + " has no runs with a " + train.ModelFile + ". lago-train run trains a model."
	default:
		e.Hint = cmp.Or(invalid.DidYouMean(prefix, append(names, latest)), "lago-train runs lists them.")
	}
	return "", e
}

// lastModel returns the folder of the run that latest means, of those in a folder with a model: that of the
// last seed of the last run command with a test stage, or else of the last one. If a file of it is missing or
// damaged, that is an error, since another model would take its place.
func lastModel(dir string, names []string) (string, error) {
	stored, unreadable, _ := lab.ReadStored(context.Background(), dir, studies.RunKind+"-")
	for _, m := range unreadable {
		info, err := os.Stat(m.Name)
		if err != nil || len(stored) == 0 || info.ModTime().After(stored[0].Time) {
			return "", &m
		}
	}
	var last *studies.MethodAccuracy
	for _, s := range stored { // the newest first
		r := new(studies.MethodAccuracy)
		if err := s.Decode(r); err != nil {
			return "", err
		}
		if last == nil || last.Test == nil && r.Test != nil {
			last = r
		}
	}
	if last == nil {
		return "", &invalid.Error{
			Where: dir, Want: "the result of a run command", Got: "none",
			Hint: format.ShellLine("lago-train", "runs", "--from", dir) + " lists runs, such as " + names[0],
		}
	}
	dir = lab.Moved(dir, last.RunDirs[len(last.RunDirs)-1])
	r, err := lab.ReadRun(dir)
	if err == nil {
		err = r.CheckFinished()
	}
	if e := (*invalid.Error)(nil); errors.As(err, &e) && e.Hint == "" {
		e.Hint = "Repeat the command that trained it, or name another run."
	}
	return dir, err
}

func runsWithModel(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name(), train.ModelFile))
		if err == nil && info.Mode().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names
}

func openModel(name string) (*predictor.Model, error) {
	path, err := findModel("--model", name)
	if err != nil {
		return nil, err
	}
	m, err := predictor.Open(path)
	if err == nil {
		logModel(m)
	}
	return m, err
}

func logModel(m *predictor.Model) {
	of := ""
	if m.Trial != nil {
		of = fmt.Sprintf(", stage %s, random seed %d", m.Trial.Stage, m.Trial.Seed)
	}
	logrus.Infof("model: %s trained on %s%s, in %s", m.Method.Label(), m.Dataset, of, m.Dir())
}

func openLAGO(name string) (*predictor.Model, error) {
	m, err := openModel(name)
	if err != nil || m.Method.Name == methods.LAGO {
		return m, err
	}
	return nil, &invalid.Error{
		Where: "--model", Want: "a LAGO model, which has attribute groups",
		Got: m.Method.Label() + " in " + m.Dir(), Usage: true,
	}
}

// openView opens a data set, that of the model if name is "", with the split of the model.
func openView(ctx context.Context, m *predictor.Model, name string,
	o catalog.Options,
) (*dataset.Dataset, error) {
	o.Absent = m.Absent
	d, err := catalog.Open(ctx, cmp.Or(name, m.Dataset), o)
	if err == nil {
		d = m.View(d)
	}
	return d, err
}

// openData opens a data set for the model, its own if name is "". It warns if the model was trained
// on other data of this name.
func openData(ctx context.Context, m *predictor.Model, name string,
	o catalog.Options,
) (*dataset.Dataset, error) {
	d, err := openView(ctx, m, name, o)
	if err != nil {
		return nil, err
	}
	logChanged(m.Changed(d))
	warnData(d, false)
	return d, m.Fits(d)
}

// logChanged logs how a data set differs from that of the training, as a warning if it harms.
func logChanged(how string, harms bool) {
	switch {
	case harms:
		logrus.Warn(how)
	case how != "":
		logrus.Info(how)
	}
}

// warnData logs what makes results on a data set worth less, see check.Use.
func warnData(d *dataset.Dataset, scales bool) { warnOf(check.Use(d, scales)...) }

func warnOf[T any](findings ...T) {
	for _, finding := range findings {
		if text := fmt.Sprint(finding); text != "" {
			logrus.Warn(text)
		}
	}
}

type predictionOptions struct {
	dataOptions
	networkOptions
	predictor.Options
	outputs
	noPicture                bool // there was a sample of a data set without one
	model, features, dataset string
	candidates               []predictor.Selection
	empty                    descriptions.Empty // cells of files of candidates
	to                       string             // file

	m       *predictor.Model     // see open
	data    *dataset.Dataset     // that candidates are chosen from
	trained bool                 // samples are known to be of classes that the model was trained on
	p       *predictor.Predictor // see choose
}

func candidatesSetting(to *[]predictor.Selection, otherwise string) setting.Setting {
	parse := func(text string) (predictor.Selection, error) {
		if s, err := invalid.OneOf(text, predictor.Selections...); err == nil {
			return s, nil
		}
		return predictor.Selection(text), nil // a file, or the name of a class
	}
	s := setting.Several("candidates", to, nil, "", parse).Noted(otherwise).Common()
	s.List, s.Options = true, format.Strings(predictor.Selections)
	return s
}

func emptySetting(to *descriptions.Empty) setting.Setting {
	return setting.Choice("empty", to, descriptions.EmptyUnknown, descriptions.Empties...)
}

// settings are those of both commands. photographs are the keys of those that are predicted.
func (o *predictionOptions) settings(photographs ...string) setting.List {
	return slices.Concat(o.dataSettings().Without("json"), workSettings(), setting.List{
		candidatesSetting(&o.candidates, "unseen, or all for samples of classes trained on").OrAs("classes"),
		emptySetting(&o.empty),
	}.In(classGroup), setting.List{
		modelSetting(&o.model),
		weightsSetting(&o.weights).Needs(photographs...),
		adaptSetting(&o.Adapt).Excludes("temperature"),
		setting.Raw("to", &o.to, "").In(outputGroup).Common().Noted("standard output"),
		o.outputs.setting(),
	})
}

// trainingData returns the classes of the model's data set, as its folder describes them today or, where it
// is not found, as the model file does.
func (o *predictionOptions) trainingData(c *cli.Context) *dataset.Dataset {
	m := o.m
	dir, err := catalog.Folder(m.Dataset, o.dataOptions.Options)
	if err != nil {
		logrus.Infof("classes are described as in %s, since no data set %s is in %s; "+
			"--data-dir names another folder", m.Path, m.Dataset, catalog.DataDir(o.DataDir))
	}
	if err != nil || dir == "" {
		return m.TrainingData()
	}
	t, err := openlayout.ReadDescriptions(c.Context, dir)
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
	return setting.Switch("adapt", to, false).In(methodGroup).Common()
}

func (o *predictionOptions) open(open func(name string) (*predictor.Model, error)) (err error) {
	if o.m, err = open(o.model); err != nil {
		return err
	}
	if o.Adapt {
		if _, err := o.m.AdaptationSettings(); err != nil { // before samples are read
			return err
		}
	}
	return nil
}

// choose sets the predictor, for the candidates that the flags name among the classes of the data. Without
// such a flag they are the unseen classes, or all of them if samples are of classes that the model was
// trained on. It logs what the predictions depend on.
func (o *predictionOptions) choose(c *cli.Context) error {
	otherwise, other := predictor.Unseen, predictor.All
	if o.trained {
		otherwise, other = other, otherwise
	}
	list := slices.Clone(o.candidates)
	candidates, err := o.m.NewCandidates(c.Context, o.data, list, otherwise, o.empty)
	if err = cmp.Or(err, atFlag("to", o.Check(o.to))); err != nil { // before samples are predicted
		return err
	}
	if o.p, err = o.m.Predictor(candidates, o.Options); err != nil {
		return err
	}
	if o.Adapt && !o.p.Adapts() {
		logrus.Warn(predictor.AdaptationWarning(o.m.Decision.Adaptation),
			"; predictions are those without --adapt")
	}
	number, unseen := len(candidates.Names), o.p.Unseen()
	what := format.Count(number, "class")
	if number <= 5 {
		what += ": " + format.Printable(strings.Join(candidates.Names, ", "))
	}
	others := "to choose from others: --candidates"
	if n := len(o.m.SelectedCandidates(o.data, other).Names); list == nil {
		others = fmt.Sprintf("--candidates %s chooses from %d", other, n)
	}
	if o.p.Mixed {
		others += fmt.Sprintf("; for seen and unseen classes together scores are corrected with omega %g",
			o.p.Decision.Omega)
	}
	logrus.Infof("choosing from %s (%s, data set %s; %d unseen, %d seen in training); %s", what,
		format.Printable(candidates.What), format.Printable(o.data.Name), unseen, number-unseen, others)
	if given := candidates.Given(); given < 1 {
		logrus.Infof("%s of the entries of their descriptions are given; the others are imputed",
			format.Percent(given))
	}
	return nil
}

func (o *predictionOptions) logCalibration(c *cli.Context) {
	p := o.p
	switch {
	case p.Temperature == 0:
		logrus.Warnf("scores of %s are not probabilities; --temperature converts them", p.Method.Label())
	case c.IsSet("temperature"):
	case predictor.Calibrated(p.Decision.Calibration):
		logrus.Infof("probabilities are calibrated on the validation classes (%s)",
			predictor.CalibrationText(p.Decision.Calibration))
	case p.Decision.Calibration != nil:
		logrus.Warnf("probabilities are not calibrated (%s)",
			predictor.CalibrationText(p.Decision.Calibration))
	default:
		logrus.Info("probabilities are not calibrated: run --stage full --hold-out chooses a temperature")
	}
}

func (o *predictionOptions) pictureOf(c *cli.Context, row int) (image.Image, error) {
	picture, err := catalog.Picture(c.Context, o.data, row, render.PictureSide)
	if err != nil && !o.noPicture {
		o.noPicture = true
		logrus.Warnf("samples are on the page without a picture, the first because of %v. Where photographs "+
			"were moved, dataset extract NAME --images DIR names their new folder", err)
	}
	return picture, c.Err()
}

func (o *predictionOptions) show(write func(io.Writer) error) error {
	if o.to == "" {
		return write(os.Stdout)
	}
	err := o.Write(o.to, write)
	o.log()
	return err
}
