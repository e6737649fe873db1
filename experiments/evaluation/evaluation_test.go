package evaluation

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train/metrics"
)

// matrixOf returns scores with the given rows.
func matrixOf(rows ...[]float32) dataset.Matrix[float32] {
	return dataset.Matrix[float32]{Rows: len(rows), Cols: len(rows[0]), Data: slices.Concat(rows...)}
}

// birds are five samples of two seen classes and an unseen one, wren. The best seen class
// leads the unseen one by 3, 1, 0, 2 and -1:
//
//	as scored:   seen (1/2 + 1/1)/2, unseen 1/2, H = 2*0.75*0.5/1.25 = 0.6
//	gamma 0.5:   seen (1/2 + 0)/2,   unseen 1/2, H = 2*0.25*0.5/0.75 = 1/3
//	zsl:         wren alone is always correct
func birds() *scored {
	return &scored{
		scores: matrixOf(
			[]float32{5, 1, 2},
			[]float32{0, 3, 2},
			[]float32{1, 4, 4},
			[]float32{7, 2, 5},
			[]float32{1, 2, 3}),
		labels: []int{0, 0, 1, 2, 2}, kind: Logits,
		sides: metrics.Sides{false, false, true}, names: []string{"owl", "crow", "wren"}, rows: []int{4, 6, 7, 9, 11},
	}
}

// toValidate has its best gamma, 0.5, between the lead of 0 in the unseen sample and of 1
// in the others. All samples are predicted correctly, so no temperature fits.
func toValidate() *scored {
	return &scored{
		scores: matrixOf([]float32{1, 0}, []float32{1, 0}, []float32{0, 0}),
		labels: []int{0, 0, 1}, kind: Logits, sides: metrics.Sides{false, true},
	}
}

// oddsOfThree are correct three times of four, with odds of 9 : 1 at T = 1.
func oddsOfThree(kind ScoreKind) *scored {
	row := []float32{float32(2 * math.Log(3)), 0}
	return &scored{scores: matrixOf(row, row, row, row), labels: []int{0, 0, 1, 0}, kind: kind}
}

// oddsAmongBirds validates both gamma and a temperature.
func oddsAmongBirds() *scored {
	s := oddsOfThree(Logits)
	s.sides = metrics.Sides{false, true}
	return s
}

func TestEvaluateByHand(t *testing.T) {
	e := Config{Bins: 1}.evaluate(birds(), toValidate())
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"per class", e.PerClass, (0.5 + 1 + 0.5) / 3},
		{"per sample", e.PerSample, 0.6},
		{"top 5", e.Top5, 1},
		{"top 5 per sample", e.Top5PerSample, 1},
		{"zsl", e.ZSL, 1},
		{"seen", *e.Seen, 0.75},
		{"unseen", *e.Unseen, 0.5},
		{"harmonic mean", *e.HarmonicMean, 0.6},
		{"ausuc", *e.AUSUC, 0.5},
		{"gamma", e.Calibrated.Gamma, 0.5},
		{"calibrated seen", e.Calibrated.Seen, 0.25},
		{"calibrated unseen", e.Calibrated.Unseen, 0.5},
		{"harmonic mean of validation", *e.Validation.HarmonicMean, 1},
		{"accuracy of all", e.Coverage[9].Accuracy, 0.6},
		{"samples", float64(e.Samples), 5},
		{"classes", float64(e.Classes), 3},
		{"samples of validation", float64(e.Validation.Samples), 3},
		{"classes of validation", float64(e.Validation.Classes), 2},
	} {
		testkit.Near(t, c.name, c.got, c.want, 1e-12)
	}
	mistakes := []Mistake{{"owl", "crow", 1, 0.5}, {"wren", "owl", 1, 0.5}}
	classes := []ClassAccuracy{{"owl", false, 2, 0.5}, {"crow", false, 1, 1}, {"wren", true, 2, 0.5}}
	if diff := cmp.Diff(mistakes, e.Mistakes) + cmp.Diff(classes, e.ByClass); diff != "" {
		t.Errorf("mistakes and classes (-want +got):\n%s", diff)
	}
	if e.Temperature != nil || len(e.Notes) != 1 {
		t.Errorf("temperature %v, notes %q", e.Temperature, e.Notes)
	}
	testkit.WantText(t, e.Notes[0], "all predictions are right")
}

// The temperature 2 turns odds of 9 : 1 into 3 : 1, which matches the accuracy.
func TestTemperature(t *testing.T) {
	for _, kind := range []ScoreKind{Logits, BareScores} {
		e := Config{Bins: 5}.evaluate(oddsOfThree(kind), oddsOfThree(kind))
		if e.Temperature == nil || math.Abs(e.Temperature.Temperature-2) > 1e-5 || *e.Temperature.ECE > 1e-6 {
			t.Fatalf("%s: temperature %+v", kind, e.Temperature)
		}
		if e.Seen != nil || e.AUSUC != nil || e.Calibrated != nil || e.ZSL != e.PerClass {
			t.Errorf("%s: there are no seen classes in %+v", kind, e)
		}
		if kind == BareScores {
			if e.ECE != nil || e.Coverage != nil || len(e.calibrations()) != 1 {
				t.Errorf("bare scores have probabilities: %+v", e.Calibration)
			}
			continue
		}
		if math.Abs(*e.ECE-0.15) > 1e-6 || len(e.Reliability) != 5 || e.Reliability[4].Samples != 4 {
			t.Errorf("ECE %g in %+v", *e.ECE, e.Reliability)
		}
	}
	e := Config{Bins: 5}.evaluate(oddsOfThree(BareScores), nil)
	if len(e.calibrations()) != 0 || len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "not probabilities") {
		t.Errorf("bare scores without validation: %+v", e)
	}
}

