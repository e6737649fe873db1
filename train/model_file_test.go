package train

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/metrics"
)

// savedModel trains an epoch and returns the path of the model.
func savedModel(t testing.TB, d *dataset.Dataset, v model.Variant, chain preprocess.Chain) string {
	t.Helper()
	trial := trialOn(d, v, Dev)
	trial.Preprocess, trial.Ridge, trial.Training.Epochs = chain, 10, 1
	dir, _ := finished(t, t.TempDir(), d, trial)
	return filepath.Join(dir, ModelFile)
}

// score scores the samples of some classes among those classes.
func score(t testing.TB, s *Saved, d *dataset.Dataset, classes []int) dataset.Matrix[float32] {
	t.Helper()
	scores, err := model.Score(s.Classifier, d.Features, d.SamplesOf(classes), d.Describe(classes))
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

func TestModelRoundTrip(t *testing.T) {
	d := tiny(t)
	d.Provenance = &dataset.Provenance{Architecture: "resnet50", WeightsSHA256: "ab", StrideIn1x1: true, Images: dataset.ImagePreprocessing{Fit: dataset.Squash, Size: 64}}
	for _, v := range model.Variants {
		for _, chain := range []preprocess.Chain{preprocess.None, "sqrt,l2,whiten", "standardize,l2"} {
			t.Run(fmt.Sprintf("%s/%s", v, chain), func(t *testing.T) {
				trial := trialOn(d, v, Dev)
				trial.Preprocess, trial.Ridge, trial.Training.Epochs = chain, 10, 1
				data := prepare(t, d, trial)
				tr, err := newLAGOTrainer(trial.Model, trial.Training, data.task(Dev))
				if err != nil {
					t.Fatal(err)
				}
				if err := tr.step(tr); err != nil {
					t.Fatal(err)
				}
				tr.preprocessing = data.Transform
				want, err := (&run{trial: trial, data: data, trainer: tr}).model()
				if err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(t.TempDir(), ModelFile)
				if err := Save(path, want); err != nil {
					t.Fatal(err)
				}
				got, err := Load(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-saved +loaded):\n%s", diff)
				}
				if got.Transform.Chain != chain || got.Dataset != d.Name || got.Provenance == nil || *got.Provenance != *d.Provenance || len(got.Attributes) != len(d.Attributes) {
					t.Errorf("loaded a model of %s with %d attributes, preprocessed by %s", got.Dataset, len(got.Attributes), got.Transform.Chain)
				}
				if !cmp.Equal(score(t, want, d, d.Split.Test), score(t, got, d, d.Split.Test)) {
					t.Error("the loaded model has other scores")
				}
			})
		}
	}
}

func TestModelWithAdaptation(t *testing.T) {
	d := tiny(t)
	path := savedModel(t, d, model.SemanticHard, "sqrt,l2,whiten")
	before, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	a := &Adaptation{Settings: adapt.Settings{Temperature: 0.7, Tau: 60}, Before: 0.5, After: 0.6, Smallest: 200, Samples: 9, Classes: 3, Preprocess: "standardize,whiten"}
	if a.Transform, err = preprocess.Fit(a.Preprocess, 0, d.Features, d.Features.AllRows()); err != nil {
		t.Fatal(err)
	}
	saved := *before
	saved.Adaptation = a
	reload := func() (*Saved, error) {
		if err := Save(path, &saved); err != nil {
			t.Fatal(err)
		}
		return Load(path)
	}
	after, err := reload()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, after.Adaptation); diff != "" {
		t.Error(diff)
	}
	if after.AdaptedFeatures() != after.Adaptation.Transform || before.AdaptedFeatures() != before.Transform {
		t.Error("the features are preprocessed by another chain")
	}
	after.Adaptation = nil
	if diff := cmp.Diff(before, after); diff != "" { // bit-identical predictions without it
		t.Error(diff)
	}
	a.Tau = -1
	if _, err := reload(); err == nil || !strings.Contains(err.Error(), "adaptation: tau: expected") {
		t.Errorf("found %v", err)
	}
}

func TestModelWithoutGroups(t *testing.T) {
	d := tiny(t)
	d.Groups = nil
	s, err := Load(savedModel(t, d, model.KSoft, preprocess.None))
	if err != nil {
		t.Fatal(err)
	}
	if s.Groups != nil || s.Semantic != nil {
		t.Errorf("groups %q and %v, expected none", s.Groups, s.Semantic)
	}
}

