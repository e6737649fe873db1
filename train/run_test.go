package train

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/train/metrics"
)

// files returns the modification times of the files in a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := make(map[string]string)
	for _, e := range testkit.Must(os.ReadDir(dir))(t) {
		m[e.Name()] = testkit.Must(e.Info())(t).ModTime().String()
	}
	return m
}

func TestFilesOfARun(t *testing.T) {
	d := tiny.Learnable()
	trial := trialOn(d, model.SemanticSoft, Dev)
	var calls Curve
	root := t.TempDir()
	result := testkit.Must(Run(context.Background(), root, trial, data(d, trial), Options{
		OnEpoch:  func(_ Trial, e Epoch) { calls = append(calls, e) },
		OnResume: func(Trial, int) { t.Error("OnResume was called for a new run") },
	}))(t)
	dir := filepath.Join(root, trial.Name())

	want := []string{CurveFile, LockFile, ModelFile, ResultFile, TrialFile}
	testkit.Equal(t, "files", slices.Sorted(maps.Keys(files(t, dir))), want)
	r := testkit.Must(ReadRecord(dir))(t)
	testkit.Equal(t, TrialFile, r.Trial, trial)
	testkit.Equal(t, "BLAS", r.BLAS, blas.Current())
	testkit.Equal(t, "version of Go", r.Versions["go"], runtime.Version())
	curve := testkit.Must(ReadCurve(filepath.Join(dir, CurveFile), Dev))(t)
	testkit.Equal(t, "calls of OnEpoch", calls, curve)
	stored := testkit.Must(trial.ReadResult(dir))(t)
	testkit.Equal(t, ResultFile, stored, result)
	checkResult(t, d, stored, curve)

	before := files(t, dir)
	again := testkit.Must(Run(context.Background(), root, trial, data(d, trial), Options{
		OnEpoch: func(Trial, Epoch) { t.Error("trained again") },
	}))(t)
	testkit.Equal(t, "result of the reused run", again, result)
	testkit.Equal(t, "files of the reused run", files(t, dir), before)
}

// checkResult compares the result of a dev run with its curve.
func checkResult(t *testing.T, d *dataset.Dataset, r *Result, curve Curve) {
	t.Helper()
	if r.Status != Epochs || r.Epochs != len(curve) || r.Error != "" || r.Seconds <= 0 {
		t.Errorf("result %+v of a run of %d epochs", r, len(curve))
	}
	best := curve[r.BestEpoch-1]
	if r.TrainAccuracy != best.TrainAccuracy || len(r.Evaluations) != 7 || r.Evaluations[0].PerClass != *best.ValAccuracy {
		t.Errorf("result %+v, expected the accuracies of epoch %d without correction: %+v", r, r.BestEpoch, best)
	}
	e := r.Evaluation(model.Correction{})
	samples := e.Confusion.Tally(len(r.Classes)).Samples
	for i, z := range d.Split.Val {
		if want := d.SamplesPerClass()[z]; r.Classes[i] != d.Classes[z] || samples[i] != want {
			t.Errorf("row %d: %d samples of %s, expected %d of %s", i, samples[i], r.Classes[i], want, d.Classes[z])
		}
	}
	if a := e.Confusion.Accuracy(); len(r.Classes) != len(d.Split.Val) || a != (metrics.Accuracy{PerClass: e.PerClass, PerSample: e.PerSample}) {
		t.Errorf("the confusion matrix gives %+v, the result is %+v", a, e)
	}
}

func TestLockedRunIsBusy(t *testing.T) {
	d, root := tiny.Small(), t.TempDir()
	trial := trialOn(d, model.SemanticHard, Dev)
	dir := filepath.Join(root, trial.Name())
	testkit.NoError(t, os.Mkdir(dir, 0o755))
	other := flock.New(filepath.Join(dir, LockFile))
	testkit.Equal(t, "held", testkit.Must(other.TryLock())(t), true)
	if r, err := Run(context.Background(), root, trial, data(d, trial), Options{}); !errors.Is(err, ErrBusy) {
		t.Errorf("Run = %v, %v, expected %v", r, err, ErrBusy)
	}
	testkit.NoError(t, other.Unlock())
	_, r := finished(t, root, d, trial)
	testkit.Equal(t, "status once the lock is free", r.Status, Epochs)
}