func TestProbabilitiesAreEvaluatedAsTheirLogs(t *testing.T) {
	p := &scored{scores: matrixOf([]float32{0.75, 0.25}, []float32{0, 1}), labels: []int{0, 0}, kind: Probabilities}
	log := &scored{scores: metrics.LogProbabilities(p.scores), labels: p.labels, kind: Logits}
	got, want := Config{Bins: 3}.evaluate(p, nil), Config{Bins: 3}.evaluate(log, nil)
	if diff := cmp.Diff(want.Calibration, got.Calibration, cmpopts.IgnoreUnexported(Calibration{}), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-logs +probabilities):\n%s", diff)
	}
}

func TestKindOf(t *testing.T) {
	if got := kindOf(matrixOf([]float32{-1, 2})); got != BareScores {
		t.Errorf("a row with a negative score: found %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		scores := dataset.NewMatrix[float32](rapid.IntRange(1, 4).Draw(t, "samples"), rapid.IntRange(2, 4).Draw(t, "classes"))
		for i := range scores.Data {
			scores.Data[i] = float32(rapid.IntRange(-9, 9).Draw(t, "score"))
		}
		p := dataset.NewMatrix[float32](scores.Rows, scores.Cols)
		for i := range scores.Rows {
			var sum float64
			for _, v := range scores.Row(i) {
				sum += math.Exp(float64(v))
			}
			for z, v := range scores.Row(i) {
				p.Row(i)[z] = float32(math.Exp(float64(v)) / sum)
			}
		}
		if got := kindOf(p); got != Probabilities {
			t.Errorf("%v are %s, expected probabilities", p, got)
		}
		if got := kindOf(metrics.LogProbabilities(p)); got != Logits {
			t.Errorf("the logs of %v are %s, expected logits", p, got)
		}
		scores.Data[0] += 20
		if got := kindOf(scores); got != BareScores {
			t.Errorf("%v are %s, expected scores", scores, got)
		}
	})
}

// Numbers that do not exist are null in JSON.
func TestJSON(t *testing.T) {
	data := testkit.Must(json.Marshal(Config{Bins: 2}.evaluate(oddsOfThree(Logits), nil)))(t)
	for _, key := range []string{"seen", "unseen", "harmonic_mean", "ausuc", "calibrated", "temperature", "validation"} {
		testkit.WantText(t, string(data), `"`+key+`":null`)
	}
	for _, key := range []string{"per_class_accuracy", "ece", "reliability", "coverage", "by_class"} { // embedded ones too
		testkit.WantText(t, string(data), `"`+key+`":`)
	}
}

func TestTables(t *testing.T) {
	text := func(r *Result) string {
		var b strings.Builder
		testkit.NoError(t, table.WriteText(&b, r.Tables()...))
		return strings.Join(strings.Fields(b.String()), " ")
	}
	birds := birds()
	birds.names[0] = "owl\x1b[2J"
	r := Config{Bins: 2}.evaluate(birds, oddsAmongBirds())
	r.Source = Source{Split: "gzsl", Dataset: "birds\x1b", Models: []EvaluatedModel{
		{"runs/a", "singletons", 3, 0.5, metrics.Interval{Low: 0.25, High: 0.75}}, {Path: "runs/b", Method: "k-soft", Seed: 4, PerClass: 0.25},
	}}
	r.Validation.Of = []string{"runs/c", "runs/d"}
	r.note("it rained")
	found := text(r)
	testkit.WantText(t, found,
		"birds\uFFFD, gzsl: 5 samples of 3 classes", "mean probabilities of singletons, seed 3, alone 50.0 % per class (95 % over classes: 25.0 to 75.0), runs/a k-soft, seed 4",
		"│ top 1 │ 66.7 % │ 50.0 to 100.0 │ 60.0 % │", "│ harmonic mean │ 60.0 % │ - │", "0.5000", "as scored", "calibrated, gamma", "expected calibration error, 2 bins",
		"temperature 2", "│ 40 % │ 2 │", "│ crow │ 1 │ 50.0 % │", "Validated with 4 samples of 2 classes: runs/c, runs/d", "Note: it rained.")
	if strings.Contains(found, "\x1b") {
		t.Error("a control character is printed")
	}
	r.Source = Source{Models: []EvaluatedModel{{Path: "runs/a", Method: "eszsl", PerClass: 0.5}}}
	testkit.WantText(t, text(r), "predicted by eszsl, seed 0, runs/a")
}

func TestConfigCheck(t *testing.T) {
	for bins, valid := range map[int]bool{1: true, 10_000: true, 0: false, 10_001: false} {
		if err := (Config{Bins: bins}).Check(); valid {
			testkit.NoError(t, err)
		} else {
			testkit.WantError(t, err, "bins: expected 1 to 10000")
		}
	}
}
