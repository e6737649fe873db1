package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/model"
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
	for _, c := range d.Dev {
		dev = append(dev, c.Label)
	}
	if diff := cmp.Diff([]string{"singletons", "semantic-hard"}, dev); diff != "" {
		t.Errorf("dev configurations, best first (-expected +found):\n%s", diff)
	}
	if len(d.Test) != 1 {
		t.Fatalf("expected one test configuration, found %d", len(d.Test))
	}
	hard := d.Dev[1]
	var seeds []uint64
	for _, trial := range hard.Trials {
		seeds = append(seeds, trial.Training.Seed)
	}
	if diff := cmp.Diff([]uint64{0, 2, 10}, seeds); diff != "" {
		t.Errorf("seeds (-expected +found):\n%s", diff)
	}
	if want := 0.34; math.Abs(hard.PerClass.Mean-want) > 1e-12 {
		t.Errorf("mean: expected %g, found %g", want, hard.PerClass.Mean)
	}
}

func TestReadTellsDataApart(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
	write(t, root, made(model.Singletons, train.Dev, 0, func(t *train.Trial) { t.Fingerprint = "fedcba9876543210" }), 0.6)
	write(t, root, made(model.Singletons, train.Dev, 0, func(t *train.Trial) { t.Dataset = "fish" }), 0.7)
	titles := map[string]bool{}
	for _, part := range NewPage(read(t, root)).Parts {
		titles[part.Title] = true
	}
	want := map[string]bool{"birds, fingerprint 01234567": true, "birds, fingerprint fedcba98": true, "fish": true}
	if diff := cmp.Diff(want, titles); diff != "" {
		t.Errorf("titles (-expected +found):\n%s", diff)
	}
}

// What is wrong with a folder is said with the file, and the rest is shown.
func TestReadListsWhatItDoesWithout(t *testing.T) {
	for name, c := range map[string]struct {
		file, content, why string
	}{
		"trial.json is cut":       {train.TrialFile, `{"dataset": `, "trial.json"},
		"trial.json of no stage":  {train.TrialFile, `{"dataset": "birds", "stage": "last"}`, `trial.json: stage: expected dev or test, found "last"`},
		"trial.json of no model":  {train.TrialFile, `{"dataset": "birds", "stage": "dev"}`, "trial.json: variant"},
		"result.json is cut":      {train.ResultFile, `{"status": "epo`, "result.json"},
		"nothing judged":          {train.ResultFile, `{"status": "epochs"}`, "result.json: evaluation: expected what the model scored, found none"},
		"no classes":              {train.ResultFile, `{"status": "epochs", "evaluation": {}}`, "result.json: judged.confusion"},
		"confusion is not square": {train.ResultFile, `{"status": "epochs", "evaluation": {"classes": ["a", "b"], "confusion": [[1], [2]]}}`, "result.json: judged.confusion: expected a row and a column for each of 2 classes"},
		"failed":                  {train.ResultFile, `{"status": "not finite", "error": "the term w2 is +Inf"}`, "the term w2 is +Inf"},
		"curve is cut":            {train.CurveFile, `{"epoch": 1, "tr`, "curve.jsonl: line 1"},
		"curve is empty":          {train.CurveFile, ``, "curve.jsonl: expected an epoch at least, found none"},
		"curve without val":       {train.CurveFile, `{"epoch": 1}`, "curve.jsonl: line 1: val_accuracy"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
			broken := write(t, root, made(model.SemanticHard, train.Dev, 0, nil), 0.5)
			writeFile(t, filepath.Join(broken, c.file), c.content)
			r, d := only(t, root)
			if len(d.Dev) != 1 {
				t.Errorf("expected the other trial to be shown, found %d", len(d.Dev))
			}
			if len(r.Missing) != 1 || r.Missing[0].Dir != broken || !strings.Contains(r.Missing[0].Why, c.why) {
				t.Errorf("expected %s to be missing because of %q, found %v", broken, c.why, r.Missing)
			}
		})
	}
}

func TestReadListsUnfinishedTrials(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
	unfinished := write(t, root, made(model.Singletons, train.Dev, 1, nil), 0.5, 0.6)
	if err := os.Remove(filepath.Join(unfinished, train.ResultFile)); err != nil {
		t.Fatal(err)
	}
	r, _ := only(t, root)
	if len(r.Missing) != 1 || r.Missing[0].Why != "unfinished at epoch 2" {
		t.Errorf("expected the unfinished trial to be missing, found %v", r.Missing)
	}
}

func TestReadRefusesFoldersWithoutTrials(t *testing.T) {
	empty := t.TempDir()
	if _, err := Read(empty); err == nil || !strings.Contains(err.Error(), empty+": expected folders of trials") {
		t.Errorf("expected an error that names %s, found %v", empty, err)
	}
	absent := filepath.Join(empty, "absent")
	if _, err := Read(absent); err == nil || !strings.Contains(err.Error(), absent) {
		t.Errorf("expected an error that names %s, found %v", absent, err)
	}
}

func TestLabelsSayWhatDiffers(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.9)
	write(t, root, made(model.KSoft, train.Dev, 0, nil), 0.8)
	write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K = 7 }), 0.7)
	write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K, t.Model.Beta = 7, 1e-4 }), 0.6)
	_, d := only(t, root)
	var labels []string
	for _, c := range d.Dev {
		labels = append(labels, c.Label)
	}
	want := []string{"singletons", "k-soft, k 2, beta 1e-06", "k-soft, k 7, beta 1e-06", "k-soft, k 7, beta 0.0001"}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("labels (-expected +found):\n%s", diff)
	}
}
