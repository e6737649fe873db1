package train

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
)

func changeJSON(t *testing.T, path string, change func(map[string]any)) {
	t.Helper()
	var v map[string]any
	testkit.NoError(t, json.Unmarshal([]byte(testkit.Read(t, path)), &v))
	change(v)
	testkit.NoError(t, atomicfile.WriteJSON(path, v))
}

// A finished run is reused only if its files are those of the trial, agree with each
// other and were made by this version of the program.
func TestFinishedRunsAreCheckedBeforeReuse(t *testing.T) {
	d, root := tiny.Small(), t.TempDir()
	trial := trialOn(d, model.SemanticHard, Dev)
	sound, _ := finished(t, root, d, trial)
	swapped, _ := finished(t, root, d, trialOn(d, model.Singletons, Dev))

	change := func(file string, change func(map[string]any)) func(string) {
		return func(dir string) { changeJSON(t, filepath.Join(dir, file), change) }
	}
	set := func(key string, value any) func(map[string]any) { return func(m map[string]any) { m[key] = value } }
	text := func(file, text string) func(string) {
		return func(dir string) { writeFile(t, filepath.Join(dir, file), text) }
	}
	evaluation := func(key string, value any) func(map[string]any) {
		return func(m map[string]any) { m["evaluation"].(map[string]any)[key] = value }
	}
	for _, c := range []struct {
		name   string
		damage func(dir string)
		want   string // of the error, after the folder
	}{
		{
			"the files of another run", func(dir string) {
				testkit.NoError(t, errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(swapped))))
			},
			TrialFile + ": expected the settings of ",
		},
		{"an older version", change(TrialFile, func(m map[string]any) {
			m["results_version"], m["model"] = 3, m["method"]
			delete(m, "method")
		}), TrialFile + ": results_version: expected 4, found 3. Another version of the program, whose results can differ, made this run. " +
			"Delete the folder, or choose another, to train again."},
		{"no version", change(TrialFile, func(m map[string]any) { delete(m, "results_version") }), TrialFile + ": results_version: expected 4, found 0"},
		{"an unknown method", change(TrialFile, set("method", map[string]any{"name": "svm"})), TrialFile + `: method: expected one of lago, `},
		{"no method", change(TrialFile, func(m map[string]any) { delete(m, "method") }), TrialFile + `: method: expected one of lago, `},
		{"no trial", func(dir string) { testkit.NoError(t, os.Remove(filepath.Join(dir, TrialFile))) }, TrialFile + ": expected a file, since"},
		{"a damaged trial", text(TrialFile, "{"), TrialFile + ": expected the settings of a run, found damaged JSON. Delete the folder"},
		{"a cut curve", func(dir string) {
			path := filepath.Join(dir, CurveFile)
			first, _, _ := strings.Cut(testkit.Read(t, path), "\n")
			writeFile(t, path, first+"\n")
		}, CurveFile + ": expected the 6 epochs of result.json, found 1"},
		{"no curve", func(dir string) { testkit.NoError(t, os.Remove(filepath.Join(dir, CurveFile))) }, CurveFile + ": expected a file, since"},
		{"an empty result", text(ResultFile, "{}"), ResultFile + ": status: expected"},
		{"null", text(ResultFile, "null"), ResultFile + ": status: expected"},
		{"no JSON", text(ResultFile, `{"epochs":"six"}`), ResultFile + ": expected the result of a run, found damaged JSON"},
		{"no epochs", change(ResultFile, set("epochs", 0)), ResultFile + ": epochs: expected at least 1, found 0"},
		{"a best epoch past the last", change(ResultFile, set("best_epoch", 7)), ResultFile + ": best_epoch: expected 1 to 6, found 7"},
		{"no evaluation", change(ResultFile, set("evaluation", nil)), ResultFile + ": evaluation: expected"},
		{"an accuracy in percent", change(ResultFile, evaluation("per_class_accuracy", 62.5)), ResultFile + ": accuracy: expected a fraction"},
		{"a confusion matrix that is not square", change(ResultFile, evaluation("confusion", [][]int{{1}})), ResultFile + ": evaluation.confusion: expected 4 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, trial.Name())
			testkit.NoError(t, os.CopyFS(dir, os.DirFS(sound)))
			c.damage(dir)
			_, err := Run(context.Background(), root, trial, data(d, trial), Options{
				OnEpoch: func(Trial, Epoch) { t.Error("trained") },
			})
			testkit.WantError(t, err, filepath.Join(dir, c.want))
			if e := (*invalid.Error)(nil); !errors.As(err, &e) {
				t.Errorf("%v is no *invalid.Error", err)
			}
		})
	}
	if r, err := ReadResult(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadResult of an unfinished run = %v, %v, expected fs.ErrNotExist", r, err)
	}
}

