package evaluation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/train"
)

// RunModel is a trained model, and the run that it is of.
type Model struct {
	lab.Run
	Path  string // of the model
	Saved *train.Saved
}

// ReadRunModel reads the model of a run by the run's folder or the model's file.
func ReadModel(path string) (*Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	r := &Model{Path: path}
	dir := filepath.Dir(path)
	if info.IsDir() {
		dir, r.Path = path, filepath.Join(path, train.ModelFile)
	}
	r.Run, _, err = lab.ReadRun(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: expected the folder of a run, with a %s that says what the model learned from: %w", dir, train.TrialFile, err)
	}
	if err == nil {
		err = r.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	r.Saved, err = train.Load(r.Path)
	return r, err
}

// check returns an error where the models, or those to validate by, can't be judged
// by the data.
func (m Models) check() error {
	if len(m.Models) == 0 {
		return errors.New("models: expected at least one, found none")
	}
	if m.Split == GZSLSplit && m.Data.TestSeen == nil {
		return fmt.Errorf("%s: expected a data set that names samples of seen classes to judge by (test_seen_loc), found none", m.Data.Name)
	}
	for _, r := range m.Models {
		if err := m.checkJudged(r); err != nil {
			return err
		}
	}
	if len(m.Dev) > 0 && len(m.Dev) != len(m.Models) {
		return fmt.Errorf("dev: expected a run for each of the %d models, found %d", len(m.Models), len(m.Dev))
	}
	if len(m.Dev) > 0 && m.Split == ValSplit {
		return errors.New("dev: expected none with the split val, whose models are of the dev stage themselves")
	}
	for i, r := range m.Dev {
		if err := m.checkDev(r); err != nil {
			return err
		}
		if want := m.Models[i].Method(); r.Method() != want {
			return fmt.Errorf("%s: expected a run of %s, as the model it is to validate for, found one of %s", r.Dir, want, r.Method())
		}
	}
	return nil
}

// checkJudged returns an error where a model can't be judged by the split.
func (m Models) checkJudged(r *Model) error {
	switch {
	case m.Split == ValSplit:
		return m.checkDev(r)
	case m.Split == GZSLSplit && r.Stage != train.Test:
		return fmt.Errorf("%s: expected a run of the test stage, found one of the %s stage", r.Path, r.Stage)
	}
	return m.checkRun(r, m.question(false))
}

// checkDev returns an error where a model is none of the dev stage that the val
// classes can judge.
func (m Models) checkDev(r *Model) error {
	if r.Stage != train.Dev {
		return fmt.Errorf("%s: expected a run of the dev stage, which did not learn from the val classes, found one of the %s stage", r.Path, r.Stage)
	}
	return m.checkRun(r, m.question(true))
}

// checkRun returns an error where a model doesn't fit the data, or learned from what
// it is to be judged by.
func (m Models) checkRun(r *Model, q question) error {
	if err := r.Saved.Fits(m.Data); err != nil {
		return fmt.Errorf("%s: %w", r.Path, err)
	}
	if m.Split == GZSLSplit {
		if found := m.Data.Fingerprint(); r.Fingerprint != found {
			return fmt.Errorf("%s: expected the data set that the model held samples out of, with the fingerprint %.12s, found %s with %.12s (another --dev-split?)",
				r.Path, r.Fingerprint, m.Data.Name, found)
		}
		if !r.HoldOut {
			return fmt.Errorf("%s: expected a model that did not learn from the held-out samples of seen classes, by which it is judged, found one that did; %s trains one",
				r.Path, r.command(m.Data))
		}
	}
	learned := r.learned()
	for _, z := range q.unseen {
		if name := m.Data.Classes[z]; slices.Contains(learned, name) {
			return fmt.Errorf("%s: expected a model that never saw the class %s of %s, found one that learned from it (another --dev-split?)", r.Path, name, m.Data.Name)
		}
	}
	return nil
}

// command is the one that trains a model which gzsl can judge.
func (r *Model) command(d *dataset.Dataset) string {
	if r.Baseline.Method != "" {
		return fmt.Sprintf("lago-train compare --dataset %s --methods %s --hold-out", d.Name, r.Baseline.Method)
	}
	return fmt.Sprintf("lago-train run --dataset %s --variant %s --hold-out", d.Name, r.Model.Variant)
}

// companions are the runs to validate by, one for each model, or why there are none.
func (m Models) companions() (dev []*Model, without string, err error) {
	if m.Split == ValSplit {
		return nil, "the val classes, which validation is by, are judged themselves", nil
	}
	if len(m.Dev) > 0 {
		return m.Dev, "", nil
	}
	for _, r := range m.Models {
		dir, err := r.companion()
		if err != nil {
			return nil, "", err
		}
		if dir == "" {
			return nil, fmt.Sprintf("no finished run of the dev stage has the settings of %s and lies beside it (run --stage full makes both; --dev names another one)", r.Dir), nil
		}
		found, err := ReadModel(dir)
		if err != nil {
			return nil, "", err
		}
		if err := m.checkDev(found); err != nil {
			return nil, fmt.Sprintf("the run of the dev stage beside %s can't validate: %v", r.Dir, err), nil
		}
		dev = append(dev, found)
	}
	return dev, "", nil
}

// companion finds the run of the dev stage whose settings are those of r but for how
// long it may train, in the folder that r's is in. Of several it is the one that may
// train longest. It is "" where there is none.
func (r *Model) companion() (dir string, err error) {
	runs, err := lab.ReadRuns(filepath.Dir(filepath.Clean(r.Dir)))
	if err != nil {
		return "", err
	}
	var longest train.Training
	for _, other := range runs {
		s := other.Training
		alike := other.Trial
		alike.Stage, alike.Training.Epochs, alike.Training.Patience = r.Stage, r.Training.Epochs, r.Training.Patience
		if other.Stage != train.Dev || other.Err != nil || alike != r.Run.Trial {
			continue
		}
		if dir == "" || s.Epochs > longest.Epochs || s.Epochs == longest.Epochs && s.Patience > longest.Patience {
			dir, longest = other.Dir, s
		}
	}
	return dir, nil
}
