package train

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/lago"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// butImputer ignores the imputer, which follows from the descriptions.
var butImputer = cmpopts.IgnoreTypes(new(impute.Imputer))

// short is a trial of an epoch or two with a preprocessing.
func short(d *dataset.Dataset, v model.Variant, chain preprocess.Chain) Trial {
	trial := trialOn(d, v, Dev)
	trial.Preprocess, trial.Ridge, trial.Epochs = chain, 10, 1
	return trial
}

// reproduces reports an evaluation of the loaded model that is not that of its run.
func reproduces(t *testing.T, s *Saved, d *dataset.Dataset, stage Stage, want *Evaluation) {
	t.Helper()
	classes := d.Split.Val
	if stage == Test {
		classes = d.Split.Test
	}
	scores := testkit.Must(model.Score(s, d.Features, d.SamplesOf(classes), d.Describe(classes)))(t)
	confusion := testkit.Must(metrics.Confuse(scores, Select(d, classes).Labels))(t)
	testkit.Equal(t, "confusion of the loaded model", confusion, want.Confusion)
}

// The model file has the weights of the best epoch and takes features and descriptions as in
// the data set, so that it reproduces the result of its run.
func TestLoadedModelsReproduceTheirEvaluation(t *testing.T) {
	full := tiny.Learnable()
	for name, d := range map[string]*dataset.Dataset{"full": full, "partly described": withMissing(full, 0.2)} {
		for _, label := range methods.Labels() {
			for stage, chain := range map[Stage]preprocess.Chain{Dev: "sqrt,l2,whiten", Test: preprocess.Standardise} {
				t.Run(fmt.Sprintf("%s/%s/%s", name, label, stage), func(t *testing.T) {
					trial := methodTrial(d, testkit.Must(methods.Labelled(label))(t), stage)
					trial.Preprocess, trial.Ridge, trial.Epochs = chain, 10, 3
					s, _, result := loaded(t, d, trial)
					reproduces(t, s, d, stage, result.Evaluation(model.Correction{}))
					if s.Method.Label() != label || !slices.Equal(s.Classes, d.Classes) || s.Dataset != d.Name {
						t.Errorf("loaded %s, trained on %s with the classes %v", s.Method.Label(), s.Dataset, s.Classes)
					}
					testkit.NoError(t, s.Fits(d))
					_, err := s.Explainer(d.Describe(d.Split.Test))
					if _, isLAGO := s.Classifier.(lago.Model); isLAGO != (err == nil) {
						t.Errorf("an explanation gives the error %v", err)
					} else if isLAGO != (s.Reference.Deciles.Rows == 9) {
						t.Errorf("%d deciles", s.Reference.Deciles.Rows)
					}
				})
			}
		}
	}
}

// byFeature detects each feature.
type byFeature struct{ model.Classifier }

func (byFeature) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	return x.Gather(rows), nil
}

// The reference has the means of classes, and the deciles of the samples of all of them.
func TestReference(t *testing.T) {
	e := method.Examples{X: dataset.Matrix[float32]{Rows: 10, Cols: 1, Data: []float32{9, 8, 7, 6, 5, 4, 3, 2, 1, 10}}, Rows: []int{9, 1, 2, 3, 4, 5, 6, 7, 8, 0}, Labels: []int{0, 0, 0, 0, 0, 2, 2, 2, 2, 2}, U: dataset.NewMatrix[float64](3, 1)}
	got := testkit.Must(referenceOf(byFeature{}, e, true))(t)
	testkit.Equal(t, "reference", got, model.Reference{
		Detections: dataset.Matrix[float32]{Rows: 2, Cols: 1, Data: []float32{7.2, 3.8}},
		Deciles:    dataset.Matrix[float32]{Rows: 9, Cols: 1, Data: []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}},
	})
}

