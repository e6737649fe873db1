package evaluation

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
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
	scores := matrixOf([]float32{5, 1, 2}, []float32{0, 3, 2}, []float32{1, 4, 4}, []float32{7, 2, 5}, []float32{1, 2, 3})
	return &scored{
		scores: scores, raw: scores, kind: logits, temperature: 1, labels: []int{0, 0, 1, 2, 2}, sides: metrics.Sides{false, false, true},
		corrected: scores, stacking: &model.Stacking{Omega: 0.25, Gamma: 0.5},
		names: []string{"owl", "crow", "wren"}, rows: []int{4, 6, 7, 9, 11},
	}
}

// oddsOfThree are correct three times of four, with odds of 9 : 1 at T = 1.
func oddsOfThree(kind string) *scored {
	row := []float32{float32(2 * math.Log(3)), 0}
	return &scored{scores: matrixOf(row, row, row, row), kind: kind, temperature: 2, labels: []int{0, 0, 1, 0}, names: []string{"a", "b"}, rows: []int{0, 1, 2, 3}}
}

func TestEvaluateByHand(t *testing.T) {
	e := evaluate(birds())
	got := []float64{
		e.PerClass, e.PerSample, e.ZSL, *e.Seen, *e.Unseen, *e.HarmonicMean, *e.AUSUC,
		e.Calibrated.Omega, e.Calibrated.Gamma, e.Calibrated.Seen, e.Calibrated.Unseen, e.Calibrated.AUSUC,
	}
	want := []float64{(0.5 + 1 + 0.5) / 3, 0.6, 1, 0.75, 0.5, 0.6, 0.5, 0.25, 0.5, 0.25, 0.5, 0.5}
	testkit.NearAll(t, "accuracies", got, want, 1e-12)
	counts := []int{e.Samples, e.Classes, len(e.calibrations), len(e.Notes)}
	testkit.Equal(t, "samples, classes, calibrations and notes", counts, []int{5, 3, 1, 0})
	testkit.Equal(t, "mistakes", e.Mistakes, []Mistake{{"owl", "crow", 1, 0.5}, {"wren", "owl", 1, 0.5}})
	testkit.Equal(t, "classes", e.ByClass, []ClassAccuracy{{"owl", false, 2, 0.5}, {"crow", false, 1, 1}, {"wren", true, 2, 0.5}})
	testkit.Equal(t, "calibration with temperature 1", e.Temperature.ECE, e.ECE)
}

// The temperature 2 turns odds of 9 : 1 into 3 : 1, which matches the accuracy.
func TestTemperature(t *testing.T) {
	for _, kind := range []string{logits, bareScores} {
		e := evaluate(oddsOfThree(kind))
		if e.Temperature == nil || e.Temperature.Temperature != 2 || *e.Temperature.ECE > 1e-6 {
			t.Fatalf("%s: temperature %+v", kind, e.Temperature)
		}
		if kind == bareScores {
			if e.ECE != nil || len(e.calibrations) != 1 {
				t.Errorf("bare scores have probabilities: %+v", e.Calibration)
			}
			continue
		}
		if math.Abs(*e.ECE-0.15) > 1e-6 || len(e.Reliability) != 15 || e.Reliability[13].Samples != 4 {
			t.Errorf("ECE %g in %+v", *e.ECE, e.Reliability)
		}
	}
}

func TestTables(t *testing.T) {
	birds := birds()
	birds.names[0] = "owl\x1b[2J"
	birds.temperature = 2
	r := evaluate(birds)
	r.Source = Source{"test", "all classes", "birds\x1b", "runs/a", "singletons", 3}
	r.note("it rained")
	testkit.WantText(t, strings.Join(strings.Fields(testlab.Text(r.Tables())), " "),
		"birds\uFFFD, test among all classes: 5 samples of 3 classes", "predicted by singletons, random seed 3, runs/a",
		"│ top 1 │ 66.7 % │ 50.0 to 100.0 │ 60.0 % │", "│ as scored │ 75.0 % │ 50.0 % │ 60.0 % │ 0.500 │", "│ stacked: omega 0.25, gamma 0.5 │ 25.0 % │", "expected calibration error, 15 bins",
		"temperature 2", "│ crow │ 1 │ 50.0 % │", "temperature 2: the probabilities that predict prints", "Note: it rained.")
}

func TestWriteCSV(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s := birds()
	s.ids = strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	e := evaluate(s)
	testkit.NoError(t, e.WriteCSV(dir, fileio.Write))
	testkit.Equal(t, "classes.csv", testkit.Read(t, filepath.Join(dir, "classes.csv")), "class,unseen,samples,accuracy\nowl,false,2,0.5\ncrow,false,1,1\nwren,true,2,0.5\n")
	lines := strings.Split(testkit.Read(t, filepath.Join(dir, "samples.csv")), "\n")
	testkit.WantText(t, lines[0], "row,label,true class,predicted,confidence as scored,id")
	testkit.WantText(t, lines[2], "6,0,owl,crow,0.7", ",g")
}

// Numbers that do not exist are null in JSON.
func TestWithoutNumbers(t *testing.T) {
	s := *oddsOfThree(bareScores)
	s.temperature = 0
	text := string(testkit.Must(json.Marshal(evaluate(&s)))(t))
	testkit.WantText(t, text, `"seen":null`, `"ausuc":null`, `"calibrated":null`, `"ece":null`, `"temperature":null`, `"by_class":[`, "not probabilities")
}
