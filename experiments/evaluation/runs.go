package evaluation

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train"
)

// Model is a trained model with its run.
type Model struct {
	lab.Run
	Path  string // of the model file
	Saved *train.Saved
}

// ReadModel reads a model by the folder of its run or by its file, beside which the
// trial.json must lie.
func ReadModel(path string) (*Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, invalid.File(path, err)
	}
	m := &Model{Path: path}
	dir := filepath.Dir(path)
	if info.IsDir() {
		dir, m.Path = path, filepath.Join(path, train.ModelFile)
	}
	m.Run, _, err = lab.ReadRun(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &invalid.Error{Where: dir, Want: "the folder of a run, with a " + train.TrialFile, Err: err}
	}
	if err == nil {
		err = m.Err
	}
	if damaged := (*invalid.Error)(nil); errors.As(err, &damaged) { // names its file
		return nil, err
	}
	if err != nil {
		return nil, invalid.At(dir, err)
	}
	m.Saved, err = train.Load(m.Path)
	return m, err
}

// check returns an error if the models cannot be evaluated on the split, or the runs of
// the dev stage cannot validate.
func (m Models) check() error {
	if len(m.Models) == 0 {
		return &invalid.Error{Where: "--model", Want: "at least one model", Got: "none"}
	}
	if m.Split == GZSLSplit && m.Data.TestSeen == nil {
		return &invalid.Error{Where: m.Data.Name, Want: "a data set with held-out samples of seen classes (test_seen_loc)", Got: "none"}
	}
	if m.Adapt && (len(m.Models) > 1 || m.Split == GZSLSplit) {
		return &invalid.Error{Where: "--adapt", Want: "one model, and --split val or test", Got: fmt.Sprintf("%s, %s", format.Count(len(m.Models), "model"), m.Split)}
	}
	for _, model := range m.Models {
		if err := m.checkModel(model, m.Split == ValSplit); err != nil {
			return err
		}
	}
	if len(m.Dev) > 0 && len(m.Dev) != len(m.Models) {
		return &invalid.Error{Where: "--dev", Want: fmt.Sprintf("one run for each of the %d models", len(m.Models)), Got: fmt.Sprint(len(m.Dev))}
	}
	if len(m.Dev) > 0 && m.Split == ValSplit {
		return &invalid.Error{Where: "--dev", Want: "--split test or gzsl", Got: "val, which is used for validation"}
	}
	for i, run := range m.Dev {
		if err := m.checkModel(run, true); err != nil {
			return err
		}
		if want := m.Models[i].Method(); run.Method() != want {
			return &invalid.Error{Where: run.Dir, Want: "a run of " + want + ", as the model", Got: "one of " + run.Method()}
		}
	}
	return nil
}

// checkModel returns an error if a model is of the wrong stage, does not fit the data set,
// or was trained on what it is to be evaluated on: with dev on the validation classes.
func (m Models) checkModel(model *Model, dev bool) error {
	stage := fmt.Sprintf("one of the %s stage", model.Stage)
	switch {
	case dev && model.Stage != train.Dev:
		return &invalid.Error{Where: model.Path, Want: "a run of the dev stage, which is not trained on the validation classes", Got: stage}
	case !dev && m.Split == GZSLSplit && model.Stage != train.Test:
		return &invalid.Error{Where: model.Path, Want: "a run of the test stage", Got: stage}
	}
	if err := model.Saved.Fits(m.Data); err != nil {
		return invalid.At(model.Path, err)
	}
	if m.Split == GZSLSplit {
		if found := m.Data.Fingerprint(); model.Fingerprint != found {
			return &invalid.Error{
				Where: model.Path, Want: fmt.Sprintf("the data set that samples were held out of, with the fingerprint %.12s", model.Fingerprint),
				Got: fmt.Sprintf("%s with %.12s", m.Data.Name, found), Hint: "Is it another --dev-split?",
			}
		}
		if !model.HoldOut {
			command := fmt.Sprintf("run --dataset %s --variant %s", m.Data.Name, model.Run.Model.Variant)
			if method := model.Baseline.Method; method != "" {
				command = fmt.Sprintf("compare --dataset %s --methods %s", m.Data.Name, method)
			}
			return &invalid.Error{
				Where: model.Path, Want: "a model that was not trained on the held-out samples of seen classes",
				Got: "one that was", Hint: "Train one: lago-train " + command + " --hold-out.",
			}
		}
	}
	for _, z := range m.question(dev).unseen {
		if name := m.Data.Classes[z]; model.Saved.TrainedOn(name) {
			return &invalid.Error{
				Where: model.Path, Want: fmt.Sprintf("a model that was not trained on the class %q of %s", name, m.Data.Name),
				Got: "one that was", Hint: "Is it another --dev-split?",
			}
		}
	}
	return nil
}

// devRuns returns the runs to validate with, one for each model, or says what is missing.
func (m Models) devRuns() (dev []*Model, missing string, err error) {
	if m.Split == ValSplit {
		return nil, "the validation classes themselves are evaluated", nil
	}
	if len(m.Dev) > 0 {
		return m.Dev, "", nil
	}
	for _, model := range m.Models {
		dir, err := model.devRun()
		if err != nil {
			return nil, "", err
		}
		if dir == "" {
			return nil, fmt.Sprintf("no finished run of the dev stage with the settings of %s was found beside it (run --stage full trains both; --dev gives another one)", model.Dir), nil
		}
		found, err := ReadModel(dir)
		if err != nil {
			return nil, "", err
		}
		if err := m.checkModel(found, true); err != nil {
			return nil, fmt.Sprintf("the run of the dev stage beside %s cannot validate: %v", model.Dir, err), nil
		}
		dev = append(dev, found)
	}
	return dev, "", nil
}

// devRun returns the folder of the model's run if it is of the dev stage, otherwise that of
// the run of the dev stage beside it that has the same settings except epochs and patience,
// "" if there is none. Of several it is the one with the most epochs.
func (model *Model) devRun() (dir string, err error) {
	if model.Stage == train.Dev {
		return model.Dir, nil
	}
	runs, err := lab.ReadRuns(filepath.Dir(filepath.Clean(model.Dir)))
	if err != nil {
		return "", err
	}
	runs = slices.DeleteFunc(runs, func(r lab.Run) bool {
		same := r.Trial
		same.Stage, same.Training.Epochs, same.Training.Patience = model.Stage, model.Training.Epochs, model.Training.Patience
		return r.Stage != train.Dev || r.Err != nil || same != model.Trial
	})
	if len(runs) == 0 {
		return "", nil
	}
	return slices.MaxFunc(runs, func(a, b lab.Run) int {
		return cmp.Or(cmp.Compare(a.Training.Epochs, b.Training.Epochs), cmp.Compare(a.Training.Patience, b.Training.Patience))
	}).Dir, nil
}
