package main

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
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
	s := setting.Several("candidates", to, nil, "", parse).Noted(otherwise).Common().
		Describe("classes to choose from: " +
			"unseen (not trained on), test, val, train, seen (train and val), all, names, or " +
			"files of names or descriptions")
	s.List, s.Options = true, format.Strings(predictor.Selections)
	return s
}

// emptySetting is --empty.
func emptySetting(to *descriptions.Empty) setting.Setting {
	return setting.Choice("empty", to, descriptions.EmptyUnknown, descriptions.Empties...).
		Describe("what empty cells of a file of classes mean: unknown, or no in each group in " +
			"which the class has a yes")
}

// settings are those of both commands. photographs are the keys of those that are predicted.
func (o *predictionOptions) settings(photographs ...string) setting.List {
	return slices.Concat(o.dataSettings().Without("json"), workSettings(), o.networkSettings().
		Needs(photographs...), setting.List{
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
func (o *predictionOptions) trainingData(c *cli.Context, m *predictor.Model) *dataset.Dataset {
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
	return setting.Switch("adapt", to, false).In(methodGroup).Common().
		Describe("adapt the predictions to all samples together (transductive)")
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
	o.inputs = append(format.Strings(o.candidates), m.Path, o.features, o.weights)
	return m, atFlag("to", o.check(o.to))
}

// predictor returns the predictor for the candidates that the flags name among the classes of d. Without
// such a flag they are the unseen classes, or all of them if samples are of classes that the model was
// trained on. It logs what the predictions depend on.
func (o *predictionOptions) predictor(c *cli.Context, m *predictor.Model, d *dataset.Dataset,
	trained bool,
) (*predictor.Predictor, error) {
	otherwise, other := predictor.Unseen, predictor.All
	if trained {
		otherwise, other = other, otherwise
	}
	list := slices.Clone(o.candidates)
	candidates, err := m.NewCandidates(c.Context, d, list, otherwise, o.empty)
	if err != nil {
		return nil, err
	}
	p, err := m.Predictor(candidates, o.Options)
	if err != nil {
		return nil, err
	}
	if o.Adapt && !p.Adapts() {
		logrus.Warn(predictor.AdaptationWarning(m.Decision.Adaptation),
			"; predictions are those without --adapt")
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
		others += fmt.Sprintf("; for seen and unseen classes together scores are corrected with omega %g",
			p.Decision.Omega)
	}
	logrus.Infof("choosing from %s%s (%s, data set %s; %d unseen, %d seen in training); %s",
		format.Count(len(candidates.Names),
			"class"), names, format.Printable(candidates.What), format.Printable(d.Name), unseen,
		len(candidates.Names)-unseen, others)
	if given := candidates.Given(candidates.U.AllRows()...); given < 1 {
		logrus.Infof("%s of the entries of their descriptions are given; the others are filled",
			format.Percent(given))
	}
	return p, nil
}

// logCalibration says whether probabilities are calibrated.
func logCalibration(c *cli.Context, p *predictor.Predictor) {
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
	case p.Mixed:
		logrus.Info("probabilities are not calibrated for seen and unseen classes together: lago-train run " +
			"--hold-out --stage full chooses a temperature for these")
	default:
		logrus.Info("probabilities are not calibrated: the model has no temperature, which lago-train run " +
			"--stage full chooses on the validation classes")
	}
}

// pictureOf returns the picture of a sample of a data set, nil if there is none.
func (o *predictionOptions) pictureOf(c *cli.Context, d *dataset.Dataset, row, side int) (image.Image, error) {
	picture, err := catalog.Picture(c.Context, d, row, side)
	if err != nil {
		o.noPicture = append(o.noPicture, err)
	}
	return picture, c.Err()
}

// show writes what was found, to --to if it is given.
func (o *predictionOptions) show(write func(io.Writer) error) error {
	defer func() {
		if n := len(o.noPicture); n > 0 {
			logrus.Warnf("%s on the page without a picture, the first because of %v. Where photographs "+
				"were moved, dataset extract NAME --images DIR names their new folder",
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
	if term.IsTerminal(int(os.Stdout.Fd())) { // tables have its width and colours
		return write(os.Stdout)
	}
	w := bufio.NewWriter(os.Stdout)
	return errors.Join(write(w), w.Flush())
}
