package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// made returns a trial on the invented data set "birds", changed by change if it is not
// nil.
func made(v model.Variant, stage train.Stage, seed uint64, change func(*train.Trial)) train.Trial {
	t := train.Trial{
		Dataset: "birds", Fingerprint: "0123456789abcdef", Stage: stage,
		Model:      model.Config{Variant: v, Prior: model.Uniform, Complement: model.Const, Zeta: 10, Beta: 1e-6},
		Preprocess: preprocess.None,
		Training:   train.Training{Epochs: 4, LearningRate: 1e-3, BiasFactor: 1, LearningRateV: 0.1, Batch: 64, Patience: 50, Seed: seed},
	}
	if v == model.KSoft {
		t.Model.K = 2
	}
	if change != nil {
		change(&t)
	}
	return t
}

// write writes the folder of a finished run and returns it. accuracy has one value per
// epoch in the dev stage, and the test accuracy in the test stage.
func write(t *testing.T, root string, trial train.Trial, accuracy ...float64) string {
	t.Helper()
	dir := filepath.Join(root, trial.Name())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := train.Result{
		Status: train.Epochs, Epochs: trial.Training.Epochs, BestEpoch: trial.Training.Epochs,
		Evaluation: &train.Evaluation{
			PerClass: slices.Max(accuracy), PerSample: slices.Max(accuracy),
			Classes: []string{"owl", "wren"}, Confusion: [][]int{{3, 1}, {2, 4}},
		},
	}
	var curve train.Curve
	if trial.Stage == train.Dev {
		r.Epochs, r.BestEpoch = len(accuracy), 1+slices.Index(accuracy, slices.Max(accuracy))
		r.Evaluation.Classes = []string{"crow", "gull"}
		for e := range accuracy {
			curve = append(curve, train.Epoch{Epoch: e + 1, TrainAccuracy: 0.9, ValAccuracy: &accuracy[e], ValAccuracyPerSample: &accuracy[e]})
		}
	} else {
		for e := range trial.Training.Epochs {
			curve = append(curve, train.Epoch{Epoch: e + 1, TrainAccuracy: 0.9})
		}
	}
	if err := curve.Write(filepath.Join(dir, train.CurveFile)); err != nil {
		t.Fatal(err)
	}
	writeJSON(t, filepath.Join(dir, train.TrialFile), trial)
	writeJSON(t, filepath.Join(dir, train.ResultFile), r)
	if err := train.Save(filepath.Join(dir, train.ModelFile), soft(trial.Model)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// soft is a model of three attributes and two groups: the second attribute belongs to
// group 0, the others to group 1, the third more than the first.
func soft(c model.Config) *train.Saved {
	return &train.Saved{
		Classifier: &model.LAGO{
			Config: c,
			Params: &model.Parameters[float32]{
				W: dataset.NewMatrix[float32](1, 3), B: make([]float32, 3),
				V: dataset.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{0, 0.1, 0.2, 0, 0, 0.4}},
			},
			Semantic:  []int{1, 0, 1},
			Transform: &preprocess.Transform{Chain: preprocess.None},
		},
		Transform: &preprocess.Transform{Chain: preprocess.None}, Dims: 1, Semantic: []int{1, 0, 1},
		Classes: []string{"wren"}, Descriptions: dataset.NewMatrix[float64](1, 3), Learned: []int{0},
		Dataset: "birds", Attributes: []string{"wing::red", "bill::long", "wing::white"}, Groups: []string{"bill", "wing"},
	}
}

func writeJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(data))
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeAll writes a folder with something for every section: two seeds of every variant,
// an ablation of semantic-hard, k-soft with two K, noise, and partial descriptions.
func writeAll(t *testing.T, root string) {
	t.Helper()
	for seed := range uint64(2) {
		more := 0.02 * float64(seed)
		for i, v := range model.Variants {
			base := 0.5 + 0.05*float64(i)
			write(t, root, made(v, train.Dev, seed, nil), 0.2, base+more, base-0.1)
			write(t, root, made(v, train.Test, seed, func(t *train.Trial) { t.Training.Epochs, t.Training.Patience = 2, 2 }), base-0.05+more)
		}
		write(t, root, made(model.KSoft, train.Dev, seed, func(t *train.Trial) { t.Model.K = 3 }), 0.2, 0.4+more)
		for i, change := range []func(*train.Trial){
			func(t *train.Trial) { t.Model.Alpha = 1 },
			func(t *train.Trial) { t.Model.Complement = model.DeMorgan },
			func(t *train.Trial) { t.Model.Complement, t.Model.Alpha = model.DeMorgan, 1 },
			func(t *train.Trial) { t.Model.Prior = model.PerAttribute },
			func(t *train.Trial) { t.Model.Prior, t.Model.Alpha = model.PerAttribute, 1 },
			func(t *train.Trial) { t.Model.Prior, t.Model.Complement = model.PerAttribute, model.DeMorgan },
			func(t *train.Trial) {
				t.Model.Prior, t.Model.Complement, t.Model.Alpha = model.PerAttribute, model.DeMorgan, 1
			},
		} {
			write(t, root, made(model.SemanticHard, train.Dev, seed, change), 0.1, 0.5-0.03*float64(i)+more)
		}
	}
	store(t, root, "noise", `{"dataset": "birds", "ratios": [0, 0.25], "noise_seeds": 2, "methods": [
		{"method": "semantic-hard", "start_accuracy": {"mean": 0.5, "sem": 0.01, "values": [0.49, 0.51]},
		 "accuracy": [{"mean": 0.5, "sem": 0, "values": [0.5, 0.5]}, {"mean": 0.3, "sem": 0.02, "values": [0.28, 0.32]}],
		 "relative_accuracy": [{"mean": 1, "sem": 0, "values": [1, 1]}, {"mean": 0.6, "sem": 0.04, "values": [0.56, 0.64]}]},
		{"method": "eszsl", "start_accuracy": {"mean": 0.4, "sem": 0, "values": [0.4]},
		 "accuracy": [{"mean": 0.4, "sem": 0, "values": [0.4, 0.4]}, {"mean": 0.2, "sem": 0.01, "values": [0.19, 0.21]}],
		 "relative_accuracy": [{"mean": 1, "sem": 0, "values": [1, 1]}, {"mean": 0.5, "sem": 0.025, "values": [0.475, 0.525]}]}
	]}`)
	store(t, root, "partial", partially)
	for _, kind := range []string{"compare", "rotation"} {
		store(t, root, kind, compared)
	}
}