func TestModelRoundTrip(t *testing.T) {
	d := tiny.Small()
	d.Provenance = &dataset.Provenance{Architecture: "resnet50", WeightsSHA256: "ab", StrideIn1x1: true}
	for _, v := range model.Variants {
		for _, chain := range []preprocess.Chain{preprocess.None, "sqrt,l2,whiten", "standardize,l2"} {
			want := fitted(t, d, short(d, v, chain))
			path := filepath.Join(t.TempDir(), ModelFile)
			testkit.NoError(t, Save(path, want))
			want.Path = path
			testkit.Equal(t, fmt.Sprintf("%s, %s", v, chain), testkit.Must(Load(path))(t), want, butImputer)
		}
	}
	d.Groups = nil
	if s, _, _ := loaded(t, d, short(d, model.KSoft, preprocess.None)); s.Groups != nil || s.Semantic != nil {
		t.Errorf("groups %q and %v, expected none", s.Groups, s.Semantic)
	}
}

// withMissing returns the data set with a share of its descriptions missing.
func withMissing(d *dataset.Dataset, share float64) *dataset.Dataset {
	partly := *d
	partly.Descriptions.Data = slices.Clone(d.Descriptions.Data)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range partly.Descriptions.Data {
		if rng.Float64() < share {
			partly.Descriptions.Data[i] = math.NaN()
		}
	}
	return &partly
}

func TestFitsNamesModelAndDataset(t *testing.T) {
	d := tiny.Small()
	s := fitted(t, d, short(d, model.Singletons, preprocess.None))
	for field, change := range map[string]func(*dataset.Dataset){
		"dimensions of the features": func(d *dataset.Dataset) { d.Features = dataset.NewMatrix[float32](160, 3) },
		"attributes":                 func(d *dataset.Dataset) { d.Attributes = d.Attributes[:4] },
		"attribute 3": func(d *dataset.Dataset) {
			d.Attributes = slices.Clone(d.Attributes)
			d.Attributes[3].Name = "wet"
		},
	} {
		other := *d
		other.Name = "birds"
		change(&other)
		testkit.WantError(t, s.Fits(&other), "data set birds: "+field+": expected ", "The singletons model was trained on simulated-small.")
	}
}

// changeHeader rewrites the header of a model file.
func changeHeader(f func(h map[string]any)) func(*safetensors.File) {
	return func(file *safetensors.File) {
		var h map[string]any
		if err := json.Unmarshal([]byte(file.Metadata[modelKey]), &h); err != nil {
			panic(err)
		}
		f(h)
		text, err := json.Marshal(h)
		if err != nil {
			panic(err)
		}
		file.Metadata[modelKey] = string(text)
	}
}

