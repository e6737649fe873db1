package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/model"
)

// A finished run is reused only if its files are those of the trial, agree with each
// other and were made by this version of the program.
func TestFinishedRunsAreCheckedBeforeReuse(t *testing.T) {
	d, root := tiny(t), t.TempDir()
	trial, other := trialOn(d, model.SemanticHard, Dev), trialOn(d, model.Singletons, Dev)
	sound, _ := finished(t, root, d, trial)
	swapped, _ := finished(t, root, d, other)
	result := func(change func(map[string]any)) func(string) {
		return func(dir string) { changeJSON(t, filepath.Join(dir, ResultFile), change) }
	}
	for _, c := range []struct {
		name   string
		damage func(dir string)
		file   string // that the error names
	}{
		{"the files of another run", func(dir string) { copyRun(t, swapped, dir) }, TrialFile},
		{"another results version", func(dir string) {
			changeJSON(t, filepath.Join(dir, TrialFile), func(r map[string]any) { r["results_version"] = ResultsVersion + 1 })
		}, TrialFile},
		{"no trial.json", func(dir string) { remove(t, filepath.Join(dir, TrialFile)) }, TrialFile},
		{"a cut curve", func(dir string) {
			path := filepath.Join(dir, CurveFile)
			curve := contents(t, path)
			writeFile(t, path, curve[:slices.Index(curve, '\n')+1])
		}, CurveFile},
		{"an empty curve", func(dir string) { writeFile(t, filepath.Join(dir, CurveFile), nil) }, CurveFile},
		{"an empty result", func(dir string) { writeFile(t, filepath.Join(dir, ResultFile), []byte("{}")) }, ResultFile},
		{"null", func(dir string) { writeFile(t, filepath.Join(dir, ResultFile), []byte("null")) }, ResultFile},
		{"no JSON", func(dir string) { writeFile(t, filepath.Join(dir, ResultFile), []byte("{")) }, ResultFile},
		{"no evaluation", result(func(r map[string]any) { delete(r, "evaluation") }), ResultFile},
		{"a best epoch past the last", result(func(r map[string]any) { r["best_epoch"] = 7 }), ResultFile},
		{"an accuracy in percent", result(func(r map[string]any) { r["evaluation"].(map[string]any)["per_class_accuracy"] = 62.5 }), ResultFile},
		{"a confusion matrix that is not square", result(func(r map[string]any) { r["evaluation"].(map[string]any)["confusion"] = [][]int{{1}} }), ResultFile},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, trial.Name())
			copyRun(t, sound, dir)
			c.damage(dir)
			_, err := Run(context.Background(), root, trial, given(prepare(t, d, trial)), Options{
				OnEpoch: func(Trial, Epoch) { t.Error("trained") },
			})
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, c.file)) {
				t.Errorf("Run = %v, expected an error that names %s", err, c.file)
			}
		})
	}
}

func copyRun(t *testing.T, from, to string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from))); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func changeJSON(t *testing.T, path string, change func(map[string]any)) {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(contents(t, path), &v); err != nil {
		t.Fatal(err)
	}
	change(v)
	if err := atomicfile.WriteJSON(path, v); err != nil {
		t.Fatal(err)
	}
}

// A run that is resumed in another environment keeps the record of the first and adds the
// other, with a warning.
func TestResumedRunsRecordTheirEnvironments(t *testing.T) {
	d, root := tiny(t), t.TempDir()
	trial := trialOn(d, model.SemanticHard, Dev)
	interrupted(t, root, d, trial, 2)
	dir := filepath.Join(root, trial.Name())
	changeJSON(t, filepath.Join(dir, TrialFile), func(r map[string]any) {
		r["blas"] = map[string]any{"name": "another"}
		r["versions"].(map[string]any)["go"] = "go1.0"
	})
	var first Environment
	if r, err := ReadRecord(dir); err != nil {
		t.Fatal(err)
	} else if first = r.Environment; first.BLAS == currentEnvironment().BLAS {
		t.Fatal("the BLAS was not changed")
	}
	var warnings []string
	warn := Options{OnWarning: func(_ Trial, w string) { warnings = append(warnings, w) }}
	for range 2 { // the second reuses the finished run
		if _, err := Run(context.Background(), root, trial, given(prepare(t, d, trial)), warn); err != nil {
			t.Fatal(err)
		}
	}
	r, err := ReadRecord(dir)
	if err != nil || r.BLAS != first.BLAS || len(r.Resumed) != 1 || r.Resumed[0].BLAS != currentEnvironment().BLAS {
		t.Errorf("record %+v, %v, expected the first environment and the current one", r, err)
	}
	want := fmt.Sprintf("(BLAS another, now %s; go go1.0, now %s)", blas.Current(), runtime.Version())
	if len(warnings) != 1 || !strings.Contains(warnings[0], want) {
		t.Errorf("warnings %q, expected one with %q", warnings, want)
	}
}

// If one class is predicted for all samples, accuracy is exactly chance, with a warning.
func TestChanceIsReported(t *testing.T) {
	d, root := tiny(t), t.TempDir()
	clear(d.Features.Data)
	trial := trialOn(d, model.SemanticHard, Dev)
	var warnings []string
	r, err := Run(context.Background(), root, trial, given(prepare(t, d, trial)), Options{OnWarning: func(_ Trial, w string) { warnings = append(warnings, w) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "chance") {
		t.Errorf("accuracy %g, warnings %q, expected one on chance", r.Evaluation.PerClass, warnings)
	}
}

// A batch larger than the data takes no more memory than the samples.
func TestBatchIsBoundedByTheSamples(t *testing.T) {
	d := tiny(t)
	trial := trialOn(d, model.SemanticHard, Dev)
	trial.Training.Batch = 1 << 40
	trained(t, d, trial, Epochs)
}

// nanClassifier scores everything NaN.
type nanClassifier struct{}

func (nanClassifier) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	return x.Gather(rows), nil
}

func (nanClassifier) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](a.Rows, u.Rows)
	for i := range scores.Data {
		scores.Data[i] /= scores.Data[i]
	}
	return scores, nil
}

func TestNaNScoresAreRefused(t *testing.T) {
	d := tiny(t)
	_, err := evaluate(nanClassifier{}, Select(d, d.Features, d.Split.Val), d.Describe(d.Split.Val))
	if err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("error %v, expected one on NaN", err)
	}
}

// Version 3 changed the validation samples of runs with held-out samples only.
func TestResultsVersion(t *testing.T) {
	for _, c := range []struct {
		version int
		holdOut bool
		want    bool
	}{{ResultsVersion, true, true}, {2, false, true}, {2, true, false}, {1, false, false}} {
		if got := (Trial{HoldOut: c.holdOut}).hasResultsOf(c.version); got != c.want {
			t.Errorf("version %d, hold-out %v: %v, expected %v", c.version, c.holdOut, got, c.want)
		}
	}
}
