package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/train"
)

// latest names the run that finished last.
const latest = "latest"

// modelSetting is that of commands that use one model.
func modelSetting(to *string) setting.Setting {
	return setting.Raw("model", to, "").In(inputGroup).Describe(modelUsage)
}

const modelUsage = "`MODEL` a run's folder, a model file, the start of a run's name in ./runs, or latest"

// loadedModel is a model with the record of its run.
type loadedModel struct {
	*train.Saved
	path  string       // of the file
	trial *train.Trial // nil if there is no trial.json beside the file
}

// loadModel loads the model that --model names.
func loadModel(name string) (*loadedModel, error) {
	path, err := findModel("--model", name)
	if err != nil {
		return nil, err
	}
	saved, err := train.Load(path)
	if err != nil {
		return nil, err
	}
	record, err := train.ReadRecord(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return &loadedModel{saved, path, nil}, nil
	}
	return &loadedModel{saved, path, &record.Trial}, err
}

// findModel returns the model file that the value of where names: a file, the folder of a
// run, a unique prefix of a run's name, or latest. Runs are looked up in the folder
// that the value begins with, ./runs if it has none.
func findModel(where, value string) (string, error) {
	if value == "" {
		return "", wrong(where, "a run's folder, a model file, latest, or the start of a run's name", "none")
	}
	switch info, err := os.Stat(value); {
	case err == nil && info.IsDir():
		path := filepath.Join(value, train.ModelFile)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return "", &invalid.Error{Where: value, Want: "the folder of a finished run, with a " + train.ModelFile, Got: "none"}
		}
		return path, nil
	case err == nil:
		return value, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", invalid.At(where, invalid.File(value, err))
	}
	dir, prefix := filepath.Split(value)
	if dir == "" {
		dir = defaultRuns
	}
	runs := finishedRuns(dir)
	if prefix == latest && len(runs) > 0 {
		newest := slices.MaxFunc(runs, func(a, b finishedRun) int { return a.time.Compare(b.time) })
		return newest.path, nil
	}
	var names, matches []string
	found := ""
	for _, r := range runs {
		names = append(names, r.name)
		if strings.HasPrefix(r.name, prefix) {
			found, matches = r.path, append(matches, r.name)
		}
	}
	dir = filepath.Clean(dir)
	e := &invalid.Error{
		Where: where, Want: "a run's folder, a model file, latest, or the start of the name of a run in " + dir,
		Got: invalid.Quote(value), Usage: true,
	}
	switch {
	case len(matches) == 1:
		return found, nil
	case len(matches) > 1:
		const most = 5
		e.Want = "the start of the name of one run in " + dir
		e.Got += fmt.Sprintf(", which matches %d", len(matches))
		e.Hint = "Choose one of " + strings.Join(matches[:min(most, len(matches))], ", ") + "."
	case len(runs) == 0:
		e.Hint = dir + " has no finished runs."
	default:
		e.Hint = cmp.Or(invalid.DidYouMean(prefix, names), "lago-train runs lists them.")
	}
	return "", e
}

type finishedRun struct {
	name, path string
	time       time.Time
}

// finishedRuns lists the runs in a folder that have a model.
func finishedRuns(dir string) []finishedRun {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var runs []finishedRun
	for _, e := range entries {
		path := filepath.Join(dir, e.Name(), train.ModelFile)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			runs = append(runs, finishedRun{e.Name(), path, info.ModTime()})
		}
	}
	return runs
}

// open reads a data set for the model, its own if name is "". It warns if the model was trained
// on other data of this name.
func (m *loadedModel) open(ctx context.Context, o *dataOptions, name string) (*dataset.Dataset, error) {
	d, err := catalog.Open(ctx, cmp.Or(name, m.Dataset), o.Options)
	if err != nil {
		return nil, err
	}
	if err := m.Fits(d); err != nil {
		return nil, err
	}
	if m.trial != nil && m.Dataset == d.Name && m.trial.Fingerprint != d.Fingerprint() {
		logrus.Warnf("the features, labels or split of %s are not those that %s was trained on. Is it another --dev-split?", d.Name, m.path)
	}
	return d, nil
}

// trainedOn reports whether the model may have been trained on a sample of d.
func (m *loadedModel) trainedOn(d *dataset.Dataset, row int) bool {
	if m.Dataset != d.Name || m.trial != nil && m.trial.HoldOut && slices.Contains(d.TestSeen, row) {
		return false
	}
	return m.TrainedOn(d.Classes[d.Labels[row]])
}

// checkOutput returns an error if the file to write is one of the inputs.
func checkOutput(flag, output string, inputs ...string) error {
	written, err := os.Stat(output)
	if err != nil {
		return nil // a new file
	}
	for _, input := range inputs {
		if read, err := os.Stat(input); err == nil && os.SameFile(read, written) {
			return &invalid.Error{Where: "--" + flag, Want: "a file that the command does not read", Got: output, Hint: "Choose another name.", Usage: true}
		}
	}
	return nil
}