func TestMalformedModels(t *testing.T) {
	set := func(key string, value any) func(*safetensors.File) {
		return changeHeader(func(h map[string]any) { h[key] = value })
	}
	sound := make(map[preprocess.Chain]string)
	for _, c := range []struct {
		name   string
		chain  preprocess.Chain
		change func(*safetensors.File)
		want   string // of the error, after the path
	}{
		{"no header", preprocess.None, func(f *safetensors.File) { f.Metadata = nil }, "metadata: expected a model or checkpoint of lago-train"},
		{"an older format", preprocess.None, changeHeader(func(h map[string]any) {
			h["format"] = "lago-train model 3"
			delete(h, "method")
			h["lago"] = "a setting that there is no more"
		}), `format: expected "lago-train model 9", found "lago-train model 3". The model was saved by another version of the program: train it again.`},
		{"no descriptions", preprocess.None, without("descriptions"), "tensor descriptions: expected"},
		{"descriptions on another scale", preprocess.None, func(f *safetensors.File) {
			t, _ := f.Tensor("descriptions")
			t.F64[2] = 1.5
		}, "tensor descriptions: expected probabilities from 0 to 1, found 1.5"},
		{"no learned classes", preprocess.None, set("learned", nil), "learned: expected at least one class, found none"},
		{"a learned class less", preprocess.None, set("learned", []int{0, 1}), "learned: expected the train classes of the split, or all seen ones, found [0 1]"},
		{"a class learned twice", preprocess.None, set("learned", []int{0, 1, 1}), "learned: expected the train classes of the split"},
		{"a class without a name", preprocess.None, set("classes", []string{"ant", ""}), `classes, entry 1: expected a name, found ""`},
		{"names of other features", preprocess.None, set("columns", []string{"a"}), "columns: expected one of each of 16 features, found 1"},
		{"p above 1", preprocess.None, func(f *safetensors.File) {
			t, _ := f.Tensor("method.p")
			t.F32[0] = 1e30
		}, "semantic-hard: tensor p: expected probabilities from 0 to 1, found 1e+30"},
		{"W of one axis", preprocess.None, reshape("method.W", 144), "semantic-hard: tensor W: expected float32 in rows and columns"},
		{"a scale of other features", preprocess.Standardise, reshape("preprocess.scale", 1, 15), "preprocess: tensor scale: expected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if sound[c.chain] == "" {
				sound[c.chain] = smallModel(t, filepath.Join(t.TempDir(), ModelFile), model.SemanticHard, c.chain)
			}
			path := testkit.Write(t, t.TempDir(), ModelFile, sound[c.chain])
			changeTensors(t, path, c.change)
			testkit.Fails(Load(path))(t, path+": "+c.want)
		})
	}
}

// smallModel writes a model of 16 dimensions and 9 attributes, and returns its content.
func smallModel(t testing.TB, path string, v model.Variant, chain preprocess.Chain) string {
	t.Helper()
	d := tiny.Small()
	testkit.NoError(t, Save(path, fitted(t, d, short(d, v, chain))))
	return testkit.Read(t, path)
}

// FuzzLoad checks that any file either loads as a model that scores samples or gives an
// error that names the file.
func FuzzLoad(f *testing.F) {
	path := filepath.Join(f.TempDir(), ModelFile)
	for _, v := range model.Variants {
		f.Add([]byte(smallModel(f, path, v, preprocess.None)))
	}
	f.Add([]byte(smallModel(f, path, model.SemanticHard, preprocess.Standardise)))
	f.Add([]byte(smallModel(f, path, model.KSoft, preprocess.Whiten)))
	f.Fuzz(func(t *testing.T, data []byte) {
		testkit.Write(t, "", path, string(data))
		s, err := Load(path)
		if err != nil {
			testkit.WantError(t, err, path+": ")
			return
		}
		x, u := dataset.NewMatrix[float32](2, s.Dims), dataset.NewMatrix[float64](3, len(s.Attributes))
		scores := testkit.Must(model.Score(s, x, []int{1, 0}, u))(t)
		testkit.Equal(t, "rows and columns of scores", []int{scores.Rows, scores.Cols}, []int{2, 3})
		testkit.NoError(t, Save(path, s))
		testkit.Equal(t, "written and loaded again", testkit.Must(Load(path))(t), s, butImputer, cmpopts.EquateEmpty(), cmpopts.EquateNaNs())
	})
}

// In the folder of a run only its model is used; a copy of a model is used anywhere else.
func TestModelsBelongToTheirRun(t *testing.T) {
	d, root := tiny.Small(), t.TempDir()
	trial := trialOn(d, model.SemanticHard, Dev)
	dir, _ := finished(t, root, d, trial)
	trial.Seed++
	other, _ := finished(t, root, d, trial)
	text := testkit.Read(t, filepath.Join(other, ModelFile))
	m := testkit.Must(Load(testkit.Write(t, t.TempDir(), ModelFile, text)))(t)
	testkit.Equal(t, "run of the copy", m.Run, trial.Name())
	path := testkit.Write(t, dir, ModelFile, text)
	_, err := Load(path)
	testkit.WantError(t, err, path+": expected the model of "+filepath.Base(dir), "found that of "+filepath.Base(other), "move it to another folder")
}