// The model file has the weights of the best epoch and takes features as in the data set,
// so that it reproduces the result of its run.
func TestSavedModelReproducesTheEvaluation(t *testing.T) {
	d := tiny(t)
	for _, chain := range []preprocess.Chain{preprocess.None, "sqrt,l2,whiten", "standardize,l2"} {
		for _, stage := range []Stage{Dev, Test} {
			t.Run(fmt.Sprintf("%s/%s", chain, stage), func(t *testing.T) {
				trial := trialOn(d, model.SemanticSoft, stage)
				trial.Preprocess, trial.Ridge = chain, 10
				// The rate overshoots, so that the best epoch of dev is not the last.
				trial.Training.LearningRate, trial.Training.Patience = 0.1, 2
				dir, result := finished(t, t.TempDir(), d, trial)
				if stage == Dev && result.BestEpoch == result.Epochs {
					t.Fatal("the best epoch is the last")
				}
				s, err := Load(filepath.Join(dir, ModelFile))
				if err != nil {
					t.Fatal(err)
				}
				classes := prepare(t, d, trial).EvaluationClasses
				compareScores(t, score(t, s, d, classes), Select(d, d.Features, classes).Labels, result.Evaluation)
			})
		}
	}
}

// confusionOf returns the confusion matrix of scores, samples x classes.
func confusionOf(t *testing.T, scores dataset.Matrix[float32], labels []int) metrics.Confusion {
	t.Helper()
	c := metrics.NewConfusion(scores.Cols)
	if err := c.Add(scores.Data, labels); err != nil {
		t.Fatal(err)
	}
	return c
}

// compareScores compares log p(z|x) of samples with the evaluation of their run.
func compareScores(t *testing.T, scores dataset.Matrix[float32], labels []int, want *Evaluation) {
	t.Helper()
	c := confusionOf(t, scores, labels)
	if diff := cmp.Diff(want.Confusion, [][]int(c)); diff != "" {
		t.Errorf("(-run +loaded):\n%s", diff)
	}
	if a := c.Accuracy(); a.PerClass != want.PerClass || a.PerClass < 0.3 {
		t.Errorf("per-class accuracy %g, expected %g; chance is 0.1", a.PerClass, want.PerClass)
	}
	for i := range scores.Rows {
		var sum float64
		for _, l := range scores.Row(i) {
			sum += math.Exp(float64(l))
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("the probabilities of sample %d sum to %g", i, sum)
		}
	}
}

// changeHeader rewrites the header of a model file.
func changeHeader(f func(h map[string]any)) func(*safetensors.File) {
	return func(file *safetensors.File) {
		var h map[string]any
		if err := json.Unmarshal([]byte(file.Metadata["lago"]), &h); err != nil {
			panic(err)
		}
		f(h)
		text, err := json.Marshal(h)
		if err != nil {
			panic(err)
		}
		file.Metadata["lago"] = string(text)
	}
}

// set changes one entry of the header.
func set(key string, value any) func(*safetensors.File) {
	return changeHeader(func(h map[string]any) { h[key] = value })
}

// reshape gives a tensor another shape and numbers to fill it.
func reshape(name string, shape ...int) func(*safetensors.File) {
	return func(f *safetensors.File) {
		i := slices.IndexFunc(f.Tensors, func(t safetensors.Tensor) bool { return t.Name == name })
		size := 1
		for _, n := range shape {
			size *= n
		}
		f.Tensors[i].Shape, f.Tensors[i].F32 = shape, make([]float32, size)
	}
}

