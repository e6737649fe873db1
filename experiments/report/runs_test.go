package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/train"
)

func TestReadGathersSeeds(t *testing.T) {
	root := t.TempDir()
	for _, seed := range []uint64{10, 2, 0} {
		write(t, root, made(model.SemanticHard, train.Dev, seed, nil), 0.1, 0.3+0.01*float64(seed))
	}
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.6)
	write(t, root, made(model.SemanticHard, train.Test, 0, nil), 0.4)
	_, d := only(t, root)
	var dev []string
	for _, c := range d.dev {
		dev = append(dev, c.label)
	}
	if diff := cmp.Diff([]string{"singletons", "semantic-hard"}, dev); diff != "" {
		t.Errorf("dev configurations, best first (-expected +found):\n%s", diff)
	}
	if len(d.test) != 1 {
		t.Fatalf("expected one test configuration, found %d", len(d.test))
	}
	hard := d.dev[1]
	var seeds []uint64
	for _, trial := range hard.runs {
		seeds = append(seeds, trial.Training.Seed)
	}
	if diff := cmp.Diff([]uint64{0, 2, 10}, seeds); diff != "" {
		t.Errorf("seeds (-expected +found):\n%s", diff)
	}
	if want := 0.34; math.Abs(hard.PerClass.Mean-want) > 1e-12 {
		t.Errorf("mean: expected %g, found %g", want, hard.PerClass.Mean)
	}
}

func TestReadSeparatesDataSets(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
	write(t, root, made(model.Singletons, train.Dev, 0, func(t *train.Trial) { t.Fingerprint = "fedcba9876543210" }), 0.6)
	write(t, root, made(model.Singletons, train.Dev, 0, func(t *train.Trial) { t.Dataset = "fish" }), 0.7)
	titles := map[string]bool{}
	for _, dataset := range read(t, root).Datasets {
		titles[dataset.Title] = true
	}
	want := map[string]bool{"birds, fingerprint 01234567": true, "birds, fingerprint fedcba98": true, "fish": true}
	if diff := cmp.Diff(want, titles); diff != "" {
		t.Errorf("titles (-expected +found):\n%s", diff)
	}
}

func TestReadListsDamagedRuns(t *testing.T) {
	for name, c := range map[string]struct {
		file, content, why string
	}{
		"trial.json is cut":       {train.TrialFile, `{"dataset": `, "trial.json: expected the settings of a run, found damaged JSON. Delete the folder"},
		"trial.json of no stage":  {train.TrialFile, `{"dataset": "birds", "stage": "last"}`, `trial.json: stage: expected dev or test, found "last"`},
		"trial.json of no model":  {train.TrialFile, `{"dataset": "birds", "stage": "dev"}`, "trial.json: variant"},
		"result.json is cut":      {train.ResultFile, `{"status": "epo`, "result.json: expected the result of a run, found damaged JSON. Delete the folder"},
		"no evaluation":           {train.ResultFile, `{"status": "epochs"}`, "result.json: "},
		"no classes":              {train.ResultFile, `{"status": "epochs", "evaluation": {}}`, "result.json: "},
		"confusion is not square": {train.ResultFile, `{"status": "epochs", "evaluation": {"classes": ["a", "b"], "confusion": [[1], [2]]}}`, "result.json: "},
		"failed":                  {train.ResultFile, `{"status": "not finite", "error": "the term w2 is +Inf"}`, "the term w2 is +Inf"},
		"curve is cut":            {train.CurveFile, `{"epoch": 1, "tr`, "curve.jsonl: line 1"},
		"curve is empty":          {train.CurveFile, ``, "curve.jsonl: expected at least one epoch, found none"},
		"accuracy out of range":   {train.CurveFile, `{"epoch": 1, "train_accuracy": 0.5, "val_accuracy": -1e20, "val_accuracy_per_sample": 0.5}`, "curve.jsonl: line 1: expected accuracies from 0 to 1"},
		"curve without val":       {train.CurveFile, `{"epoch": 1}`, "curve.jsonl: line 1: expected val_accuracy"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
			broken := write(t, root, made(model.SemanticHard, train.Dev, 0, nil), 0.5)
			writeFile(t, filepath.Join(broken, c.file), c.content)
			f, d := only(t, root)
			if len(d.dev) != 1 {
				t.Errorf("expected the other trial to be shown, found %d", len(d.dev))
			}
			if len(f.missing) != 1 || f.missing[0].Dir != broken || !strings.HasPrefix(f.missing[0].Why, c.why) {
				t.Errorf("expected %s to be missing because of %q, found %v", broken, c.why, f.missing)
			}
		})
	}
}

