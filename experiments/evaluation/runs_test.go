package evaluation

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/train"
)

func TestEvaluateModelsRefuses(t *testing.T) {
	l := heldOutLab(t)
	d := l.Data
	dev, test := trained(t, l, nil)
	_, leaky := trained(t, l, func(c *protocol.Config) { c.HoldOut, c.Stage = false, protocol.OnlyTest })
	baselineDev, baseline := trainedBaseline(t, l)
	other := func(change func(*dataset.Dataset)) *dataset.Dataset {
		o := *d
		o.Name = "other"
		change(&o)
		return &o
	}
	unheld := *baseline
	unheld.HoldOut = false
	for _, c := range []struct {
		name  string
		m     Models
		parts []string
	}{
		{"no model", Models{Data: d, Split: TestSplit}, []string{"--model", "found none"}},
		{"trained on the val classes", Models{Data: d, Split: ValSplit, Models: test[:1]}, []string{test[0].Path, "dev stage", "test stage"}},
		{"dev stage in gzsl", Models{Data: d, Split: GZSLSplit, Models: dev[:1]}, []string{dev[0].Path, "expected a run of the test stage"}},
		{
			"nothing held out",
			Models{Data: d, Split: GZSLSplit, Models: leaky[:1]},
			[]string{leaky[0].Path, "lago-train run --dataset simulated-small --variant semantic-hard --hold-out"},
		},
		{
			"nothing held out, baseline",
			Models{Data: d, Split: GZSLSplit, Models: []*Model{&unheld}},
			[]string{"lago-train compare --dataset simulated-small --methods eszsl --hold-out"},
		},
		{
			"a data set without held-out samples",
			Models{Data: other(func(d *dataset.Dataset) { d.TestSeen = nil }), Split: GZSLSplit, Models: test[:1]},
			[]string{"other", "test_seen_loc"},
		},
		{
			"other samples held out",
			Models{Data: other(func(d *dataset.Dataset) { d.TestSeen = d.TestSeen[1:] }), Split: GZSLSplit, Models: test[:1]},
			[]string{test[0].Path, "fingerprint", "other"},
		},
		{"another attribute", Models{Data: other(func(d *dataset.Dataset) {
			d.Attributes = slices.Clone(d.Attributes)
			d.Attributes[2].Name = "wing"
		}), Split: TestSplit, Models: test[:1]}, []string{test[0].Path, "simulated-small", "other", "attribute 2", `"wing"`}},
		{"a class that it was trained on", Models{Data: other(func(d *dataset.Dataset) {
			d.Split.Test = append(slices.Clone(d.Split.Train[:1]), d.Split.Test...)
		}), Split: TestSplit, Models: test[:1]}, []string{test[0].Path, "not trained on the class", d.Classes[d.Split.Train[0]], "other"}},
		{"runs to validate by", Models{Data: d, Split: TestSplit, Models: test, Dev: dev[:1]}, []string{"--dev", "2 models", "found 1"}},
		{"validation of val", Models{Data: d, Split: ValSplit, Models: dev, Dev: dev}, []string{"--dev", "--split test or gzsl"}},
		{"validation by the test stage", Models{Data: d, Split: TestSplit, Models: test[:1], Dev: test[:1]}, []string{"expected a run of the dev stage"}},
		{
			"validation by another method",
			Models{Data: d, Split: TestSplit, Models: test[:1], Dev: []*Model{baselineDev}},
			[]string{baselineDev.Dir, "expected a run of semantic-hard", "eszsl"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Config{Bins: 5}.EvaluateModels(t.Context(), c.m)
			if err == nil {
				t.Fatal("expected an error")
			}
			for _, part := range c.parts {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("expected an error with %q, found %v", part, err)
				}
			}
		})
	}
}

// A model of another split may be evaluated on classes that it was not trained on, and is
// validated only if its run of the dev stage was not either.
func TestEvaluateOnAnotherSplit(t *testing.T) {
	l := heldOutLab(t)
	_, test := trained(t, l, nil)
	d := *l.Data
	d.Split.Train, d.Split.Val = append(slices.Clone(d.Split.Val), d.Split.Train[4:]...), d.Split.Train[:4]
	slices.Sort(d.Split.Train)
	e := evaluated(t, Models{Data: &d, Split: TestSplit, Models: test[:1]})
	nearly(t, "per class", e.PerClass, test[0].Result.Evaluation.PerClass)
	notes := strings.Join(e.Notes, "\n")
	if e.Validation != nil || !strings.Contains(notes, "are not those that") || !strings.Contains(notes, "cannot validate") {
		t.Errorf("notes %q, validation %+v", e.Notes, e.Validation)
	}
}

func TestReadModel(t *testing.T) {
	l := heldOutLab(t)
	dev, _ := trained(t, l, func(c *protocol.Config) { c.Stage = protocol.OnlyDev })
	byFile := readModel(t, dev[0].Path)
	if byFile.Path != dev[0].Path || byFile.Dir != dev[0].Dir || byFile.Run.Trial != dev[0].Run.Trial || byFile.Saved == nil {
		t.Errorf("found %+v, expected %+v", byFile, dev[0])
	}
	for _, c := range []struct {
		name   string
		damage func(dir string) (path string, err error)
		parts  []string
	}{
		{"nothing", func(dir string) (string, error) { return filepath.Join(dir, "none"), nil }, []string{"none"}},
		{"a folder of runs", func(dir string) (string, error) { return filepath.Dir(dir), nil }, []string{"folder of a run", train.TrialFile}},
		{"no model", func(dir string) (string, error) { return dir, os.Remove(filepath.Join(dir, train.ModelFile)) }, []string{train.ModelFile}},
		{"no result", func(dir string) (string, error) { return dir, os.Remove(filepath.Join(dir, train.ResultFile)) }, []string{"unfinished"}},
		{"no trial", func(dir string) (string, error) {
			return filepath.Join(dir, train.ModelFile), os.Remove(filepath.Join(dir, train.TrialFile))
		}, []string{"folder of a run"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(dir, os.DirFS(dev[1].Dir)); err != nil {
				t.Fatal(err)
			}
			path, err := c.damage(dir)
			if err != nil {
				t.Fatal(err)
			}
			_, err = ReadModel(path)
			var unfinished *lab.Unfinished
			if !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &unfinished) {
				t.Fatalf("found %v", err)
			}
			for _, part := range c.parts {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("expected an error with %q, found %v", part, err)
				}
			}
		})
	}
}
