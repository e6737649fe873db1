package predictor

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// detected asks about a sample with these detections among all classes.
func detected(m *train.Saved, detections []float64, label string) Question {
	p, err := (&Model{Saved: m}).Predictor(Candidates{What: "classes", Names: m.Classes, U: m.Descriptions}, Options{Adapt: m.Decision.Adaptation != nil})
	if err != nil {
		panic(err)
	}
	q := Question{Predictor: p, Sample: Sample{Index: 7, From: "birds"}, X: testlab.BirdFeatures(detections), Row: 1}
	if label != "" {
		q.Sample.Label = &label
	}
	return q
}

func explained(t *testing.T, q Question) *Explanation {
	t.Helper()
	return testkit.Must(Explain(q))(t)
}

// random asks about a sample of a model with random descriptions and groups.
func random(c model.Config, seed uint64) (*train.Saved, Question) {
	m, detections := testlab.RandomBirds(c, seed)
	return m, detected(m, detections, "")
}

func TestExplanationAsJSON(t *testing.T) {
	x, back := explained(t, detected(testlab.Birds(testlab.HardBirds), testlab.Cuckoo, "")), new(Explanation)
	testkit.NoError(t, json.Unmarshal(testkit.Must(json.Marshal(x))(t), back))
	testkit.Equal(t, "JSON", back, x)
}

// What is compared, by the true class and the class asked for.
func TestComparedClasses(t *testing.T) {
	m := testlab.Birds(testlab.HardBirds)
	first, second, third := m.Classes[0], m.Classes[1], m.Classes[2] // by log p of the testlab.Cuckoo
	for _, c := range []struct{ label, against, want string }{
		{"", "", second + " runner-up"},
		{first, "", second + " runner-up"},
		{second, "", second + " true class"},
		{third, "", second + " runner-up, " + third + " true class"},
		{"001.Dodo", "", second + " runner-up"},
		{second, "prothonotary-warbler", third + " requested"},
	} {
		q := detected(m, testlab.Cuckoo, c.label)
		q.Against = c.against
		x := explained(t, q)
		var got []string
		for _, comparison := range x.Comparisons {
			got = append(got, comparison.Against+" "+string(comparison.Reason))
		}
		testkit.Equal(t, fmt.Sprintf("%q against %q", c.label, c.against), strings.Join(got, ", "), c.want)
		if x.Correct != nil && (x.Label.Class != c.label || *x.Correct != (c.label == first)) {
			t.Errorf("the true class is %+v, correct %v", x.Label, *x.Correct)
		}
	}
}

func TestExplainRefuses(t *testing.T) {
	m, other := testlab.Birds(testlab.HardBirds), testlab.Birds(testlab.HardBirds)
	other.Method, other.Classifier = methods.Named{Name: "eszsl", Method: new(eszsl.Settings)}, nil
	_, err := Explain(detected(other, testlab.Cuckoo, ""))
	testkit.WantError(t, err, "model: expected a LAGO model, found another method")
	q := detected(m, testlab.Cuckoo, "")
	for against, parts := range map[string][]string{
		"Black billed cuckoo":    {`"Black billed cuckoo"`, "runner-up is", `"094.White_breasted_Nuthatch"`},
		"white breasted nuthach": {"3 classes", `"white breasted nuthach"`, "Did you mean White breasted Nuthatch?"},
	} {
		q.Against = against
		_, err = Explain(q)
		testkit.WantError(t, err, append(parts, "against: ")...)
	}
	q.Predictor.Candidates.What, q.Predictor.Candidates.Names = "test classes", q.Predictor.Candidates.Names[:1]
	_, err = Explain(q)
	testkit.WantError(t, err, "test classes: ", "at least two", "found 1")
}

func TestFindSample(t *testing.T) {
	d := &dataset.Dataset{Name: "small", Features: dataset.NewMatrix[float32](3, 2), Labels: []int{1, 0, 1}, Classes: []string{"owl", "wren"}}
	testkit.Equal(t, "sample", testkit.Must(FindSample(d, "2"))(t), Sample{Index: 2, From: "small", Label: &d.Classes[1]})
	_, err := FindSample(d, "3")
	testkit.WantError(t, err, "sample: expected the index of a sample of small, 0 to 2, found ")
	d.IDs = []string{"a.png", "0", "b.png"} // an id comes before an index
	for name, want := range map[string]int{"b.png": 2, "0": 1, "2": 2} {
		if found := testkit.Must(FindSample(d, name))(t); found.Index != want || found.ID != d.IDs[want] {
			t.Errorf("sample %s: %+v", name, found)
		}
	}
	_, err = FindSample(d, "c.png")
	testkit.WantError(t, err, "or its id", "Did you mean a.png")
}

// Adapted answers say whether the batch changed the prediction.
func TestAdaptedAnswer(t *testing.T) {
	_, q := random(testlab.HardBirds, 3)
	q.Predictor.Adapt, q.Predictor.Decision.Adaptation = true, &model.Adaptation{Settings: adapt.Settings{Temperature: 2, Tau: 200}}
	r := rand.New(rand.NewPCG(5, 0))
	q.X = dataset.NewMatrix[float32](40, 6)
	for i := range q.X.Data {
		q.X.Data[i] = float32(3 * r.NormFloat64())
	}
	q.Batch = q.X.AllRows()
	changed := 0
	for _, q.Row = range q.Batch {
		x := explained(t, q)
		a := x.Adapted
		if a.Samples != q.X.Rows || a.Changed != (a.Predicted != x.Predicted) || a.LogOdds < 0 {
			t.Fatalf("sample %d: %+v", q.Row, a)
		}
		if a.Changed {
			changed++
		}
	}
	if changed == 0 {
		t.Error("no prediction changed")
	}
}