func TestReadListsUnfinishedRuns(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
	unfinished := write(t, root, made(model.Singletons, train.Dev, 1, nil), 0.5, 0.6)
	if err := os.Remove(filepath.Join(unfinished, train.ResultFile)); err != nil {
		t.Fatal(err)
	}
	f, _ := only(t, root)
	if len(f.missing) != 1 || f.missing[0].Why != "unfinished at epoch 2" {
		t.Errorf("expected the unfinished trial to be missing, found %v", f.missing)
	}
}

func TestReadListsFailedBaselines(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
	failed := write(t, root, made("", train.Dev, 0, func(t *train.Trial) {
		t.Model, t.Baseline = model.Config{}, methods.Spec{Method: "eszsl", Settings: eszsl.Config{Gamma: 1, Lambda: 1}}
	}), 0.5)
	writeFile(t, filepath.Join(failed, train.ResultFile), `{"status": "not finite", "error": "the scores are +Inf"}`)
	f, d := only(t, root)
	if len(d.dev) != 1 || len(f.missing) != 1 || f.missing[0].Dir != failed || f.missing[0].Why != "the scores are +Inf" {
		t.Errorf("expected the run of eszsl to be missing, found %v", f.missing)
	}
}

func TestReadRefusesFoldersWithoutRuns(t *testing.T) {
	empty := t.TempDir()
	if _, err := Read(empty); err == nil || !strings.Contains(err.Error(), empty+": expected folders of runs") {
		t.Errorf("expected an error that names %s, found %v", empty, err)
	}
	run := write(t, t.TempDir(), made(model.Singletons, train.Dev, 0, nil), 0.5)
	if _, err := Read(run); err == nil || !strings.Contains(err.Error(), run+": expected a folder of runs, found the folder of one run") {
		t.Errorf("expected an error that names %s, found %v", run, err)
	}
	absent := filepath.Join(empty, "absent")
	if _, err := Read(absent); err == nil || !strings.Contains(err.Error(), absent) {
		t.Errorf("expected an error that names %s, found %v", absent, err)
	}
}

// compare --rotate keeps its runs elsewhere, and compare with baselines only has none of LAGO.
func TestReadShowsStoredResultsWithoutRuns(t *testing.T) {
	root := t.TempDir()
	store(t, root, "rotation", compared)
	p := read(t, root)
	if len(p.Datasets) != 1 || len(p.Datasets[0].Sections) != 1 {
		t.Fatalf("expected one data set with one section, found %+v", p.Datasets)
	}
	s := p.Datasets[0].Sections[0]
	if s.Name != "rotation" || len(s.Figures) != 2 || s.Table == nil || len(s.Table.Rows) != 2 {
		t.Errorf("expected the rotation with two figures and a table, found %+v", s)
	}
	page := pageText(render(t, p))
	for _, want := range []string{"Results in " + root, "LAGO (k-soft) 60.0 ± 1.0", "variants of LAGO lago-train reproduce --dataset birds --out"} {
		if !strings.Contains(page, want) {
			t.Errorf("expected %q in\n%s", want, page)
		}
	}
	file := filepath.Join(root, "rotation-birds-00000000.json")
	if diff := cmp.Diff([]string{file}, p.Summary().Stored); diff != "" {
		t.Errorf("stored results (-expected +found):\n%s", diff)
	}
	writeFile(t, file, `{`)
	if _, err := Read(root); err == nil || !strings.Contains(err.Error(), file+": expected a result that lago-train stored") {
		t.Errorf("expected an error that names %s, found %v", file, err)
	}
}

func TestLabels(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.9)
	write(t, root, made(model.KSoft, train.Dev, 0, nil), 0.8)
	write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K = 7 }), 0.7)
	write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K, t.Model.Beta = 7, 1e-4 }), 0.6)
	_, d := only(t, root)
	var labels []string
	for _, c := range d.dev {
		labels = append(labels, c.label)
	}
	want := []string{"singletons", "k-soft, beta 1e-06, k 2", "k-soft, beta 1e-06, k 7", "k-soft, beta 0.0001, k 7"}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("labels (-expected +found):\n%s", diff)
	}
}