func TestInvalidTrialLeavesNoFolder(t *testing.T) {
	d, root := tiny.Small(), t.TempDir()
	trial := trialOn(d, model.SemanticHard, Dev)
	lagoOf(trial).Batch = -1
	_, err := Run(context.Background(), root, trial, data(d, trial), Options{})
	testkit.WantError(t, err, "lago: batch: expected a whole number from 0 to 1000000, found -1")
	if entries := testkit.Must(os.ReadDir(root))(t); len(entries) > 0 {
		t.Errorf("an invalid trial left %v", entries)
	}
}

// A run that cannot end otherwise is finished by its error, which a second run repeats.
func TestFailedRunsAreFinished(t *testing.T) {
	huge := tiny.Learnable()
	for i := range huge.Features.Data {
		huge.Features.Data[i] *= 1e38 // finite, but products with W are not
	}
	noGroups := tiny.Small()
	noGroups.Groups = nil
	for _, c := range []struct {
		d      *dataset.Dataset
		status Status
		want   string
	}{
		{huge, NotFinite, "semantic-hard, epoch 1: phase W, step 1: cxe is NaN"},
		{noGroups, Failed, "semantic-hard: groups: expected "},
	} {
		root := t.TempDir()
		trial := trialOn(c.d, model.SemanticHard, Dev)
		r, err := Run(context.Background(), root, trial, data(c.d, trial), Options{})
		testkit.WantError(t, err, c.want)
		if nf := (*model.NotFinite)(nil); errors.As(err, &nf) != (c.status == NotFinite) {
			t.Errorf("error %v of a run with the status %q", err, c.status)
		}
		testkit.Equal(t, "result", r, &Result{Status: c.status, Error: err.Error()}, butSeconds)
		dir := filepath.Join(root, trial.Name())
		if exists(filepath.Join(dir, ModelFile)) || exists(filepath.Join(dir, checkpointFile)) {
			t.Error("the run left a model or a checkpoint")
		}
		again, repeated := Run(context.Background(), root, trial, data(c.d, trial), Options{
			OnEpoch: func(Trial, Epoch) { t.Error("trained again") },
		})
		if repeated == nil || repeated.Error() != err.Error() || !cmp.Equal(r, again) {
			t.Errorf("Run again = %+v, %v, expected %+v, %v", again, repeated, r, err)
		}
	}
}

// A run that is resumed in another environment keeps the record of the first and adds the
// other, with a warning.
func TestResumedRunsRecordTheirEnvironments(t *testing.T) {
	d, root := tiny.Small(), t.TempDir()
	trial := trialOn(d, model.SemanticHard, Dev)
	interrupted(t, root, d, trial, 2)
	dir := filepath.Join(root, trial.Name())
	changeJSON(t, filepath.Join(dir, TrialFile), func(r map[string]any) {
		r["blas"] = map[string]any{"name": "another"}
		r["versions"].(map[string]any)["go"] = "go1.0"
	})
	first := testkit.Must(ReadRecord(dir))(t).Environment
	if first.BLAS == currentEnvironment().BLAS {
		t.Fatal("the BLAS was not changed")
	}
	var warnings []string
	for range 2 { // the second reuses the finished run
		testkit.Must(Run(context.Background(), root, trial, data(d, trial), Options{
			OnWarning: func(_ Trial, w string) { warnings = append(warnings, w) },
		}))(t)
	}
	r := testkit.Must(ReadRecord(dir))(t)
	if r.BLAS != first.BLAS || len(r.Resumed) != 1 || r.Resumed[0].BLAS != currentEnvironment().BLAS {
		t.Errorf("record %+v, expected the first environment and the current one", r)
	}
	if len(warnings) != 1 {
		t.Fatalf("warnings %q, expected one", warnings)
	}
	testkit.WantText(t, warnings[0], filepath.Join(dir, TrialFile))
}