func someCurve() Curve {
	third, half := 1.0/3, 0.5
	return Curve{
		{
			Epoch: 1, TrainAccuracy: math.Nextafter(0.1, 1), ValAccuracy: &third, ValAccuracyPerSample: &half,
			Phases: []method.Phase{
				{Name: "W", Steps: 3, Seconds: 0.25, Loss: math.Pi, Terms: model.Terms{CXE: 1, BXE: 2, W2: 3, WU2: 4, Prior: 5}},
				{Name: "V", Steps: 3, Seconds: 1e-9, Loss: math.SmallestNonzeroFloat64, Terms: model.Terms{CXE: math.MaxFloat64}},
			},
		},
		{Epoch: 2, Phases: []method.Phase{{Name: "W"}}}, // without val classes
	}
}

// Readers of curve.jsonl depend on its keys.
func TestCurveRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), CurveFile)
	for _, want := range []Curve{nil, someCurve()[:1], someCurve()} {
		testkit.NoError(t, want.Write(path))
		if diff := cmp.Diff(want, testkit.Must(ReadCurve(path, Test))(t)); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
	}
	lines := strings.Split(testkit.Read(t, path), "\n")
	want := `{"epoch":2,"phases":[{"name":"W","steps":0,"seconds":0,"loss":0,"terms":{"cxe":0,"bxe":0,"w2":0,"wu2":0,"prior":0}}],` +
		`"train_accuracy":0,"val_accuracy":null,"val_accuracy_per_sample":null}`
	if len(lines) != 3 || lines[1] != want {
		t.Errorf("found %q, expected two lines, the second %s", lines, want)
	}
}

func TestMalformedCurves(t *testing.T) {
	const first = `{"epoch":1,"phases":[],"train_accuracy":0.5}` + "\n"
	path := filepath.Join(t.TempDir(), CurveFile)
	for text, want := range map[string]string{
		first + `{"epoch":2,"pha`:                      "line 2: expected the JSON object of an epoch",
		first + "\n":                                   "line 2",
		"[]\n":                                         "line 1",
		`{"epoch":1,"train_accuracy":"half"}`:          "line 1",
		`{"epoch":1} {"epoch":2}`:                      "line 1",
		first + "{}\n":                                 "line 2: expected epoch 2, found epoch 0",
		first + `{"epoch":3}`:                          "line 2: expected epoch 2, found epoch 3",
		first + first:                                  "line 2: expected epoch 2, found epoch 1",
		first + strings.Repeat(" ", 1<<20):             "line 2: expected at most 1 MB",
		`{"epoch":1,"train_accuracy":50}`:              "line 1: expected accuracies from 0 to 1, found 50",
		`{"epoch":1,"val_accuracy":-0.1}`:              "line 1: expected accuracies from 0 to 1",
		first[:len(first)-2] + `,"val_accuracy":null}`: "", // of the test stage
	} {
		writeFile(t, path, text)
		_, err := ReadCurve(path, Test)
		if want == "" {
			testkit.NoError(t, err)
			_, err = ReadCurve(path, Dev)
			want = "line 1: expected val_accuracy and val_accuracy_per_sample, found null"
		}
		testkit.WantError(t, err, path+": "+want)
	}
}

// FuzzReadCurve checks that any file is either a curve that can be written again or gives
// an error that names the file.
func FuzzReadCurve(f *testing.F) {
	path := filepath.Join(f.TempDir(), CurveFile)
	testkit.NoError(f, someCurve().Write(path))
	f.Add([]byte(testkit.Read(f, path)))
	f.Add([]byte(`{"epoch":1}` + "\r\n" + `{"epoch":2`))
	f.Fuzz(func(t *testing.T, data []byte) {
		writeFile(t, path, string(data))
		curve, err := ReadCurve(path, Test)
		if err != nil {
			testkit.WantError(t, err, path)
			return
		}
		testkit.NoError(t, curve.Write(path))
		if diff := cmp.Diff(curve, testkit.Must(ReadCurve(path, Test))(t)); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
	})
}
