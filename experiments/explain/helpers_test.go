package explain

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// birds is a model whose detector of each attribute reads one feature, for three classes
// described by six attributes in three groups.
func birds(c model.Config) *train.Saved {
	attributes := []string{
		"has_primary_color::brown", "has_primary_color::white", "has_primary_color::yellow",
		"has_breast_pattern::solid", "has_breast_pattern::striped", "size::small_(5_-_9_in)",
	}
	semantic := []int{0, 0, 0, 1, 1, 2}
	l := &model.LAGO{
		Config: c, Semantic: semantic, Transform: &preprocess.Transform{Chain: preprocess.None},
		Params: &model.Parameters[float32]{W: dataset.NewMatrix[float32](6, 6), B: make([]float32, 6)},
	}
	k := map[model.Variant]int{model.Singletons: 6, model.KSoft: c.K}[c.Variant]
	if c.Variant.Semantic() {
		k = 3
	}
	l.Params.V = dataset.NewMatrix[float32](6, k)
	for m := range 6 {
		l.Params.W.Row(m)[m] = 1
		switch {
		case c.Variant.Semantic():
			l.Params.V.Row(m)[semantic[m]] = 1
		case c.Variant == model.Singletons:
			l.Params.V.Row(m)[m] = 1
		default: // learned
			l.Params.V.Row(m)[m%k] = 0.1
		}
	}
	return &train.Saved{
		Method: string(c.Variant), Classifier: l, Transform: l.Transform, Dataset: "birds", Dims: 6,
		Attributes: attributes, Groups: []string{"has_primary_color", "has_breast_pattern", "size"}, Semantic: semantic,
		Classes: []string{"031.Black_billed_Cuckoo", "094.White_breasted_Nuthatch", "177.Prothonotary_Warbler"},
		Descriptions: dataset.Matrix[float64]{Rows: 3, Cols: 6, Data: []float64{
			0.6, 0.5, 0, 0.9, 0.1, 0.9,
			0.1, 0.4, 0, 0.6, 0.3, 0.4,
			0, 0.1, 0.9, 0.2, 0.7, math.NaN(),
		}},
		Split: dataset.Split{Train: []int{2}, Test: []int{0, 1}},
	}
}

// hard has groups that are exactly one-hot.
var hard = model.Config{Variant: model.SemanticHard, Prior: model.Uniform, Complement: model.DeMorgan, Zeta: 1000}

// cuckoo are the detections of the paper's example: not brown, but white.
var cuckoo = []float64{0.1, 0.7, 0.2, 0.6, 0.1, 0.9}

// detected asks about a sample with these detections among all classes. Its features are
// the logits, since the detectors of the model are the identity.
func detected(m *train.Saved, detections []float64, label string) Question {
	q := Question{
		Sample: Sample{Index: 7, From: "birds"}, X: dataset.NewMatrix[float32](2, len(detections)), Row: 1,
		Candidates: candidates.Set{What: "classes", Names: m.Classes, U: m.Descriptions}, Top: 3,
	}
	if label != "" {
		q.Sample.Label = &label
	}
	for i, p := range detections {
		q.X.Row(1)[i] = float32(math.Log(p / (1 - p)))
	}
	return q
}

func explainOrFail(t testing.TB, m *train.Saved, q Question) *Result {
	t.Helper()
	x, err := Explain(m, q)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// closeTo fails unless two numbers agree to 1e-9, relative to numbers above 1.
func closeTo(t testing.TB, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
		t.Errorf("%s is %.12g, expected %.12g", what, got, want)
	}
}

// random returns a model with random descriptions and groups, and a question about it.
func random(c model.Config, seed uint64) (*train.Saved, Question) {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := birds(c)
	m.Descriptions = dataset.NewMatrix[float64](3, 6)
	for i := range m.Descriptions.Data {
		m.Descriptions.Data[i] = rng.Float64()
	}
	l, _ := m.LAGO("test")
	for i := range l.Params.V.Data {
		if c.Variant.Learned() {
			l.Params.V.Data[i] += float32(rng.Float64() * 0.2)
		}
	}
	a := make([]float64, 6)
	for i := range a {
		a[i] = 0.02 + 0.96*rng.Float64()
	}
	return m, detected(m, a, "")
}

// group returns the group with a name.
func (c Comparison) group(name string) *Group {
	return &c.Groups[slices.IndexFunc(c.Groups, func(g Group) bool { return g.Name == name })]
}