func TestMalformedModels(t *testing.T) {
	config := func(key string, value any) func(*safetensors.File) {
		return changeHeader(func(h map[string]any) { h["config"].(map[string]any)[key] = value })
	}
	groups := make([]int, 20)
	groups[7] = 5
	hard, soft := model.SemanticHard, model.KSoft
	sound := make(map[string][]byte) // models by variant and preprocessing
	for _, c := range []struct {
		name    string
		variant model.Variant
		chain   preprocess.Chain
		change  func(*safetensors.File)
		field   string // that the error names
	}{
		{"no header", hard, preprocess.None, func(f *safetensors.File) { f.Metadata = nil }, "metadata"},
		{"a header of another kind", hard, preprocess.None, func(f *safetensors.File) { f.Metadata["lago"] = "[]" }, "metadata"},
		{"another format", hard, preprocess.None, set("format", "lago-train model 9"), "format"},
		{"an unknown variant", hard, preprocess.None, config("variant", "hard"), "metadata"},
		{"no zeta", hard, preprocess.None, config("zeta", 0), "zeta"},
		{"an unknown preprocessing", hard, preprocess.None, set("preprocess", "pca"), "metadata"},
		{"no attributes", hard, preprocess.None, set("attributes", []string{}), "attributes"},

		{"no W", hard, preprocess.None, without("W"), "tensor W"},
		{"W of float64", hard, preprocess.None, func(f *safetensors.File) {
			i := slices.IndexFunc(f.Tensors, func(t safetensors.Tensor) bool { return t.Name == "W" })
			f.Tensors[i].F32, f.Tensors[i].F64 = nil, make([]float64, 1280)
		}, "tensor W"},
		{"W of one axis", hard, preprocess.None, reshape("W", 1280), "tensor W"},
		{"W of no features", hard, preprocess.None, reshape("W", 0, 20), "tensor W"},
		{"W of other attributes", hard, preprocess.None, set("attributes", []string{"a", "b"}), "tensor descriptions"},
		{"W of other features", hard, preprocess.None, set("dims", 63), "tensor W"},
		{"no dims", hard, preprocess.None, set("dims", 0), "dims"},
		{"no classes", hard, preprocess.None, set("classes", nil), "classes"},
		{"classes without descriptions", hard, preprocess.None, changeHeader(func(h map[string]any) { h["classes"] = append(h["classes"].([]any), "a") }), "tensor descriptions"},
		{"an unknown class in the split", hard, preprocess.None, set("split", map[string][]int{"Test": {60}}), "split: test"},
		{"no train classes", hard, preprocess.None, set("learned", nil), "learned"},
		{"unknown train classes", hard, preprocess.None, set("learned", []int{-1}), "split: learned"},
		{"a weight that is not finite", hard, preprocess.None, func(f *safetensors.File) {
			w, _ := f.Tensor("W")
			w.F32[7] = float32(math.NaN())
		}, "tensor W"},
		{"a group assignment that is not finite", soft, preprocess.None, func(f *safetensors.File) {
			v, _ := f.Tensor("V")
			v.F32[3] = float32(math.Inf(-1))
		}, "tensor V"},
		{"no descriptions", hard, preprocess.None, without("descriptions"), "tensor descriptions"},
		{"a baseline and LAGO", hard, preprocess.None, set("baseline", map[string]any{"method": "eszsl", "settings": map[string]any{}}), "config"},
		{"an unknown baseline", hard, preprocess.None, set("baseline", map[string]any{"method": "svm"}), "metadata"},
		{"neither LAGO nor a baseline", hard, preprocess.None, set("config", nil), "method"},
		{"no b", hard, preprocess.None, without("b"), "tensor b"},
		{"b of other attributes", hard, preprocess.None, reshape("b", 19), "tensor b"},
		{"no V", hard, preprocess.None, without("V"), "tensor V"},
		{"V of other attributes", hard, preprocess.None, reshape("V", 21, 5), "tensor V"},
		{"V of too few groups", hard, preprocess.None, reshape("V", 20, 4), "tensor V"},
		{"V of too many groups", soft, preprocess.None, reshape("V", 20, 7), "tensor V"},
		{"V of other singletons", model.Singletons, preprocess.None, reshape("V", 20, 5), "tensor V"},
		{"no groups", hard, preprocess.None, set("semantic", nil), "semantic"},
		{"groups of some attributes", soft, preprocess.None, set("semantic", groups[:19]), "semantic"},
		{"an unknown group", soft, preprocess.None, set("semantic", groups), "semantic"},
		{"a negative group", hard, preprocess.None, set("semantic", slices.Repeat([]int{-1}, 20)), "semantic"},

		{"no shift", soft, preprocess.Standardize, without("preprocess.shift"), "tensor preprocess.shift"},
		{"no scale", soft, preprocess.Standardize, without("preprocess.scale"), "tensor preprocess.scale"},
		{"a scale of other features", soft, preprocess.Standardize, reshape("preprocess.scale", 63), "tensor preprocess.scale"},
		{"no matrix", soft, preprocess.Whiten, without("preprocess.matrix"), "tensor preprocess.matrix"},
		{"a matrix that is not square", soft, preprocess.Whiten, reshape("preprocess.matrix", 64, 63), "tensor preprocess.matrix"},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := fmt.Sprint(c.variant, c.chain)
			if sound[key] == nil {
				sound[key] = contents(t, savedModel(t, tiny(t), c.variant, c.chain))
			}
			path := filepath.Join(t.TempDir(), ModelFile)
			writeFile(t, path, sound[key])
			if _, err := Load(path); err != nil {
				t.Fatal(err)
			}
			change(t, path, c.change)
			s, err := Load(path)
			if want := path + ": " + c.field + ": expected "; s != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("Load = %v, %v, expected the error %s...", s, err, want)
			}
		})
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), ModelFile)
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, expected one that names %s", err, path)
	}
	writeFile(t, path, []byte("not a model of any chain"))
	if _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("error %v, expected one that names %s", err, path)
	}
}

// A model that cannot be written leaves the existing file unchanged.
func TestSaveIsAtomic(t *testing.T) {
	path := filepath.Join(t.TempDir(), ModelFile)
	before := smallModel(t, path, model.SemanticHard, preprocess.None)
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	params := s.Classifier.(*model.LAGO).Params
	params.B = params.B[:2]
	params.W.Rows++ // without numbers for it
	if err := Save(path, s); err == nil || !strings.Contains(err.Error(), `tensor "W"`) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, expected one that names %s and W", err, path)
	}
	if !cmp.Equal(before, contents(t, path)) {
		t.Error("the existing file has changed")
	}
}

// A changed byte anywhere in a model file is refused.
func TestLoadVerifiesTheChecksum(t *testing.T) {
	path := filepath.Join(t.TempDir(), ModelFile)
	sound := smallModel(t, path, model.SemanticHard, preprocess.None)
	for _, at := range []int{20, len(sound) / 2, len(sound) - 1} {
		damaged := slices.Clone(sound)
		damaged[at] ^= 1
		writeFile(t, path, damaged)
		if _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("byte %d changed: error %v, expected one", at, err)
		}
	}
}