// A run is evaluated with each correction of its method, as the model is with this decision. Weights stay.
func TestDecideCorrection(t *testing.T) {
	d := tiny.Small()
	for _, name := range []string{"semantic-hard", "eszsl"} {
		for _, stage := range []Stage{Dev, Test} {
			trial := methodTrial(d, testkit.Must(methods.Labelled(name))(t), stage)
			before, dir, result := loaded(t, d, trial)
			for _, c := range trial.Method.Corrections() {
				testkit.NoError(t, Decide(t.Context(), dir, func(d *model.Decision) { *d = trial.Method.Decide(c) }))
				s := testkit.Must(Load(filepath.Join(dir, ModelFile)))(t)
				reproduces(t, s, d, stage, result.Evaluation(c))
				if got := testkit.Must(ReadDecision(dir))(t); got.Correction() != c || s.Decision.Correction() != c {
					t.Errorf("decided %v, the model has %v", c, s.Decision)
				}
				testkit.Equal(t, fmt.Sprintf("%s, %s: weights after a correction", name, stage), s.Classifier.(method.Model).Tensors(), before.Classifier.(method.Model).Tensors())
			}
		}
	}
}

// Decisions leave the checksum of the tensors as it is. They are waited for while the run is locked,
// and what does not change is not written.
func TestDecideAdaptation(t *testing.T) {
	d := tiny.Small()
	before, dir, _ := loaded(t, d, short(d, model.SemanticHard, "sqrt,l2,whiten"))
	path := filepath.Join(dir, ModelFile)
	fit := testkit.Must(preprocess.Fit("standardize,whiten", 10, d.Features, d.SamplesOf(d.Split.Seen())[:5]))(t)
	want := &model.Adaptation{
		Settings: adapt.Settings{Temperature: 2, Tau: 60}, Preprocess: fit.Chain, Transform: fit, Before: 0.5, After: 0.75,
		Interval: &metrics.Interval{Low: 0.1, High: 0.3}, Samples: 40, Classes: 4,
	}
	decide := func(change func(*model.Decision)) {
		t.Helper()
		lock := testkit.Must(acquire(dir))(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := Decide(ctx, dir, func(*model.Decision) {})
		testkit.WantError(t, err, "context canceled")
		testkit.NoError(t, lock.Unlock())
		testkit.NoError(t, Decide(t.Context(), dir, change))
	}
	decide(func(d *model.Decision) { d.Adaptation, d.Calibration = want, &model.Calibration{Temperature: 1.5} })
	written := files(t, dir)
	decide(func(d *model.Decision) { d.Calibration = &model.Calibration{Temperature: 1.5} })
	testkit.Equal(t, "files after equal decisions", files(t, dir), written)
	after := testkit.Must(Load(path))(t)
	testkit.Equal(t, "adaptation", after.Decision.Adaptation, want)
	testkit.Equal(t, "adapted features", after.AdaptedFeatures(), want.Transform)
	testkit.Equal(t, "temperature", after.Decision.Calibration.Temperature, 1.5)
	after.Decision.Adaptation, after.Decision.Calibration = nil, nil
	testkit.Equal(t, "model without the decisions", after, before, butImputer)
	decide(func(d *model.Decision) { d.Adaptation = nil })
	f := testkit.Must(safetensors.ReadFile(path))(t)
	for _, tensor := range f.Tensors {
		if tensor.Name == adaptationPrefix+"matrix" {
			t.Error("the features of an adaptation that was dropped are in the file")
		}
	}
	decide(func(d *model.Decision) { d.Calibration = &model.Calibration{Temperature: 1e308} })
	_, err := Load(path)
	testkit.WantError(t, err, path+": calibration: temperature: expected a number from 1e-18 to 1e+18, found 1e+308")
}