// partially is a result of partial.
const partially = `{"dataset": "birds", "shares": [1, 0.1], "given": "random", "mask_seeds": 2, "methods": [
	{"method": "eszsl", "start_accuracy": {"mean": 0.4, "sem": 0, "values": [0.4]},
	 "accuracy": [{"mean": 0.4, "sem": 0, "values": [0.4, 0.4]}, {"mean": 0.2, "sem": 0.01, "values": [0.19, 0.21]}],
	 "relative_accuracy": [{"mean": 1, "sem": 0, "values": [1, 1]}, {"mean": 0.5, "sem": 0.025, "values": [0.475, 0.525]}]},
	{"method": "eszsl, inferred", "start_accuracy": {"mean": 0.4, "sem": 0, "values": [0.4]},
	 "accuracy": [{"mean": 0.4, "sem": 0, "values": [0.4, 0.4]}, {"mean": 0.3, "sem": 0.02, "values": [0.28, 0.32]}],
	 "relative_accuracy": [{"mean": 1, "sem": 0, "values": [1, 1]}, {"mean": 0.75, "sem": 0.05, "values": [0.7, 0.8]}]}
]}`

// compared is a result of compare.
const compared = `{"dataset": "birds", "differences": [
	{"reference": "lago", "method": "eszsl", "mean": -0.05, "interval": {"low": -0.09, "high": 0.01}, "p": 0.03, "p_holm": 0.03}], "methods": [
	{"name": "lago", "variant": "k-soft", "seconds": 2.5, "parts": [{}],
	 "val": {"per_class_accuracy": {"mean": 0.6, "sem": 0.01, "values": [0.59, 0.61]}, "interval": {"low": 0.55, "high": 0.66}},
	 "test": {"per_class_accuracy": {"mean": 0.5, "sem": 0.02, "values": [0.48, 0.52]}, "interval": {"low": 0.44, "high": 0.57}}},
	{"name": "eszsl", "title": "ESZSL", "seconds": 0.1, "published_percent": "53.9", "parts": [{}],
	 "val": {"per_class_accuracy": {"mean": 0.65, "sem": 0, "values": [0.65]}, "interval": null},
	 "test": {"per_class_accuracy": {"mean": 0.55, "sem": 0, "values": [0.55]}, "interval": null}}
]}`

// read reads a folder that must have something to show.
func read(t *testing.T, root string) *Page {
	t.Helper()
	p, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// only returns the one data set of a folder.
func only(t *testing.T, root string) (*folder, *datasetRuns) {
	t.Helper()
	f := read(t, root).folder
	if len(f.datasets) != 1 {
		t.Fatalf("expected one data set, found %d, without %v", len(f.datasets), f.missing)
	}
	return f, f.datasets[0]
}

// store writes a result of birds as a command stores it.
func store(t *testing.T, root, kind, result string) {
	t.Helper()
	writeFile(t, filepath.Join(root, kind+"-birds-00000000.json"), storedForm(result))
}

func storedForm(result string) string {
	return `{"fingerprint": "0123456789abcdef", "config": {}, "result": ` + result + `}`
}
