// Package testlab has what the tests of several questions share.
package testlab

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/lago"
	"github.com/lago-train/lago-train/train/methods"
)

// New returns a lab on tiny.Small.
func New(t testing.TB) *lab.Lab { return lab.New(tiny.Small(), t.TempDir()) }

// Config is a run of two seeds that takes milliseconds.
func Config(l *lab.Lab, stage config.Stages, v model.Variant) config.Config {
	c := config.PresetFor(l.Data.Name, methods.Variant(v)).Config
	c.Stage, c.Seeds, c.Seed, c.Epochs = stage, 2, 5, 4
	return c.With("batch", 16).With("lr", 0.01)
}

// Full is the full protocol of variants.
func Full(l *lab.Lab, variants ...model.Variant) []config.Config {
	configs := make([]config.Config, len(variants))
	for i, v := range variants {
		configs[i] = Config(l, config.DevThenTest, v)
	}
	return configs
}

// Request has settings of a study: those of one run or, for several methods, those that all have and those of
// variants.
func Request(first config.Config, variants ...config.Config) *config.Request {
	r := &config.Request{}
	for _, c := range append([]config.Config{first}, variants...) {
		r.Presets = append(r.Presets, config.Preset{Config: c})
	}
	return r
}

// Ask asks a study, which succeeds, and holds what it stored to what it returned.
func Ask[R results.Result](t testing.TB, l *lab.Lab, s results.Study, r *config.Request) R {
	t.Helper()
	found := testkit.Must(results.Ask(t.Context(), s, r, l))(t)
	list, missing, err := lab.ReadStored(t.Context(), l.Root, "")
	testkit.NoError(t, err)
	if len(list) == 0 || len(missing) > 0 || list[0].Kind != found.KindName() ||
		list[0].Fingerprint != l.Fingerprint {
		t.Fatalf("stored %+v, unreadable %+v, expected a result of %s", list, missing, found.KindName())
	}
	stored := reflect.New(reflect.TypeOf(found).Elem()).Interface().(results.Result)
	testkit.NoError(t, list[0].Decode(stored))
	want := string(testkit.Must(json.Marshal(found))(t))
	testkit.Equal(t, "stored", string(testkit.Must(json.Marshal(stored))(t)), want)
	testkit.Equal(t, "stored text", Text(stored.Tables()), Text(found.Tables()))
	return found.(R)
}

// Cover makes published numbers those of a data set, by its name, until the end of the test.
func Cover(t testing.TB, d *dataset.Dataset) {
	name := strings.ToLower(d.Name)
	before := config.PublishedDigests[name]
	config.PublishedDigests[name] = config.PublishedDigest(d)
	t.Cleanup(func() { config.PublishedDigests[name] = before })
}

// Text is the text of tables, in which nothing is wrapped.
func Text(tables []*table.Table) string {
	var b strings.Builder
	for _, t := range tables {
		if t != nil {
			b.WriteString(t.Text(1000, 0))
		}
	}
	return b.String()
}

// Birds returns a model whose detector of each attribute reads one feature, for three classes
// described by six attributes in three groups.
func Birds(c model.Config) *train.Saved {
	semantic := []int{0, 0, 0, 1, 1, 2}
	k, groups, err := c.Grouping(6, semantic)
	if err != nil {
		panic(err) // of a mistake in a test
	}
	p := &model.Parameters[float32]{
		W: dataset.NewMatrix[float32](6, 6), B: make([]float32, 6), V: dataset.NewMatrix[float32](6, k),
	}
	for m := range 6 {
		p.W.Row(m)[m] = 1
		if groups != nil {
			p.V.Row(m)[groups[m]] = 1
		} else {
			p.V.Row(m)[m%k] = 0.1
		}
	}
	return &train.Saved{
		Method: methods.Named{Name: methods.LAGO, Method: &lago.Settings{Config: c}}, Dataset: "birds",
		Dims: 6,
		Pipeline: &model.Pipeline{
			Transform:  &preprocess.Transform{Chain: preprocess.None},
			Classifier: lago.Model{LAGO: &model.LAGO{Config: c, Semantic: semantic, Params: p}},
		},
		Attributes: []string{
			"has_primary_color::brown", "has_primary_color::white", "has_primary_color::yellow",
			"has_breast_pattern::solid", "has_breast_pattern::striped", "size::small_(5_-_9_in)",
		},
		Groups: []string{"has_primary_color", "has_breast_pattern", "size"}, Semantic: semantic,
		Classes: []string{
			"031.Black_billed_Cuckoo", "094.White_breasted_Nuthatch", "177.Prothonotary_Warbler",
		},
		Descriptions: dataset.Matrix[float64]{Rows: 3, Cols: 6, Data: []float64{
			0.6, 0.5, 0, 0.9, 0.1, 0.9,
			0.1, 0.4, 0, 0.6, 0.3, 0.4,
			0, 0.1, 0.9, 0.2, 0.7, math.NaN(),
		}},
		Split: dataset.Split{Train: []int{2}, Test: []int{0, 1}},
	}
}

// HardBirds has groups that are exactly one-hot.
var HardBirds = model.Config{
	Variant: model.SemanticHard, Prior: model.Uniform, Complement: model.DeMorgan, Zeta: 1000,
}

// Cuckoo are the detections of the paper's example: not brown, but white.
var Cuckoo = []float64{0.1, 0.7, 0.2, 0.6, 0.1, 0.9}

// BirdFeatures returns features of two samples: the second has these detections, since the detectors are
// the identity.
func BirdFeatures(detections []float64) dataset.Matrix[float32] {
	x := dataset.NewMatrix[float32](2, len(detections))
	for i, p := range detections {
		x.Row(1)[i] = float32(math.Log(p / (1 - p)))
	}
	return x
}

// RandomBirds returns a model with random descriptions and groups, and the detections of a sample.
func RandomBirds(c model.Config, seed uint64) (*train.Saved, []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := Birds(c)
	for i := range m.Descriptions.Data {
		m.Descriptions.Data[i] = rng.Float64()
	}
	if l, _ := m.LAGO(); c.Variant.Learned() {
		for i := range l.Params.V.Data {
			l.Params.V.Data[i] += float32(rng.Float64() * 0.2)
		}
	}
	a := make([]float64, 6)
	for i := range a {
		a[i] = 0.02 + 0.96*rng.Float64()
	}
	return m, a
}