func changeJSON(t *testing.T, path string, change func(map[string]any)) {
	t.Helper()
	var v map[string]any
	testkit.NoError(t, json.Unmarshal([]byte(testkit.Read(t, path)), &v))
	change(v)
	testkit.NoError(t, fileio.WriteJSON(path, v))
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
		}), TrialFile + ": results_version: expected 13, found 3. Another version of the program, whose results can differ, made this run. " +
			"Delete the folder, or choose another, to train again."},
		{"no trial", func(dir string) { testkit.NoError(t, os.Remove(filepath.Join(dir, TrialFile))) }, TrialFile + ": expected a file, since"},
		{
			"a damaged trial", func(dir string) { testkit.Write(t, dir, TrialFile, "{") },
			TrialFile + ": expected what a run writes, found damaged JSON. Delete the folder",
		},
		{
			"no checksum", func(dir string) { testkit.Write(t, dir, ResultFile, "{}") },
			ResultFile + ": sha256: expected the checksum of the content, found none",
		},
		{"a cut curve", func(dir string) {
			path := filepath.Join(dir, CurveFile)
			first, _, _ := strings.Cut(testkit.Read(t, path), "\n")
			testkit.Write(t, "", path, first+"\n")
		}, CurveFile + ": expected the curve whose checksum is in result.json, found another"},
		{"the result and the curve of another run", func(dir string) {
			for _, file := range []string{ResultFile, CurveFile} {
				testkit.Write(t, "", filepath.Join(dir, file), testkit.Read(t, filepath.Join(swapped, file)))
			}
		}, ResultFile + ": run: expected " + trial.Name() + ", found "},
		{"a flipped bit in a key", func(dir string) {
			path := filepath.Join(dir, ResultFile)
			testkit.Write(t, "", path, strings.Replace(testkit.Read(t, path), "best_epoch", "best_dpoch", 1))
		}, ResultFile + ": sha256: expected"},
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
	if r, err := trial.ReadResult(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadResult of an unfinished run = %v, %v, expected fs.ErrNotExist", r, err)
	}
}

func someCurve() Curve {
	third, half := 1.0/3, 0.5
	return Curve{
		{
			Epoch: 1, TrainAccuracy: math.Nextafter(0.1, 1), ValAccuracy: &third, ValAccuracyPerSample: &half,
			Phases: []method.Phase{
				{Name: "W", Steps: 3, Seconds: 0.25, Loss: math.Pi, Terms: model.Terms{CXE: 1, BXE: 2, W2: 3, WU2: 4, GroupPenalty: 5}},
				{Name: "V", Steps: 3, Seconds: 1e-9, Loss: math.SmallestNonzeroFloat64, Terms: model.Terms{CXE: math.MaxFloat64}},
			},
		},
		{Epoch: 2, Phases: []method.Phase{{Name: "W"}}}, // without val classes
	}
}

// Readers of curve.jsonl depend on its keys.
func TestCurveRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), CurveFile)
	testkit.NoError(t, someCurve().Write(path))
	testkit.Equal(t, "read", testkit.Must(ReadCurve(path, Test))(t), someCurve())
	lines := strings.Split(testkit.Read(t, path), "\n")
	want := `{"epoch":2,"phases":[{"name":"W","steps":0,"seconds":0,"loss":0,"terms":{"cxe":0,"bxe":0,"w2":0,"wu2":0,"group_penalty":0}}],` +
		`"train_accuracy":0,"val_accuracy":null,"val_accuracy_per_sample":null}`
	testkit.Equal(t, "lines after the first", lines[1:], []string{want, ""})
}

func TestMalformedCurves(t *testing.T) {
	path := filepath.Join(t.TempDir(), CurveFile)
	testkit.NoError(t, someCurve().Write(path))
	first, second, _ := strings.Cut(testkit.Read(t, path), "\n")
	first += "\n"
	for _, text := range []string{
		first + second[:9], "[]\n",
		first + strings.Replace(second, `"epoch":2`, `"epoch":3`, 1),
		first + strings.Replace(second, `"bxe":0`, `"bxe":null`, 1), // which is no 0
		strings.Replace(first, `"train_accuracy":0`, `"train_accuracy":"0"`, 1),
	} {
		testkit.Write(t, "", path, text)
		testkit.Fails(ReadCurve(path, Test))(t, path+": expected a JSON object per line for each epoch of a run of the test stage")
	}
	testkit.Write(t, "", path, first+second)
	testkit.Must(ReadCurve(path, Test))(t)
	testkit.Fails(ReadCurve(path, Dev))(t, path+": expected a JSON object per line for each epoch of a run of the dev stage")
}

// FuzzReadCurve checks that any file is either a curve that can be written again or gives
// an error that names the file.
func FuzzReadCurve(f *testing.F) {
	path := filepath.Join(f.TempDir(), CurveFile)
	testkit.NoError(f, someCurve().Write(path))
	f.Add([]byte(testkit.Read(f, path)))
	f.Add([]byte(`{"epoch":1}` + "\r\n" + `{"epoch":2`))
	f.Fuzz(func(t *testing.T, data []byte) {
		testkit.Write(t, "", path, string(data))
		curve, err := ReadCurve(path, Test)
		if err != nil {
			testkit.WantError(t, err, path)
			return
		}
		testkit.NoError(t, curve.Write(path))
		testkit.Equal(t, "written and read again", testkit.Must(ReadCurve(path, Test))(t), curve)
	})
}
