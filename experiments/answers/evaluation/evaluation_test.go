package evaluation

import (
	"encoding/json"
	"encoding/xml"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/internal/fileio"
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
	scores := matrixOf([]float32{5, 1, 2}, []float32{0, 3, 2}, []float32{1, 4, 4}, []float32{7, 2, 5}, []float32{1, 2, 3})
	return &scored{
		scores: scores, kind: Logits, labels: []int{0, 0, 1, 2, 2}, sides: metrics.Sides{false, false, true},
		names: []string{"owl", "crow", "wren"}, rows: []int{4, 6, 7, 9, 11},
	}
}

// toValidate has its best gamma, 0.5, between the lead of 0 in the unseen sample and of 1
// in the others. All samples are predicted correctly, so no temperature fits.
func toValidate() *scored {
	scores := matrixOf([]float32{1, 0}, []float32{1, 0}, []float32{0, 0})
	return &scored{scores: scores, kind: Logits, labels: []int{0, 0, 1}, sides: metrics.Sides{false, true}}
}

// oddsOfThree are correct three times of four, with odds of 9 : 1 at T = 1.
func oddsOfThree(kind ScoreKind) *scored {
	row := []float32{float32(2 * math.Log(3)), 0}
	return &scored{scores: matrixOf(row, row, row, row), kind: kind, labels: []int{0, 0, 1, 0}, names: []string{"a", "b"}, rows: []int{0, 1, 2, 3}}
}

// oddsAmongBirds validates both gamma and a temperature.
func oddsAmongBirds() *scored {
	s := oddsOfThree(Logits)
	s.sides = metrics.Sides{false, true}
	return s
}

func TestEvaluateByHand(t *testing.T) {
	e := Config{Bins: 1}.evaluate(birds(), toValidate())
	got := []float64{
		e.PerClass, e.PerSample, e.Top5, e.Top5PerSample, e.ZSL, *e.Seen, *e.Unseen, *e.HarmonicMean, *e.AUSUC,
		e.Calibrated.Gamma, e.Calibrated.Seen, e.Calibrated.Unseen, *e.Validation.HarmonicMean, e.Coverage[9].Accuracy,
	}
	want := []float64{(0.5 + 1 + 0.5) / 3, 0.6, 1, 1, 1, 0.75, 0.5, 0.6, 0.5, 0.5, 0.25, 0.5, 1, 0.6}
	testkit.NearAll(t, "accuracies", got, want, 1e-12)
	if e.Samples != 5 || e.Classes != 3 || e.Validation.Samples != 3 || e.Validation.Classes != 2 {
		t.Errorf("found %+v", e)
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
			if e.ECE != nil || e.Coverage != nil || len(e.calibrations) != 1 {
				t.Errorf("bare scores have probabilities: %+v", e.Calibration)
			}
			continue
		}
		if math.Abs(*e.ECE-0.15) > 1e-6 || len(e.Reliability) != 5 || e.Reliability[4].Samples != 4 {
			t.Errorf("ECE %g in %+v", *e.ECE, e.Reliability)
		}
	}
	e := Config{Bins: 5}.evaluate(oddsOfThree(BareScores), nil)
	if len(e.calibrations) != 0 || len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "not probabilities") {
		t.Errorf("bare scores without validation: %+v", e)
	}
}

func TestProbabilitiesAreEvaluatedAsTheirLogs(t *testing.T) {
	p := scored{scores: matrixOf([]float32{0.75, 0.25}, []float32{0, 1}), kind: Probabilities, labels: []int{0, 0}, names: []string{"a", "b"}}
	log := p
	log.scores, log.kind = metrics.LogProbabilities(p.scores), Logits
	got, want := Config{Bins: 3}.evaluate(&p, nil), Config{Bins: 3}.evaluate(&log, nil)
	if diff := cmp.Diff(want.Calibration, got.Calibration, cmpopts.IgnoreUnexported(Calibration{}), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-logs +probabilities):\n%s", diff)
	}
}

func TestKindOf(t *testing.T) {
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
		scores.Data[0] += 20
		got := []ScoreKind{kindOf(p), kindOf(metrics.LogProbabilities(p)), kindOf(scores), kindOf(matrixOf([]float32{-1, 2}))}
		if diff := cmp.Diff([]ScoreKind{Probabilities, Logits, BareScores, BareScores}, got); diff != "" {
			t.Errorf("%v, their logs and others (-want +got):\n%s", p, diff)
		}
	})
}

func TestTables(t *testing.T) {
	birds := birds()
	birds.names[0] = "owl\x1b[2J"
	r := Config{Bins: 2}.evaluate(birds, oddsAmongBirds())
	r.Source = Source{Split: "test", Candidates: "all classes", Dataset: "birds\x1b", Models: []EvaluatedModel{
		{"runs/a", "singletons", 3, 0.5, metrics.Interval{Low: 0.25, High: 0.75}}, {Path: "runs/b", Method: "k-soft", Seed: 4, PerClass: 0.25},
	}}
	r.Validation.Of = []string{"runs/c", "runs/d"}
	r.note("it rained")
	found := strings.Join(strings.Fields(testlab.Text(r.Tables())), " ")
	testkit.WantText(t, found,
		"birds\uFFFD, test among all classes: 5 samples of 3 classes", "mean probabilities of singletons, seed 3, alone 50.0 % per class (95 % over classes: 25.0 to 75.0), runs/a k-soft, seed 4",
		"│ top 1 │ 66.7 % │ 50.0 to 100.0 │ 60.0 % │", "│ as scored │ 75.0 % │ 50.0 % │ 60.0 % │ - │", "0.5000", "stacked: raw, gamma", "expected calibration error, 2 bins",
		"temperature 2", "│ 40 % │ 2 │", "│ crow │ 1 │ 50.0 % │", "Validated with 4 samples of 2 classes: runs/c, runs/d", "Note: it rained.")
	if strings.Contains(found, "\x1b") {
		t.Error("a control character is printed")
	}
}

// writeScores writes scores and labels to files.
func writeScores(t *testing.T, scores dataset.Matrix[float32], labels string) ScoreFiles {
	t.Helper()
	f := ScoreFiles{Labels: testkit.Write(t, t.TempDir(), "labels.txt", labels)}
	f.Scores = filepath.Join(filepath.Dir(f.Labels), "scores.npy")
	testkit.NoError(t, features.WriteNPY(f.Scores, scores))
	return f
}

// Without unseen classes all are unseen; without validation nothing is chosen.
func TestEvaluateScores(t *testing.T) {
	f := writeScores(t, birds().scores, "0 0 1 2 2")
	f.Unseen, f.Kind = "2", Logits
	v := writeScores(t, oddsAmongBirds().scores, "0,0,1,0")
	v.Unseen = "1"
	e := testkit.Must(Config{Bins: 2}.EvaluateScores(t.Context(), f, &v))(t)
	want := Config{Bins: 2}.evaluate(birds(), oddsAmongBirds())
	if *e.HarmonicMean != *want.HarmonicMean || e.ZSL != want.ZSL || *e.AUSUC != *want.AUSUC || *e.ECE != *want.ECE {
		t.Errorf("found %+v, expected %+v", e, want)
	}
	if diff := cmp.Diff(want.Calibrated, e.Calibrated, cmpopts.EquateNaNs(), cmpopts.IgnoreUnexported(Stacking{})); diff != "" {
		t.Errorf("calibrated (-want +got):\n%s", diff)
	}
	alone := testkit.Must(Config{Bins: 2}.EvaluateScores(t.Context(), writeScores(t, birds().scores, "0 0 1 2 2"), nil))(t)
	if alone.ZSL != (0.5+1+0.5)/3 || alone.Seen != nil || len(alone.Notes) != 2 || alone.Kind != BareScores || alone.ECE != nil {
		t.Errorf("without unseen classes and validation: %+v", alone)
	}
	if e.Mistakes[0].True != "0" || e.Source.Scores != f.Scores || e.Source.Labels != f.Labels || len(e.Notes) != 0 || e.Validation.Of[0] != v.Scores {
		t.Errorf("found %+v", e)
	}
}

func TestEvaluateScoresRefuses(t *testing.T) {
	with := func(labels, unseen string) ScoreFiles {
		f := writeScores(t, birds().scores, labels)
		f.Unseen = unseen
		return f
	}
	good := with("0 0 1 2 2", "")
	noProbabilities := good
	noProbabilities.Kind = Probabilities
	nan := writeScores(t, matrixOf([]float32{1, float32(math.NaN())}), "0")
	for _, c := range []struct {
		name  string
		files ScoreFiles
		val   *ScoreFiles
		parts []string
	}{
		{"fewer labels", with("0 0 1 2", ""), nil, []string{"labels.txt", "scores.npy", "expected 5", "found 4"}},
		{"an unknown class", with("0 0 1 2 2", "3"), nil, []string{"scores.npy", "unseen", `found "3"`}},
		{"no unseen samples", with("0 0 1 1 0", "2"), nil, []string{"labels.txt", "seen and of unseen classes, found 5 and 0"}},
		{"no probabilities", noProbabilities, nil, []string{"scores.npy", "sum to 1"}},
		{"unseen classes of one", with("0 0 1 2 2", "2"), &good, []string{good.Scores, "unseen"}},
		{"validation of another kind", writeScores(t, matrixOf([]float32{0.5, 0.5}), "0"), &good, []string{good.Scores, "sum to 1"}},
		{"bad validation", good, &nan, []string{nan.Scores}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Config{Bins: 2}.EvaluateScores(t.Context(), c.files, c.val)
			testkit.WantError(t, err, c.parts...)
		})
	}
}

// Columns are numbers from 0 or 1, or names in CSV scores, also in a file; labels without 0 are noted.
func TestColumnsAndLabels(t *testing.T) {
	labels := testkit.Write(t, t.TempDir(), "labels.txt", "1 1 2 3 3")
	scores := testkit.Write(t, filepath.Dir(labels), "scores.csv", "owl,crow,wren\n5,1,2\n0,3,2\n1,4,4\n7,2,5\n1,2,3\n")
	want := Config{Bins: 2}.evaluate(birds(), nil)
	for _, unseen := range []string{"3", "wren", testkit.Write(t, filepath.Dir(labels), "unseen.txt", "wren\n"), testkit.Write(t, filepath.Dir(labels), "three.txt", "3")} {
		e := testkit.Must(Config{Bins: 2}.EvaluateScores(t.Context(), ScoreFiles{Scores: scores, Labels: labels, Unseen: unseen, From: 1}, nil))(t)
		if *e.HarmonicMean != *want.HarmonicMean || e.UnseenSamples != 2 || e.UnseenClasses != 1 || e.Mistakes[0] != want.Mistakes[0] {
			t.Errorf("unseen %s: %+v", unseen, e)
		}
		testkit.WantText(t, testlab.Text(e.Tables()), "unseen: 2 samples of 1 class; seen: 3 samples of 2 classes")
	}
	_, err := Config{Bins: 2}.EvaluateScores(t.Context(), ScoreFiles{Scores: scores, Labels: labels, Unseen: "wrenn", From: 1}, nil)
	testkit.WantError(t, err, "unseen: expected columns from 1 to 3 of ", `found "wrenn". Did you mean wren?`)
	_, err = Config{Bins: 2}.EvaluateScores(t.Context(), ScoreFiles{Scores: scores, Labels: labels}, nil)
	testkit.WantError(t, err, "found 3", "--index-from 1")
	testkit.Write(t, filepath.Dir(labels), "labels.txt", "1 1 2 2 1")
	e := testkit.Must(Config{Bins: 2}.EvaluateScores(t.Context(), ScoreFiles{Scores: scores, Labels: labels}, nil))(t)
	testkit.WantText(t, testlab.Text(e.Tables()), "all classes are taken for unseen")
	testkit.WantText(t, strings.Join(e.Notes, "\n"), "no label is 0", "(--index-from 1), the per-class accuracy is 41.7 %, not 16.7 %")
}

func TestWriteCSV(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s := birds()
	s.ids = strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	e := Config{Bins: 2}.evaluate(s, nil)
	testkit.NoError(t, e.WriteCSV(dir, fileio.Write))
	for name, want := range map[string]string{
		"confusion.csv":   "true class,predicted,samples\nowl,owl,1\nowl,crow,1\ncrow,crow,1\nwren,owl,1\nwren,wren,1\n",
		"classes.csv":     "class,unseen,samples,accuracy\nowl,false,2,0.5\ncrow,false,1,1\nwren,true,2,0.5\n",
		"seen-unseen.csv": "gamma from,seen,unseen\n-Inf,0.75,0\n-1,0.75,0.5\n0,0.25,0.5\n2,0.25,1\n3,0,1\n",
	} {
		if diff := cmp.Diff(want, testkit.Read(t, filepath.Join(dir, name))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	lines := func(name string) []string {
		return strings.Split(testkit.Read(t, filepath.Join(dir, name)), "\n")
	}
	testkit.WantText(t, lines("samples.csv")[0], "row,label,true class,predicted,confidence as scored,id")
	testkit.WantText(t, lines("samples.csv")[2], "6,0,owl,crow,0.7", ",g")
	testkit.WantText(t, lines("coverage.csv")[5], "as scored,5,1,0.6")
	testkit.WantText(t, lines("reliability.csv")[2], "as scored,0.5,1,")
}

// Files without numbers are not written; numbers that do not exist are null in JSON.
func TestWithoutNumbers(t *testing.T) {
	dir := t.TempDir()
	e := Config{Bins: 2}.evaluate(oddsOfThree(BareScores), nil)
	testkit.NoError(t, e.WriteCSV(dir, fileio.Write))
	if paths := testkit.Must(e.WriteFigures(dir, fileio.Write))(t); len(paths) != 0 {
		t.Errorf("figures %q", paths)
	}
	names := testkit.Must(filepath.Glob(filepath.Join(dir, "*")))(t)
	if len(names) != 3 {
		t.Errorf("found %q, expected classes.csv, confusion.csv and samples.csv", names)
	}
	text := string(testkit.Must(json.Marshal(e))(t))
	testkit.WantText(t, text, `"seen":null`, `"ausuc":null`, `"calibrated":null`, `"ece":null`, `"temperature":null`, `"validation":null`, `"by_class":[`)
}

func TestWriteFigures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pictures")
	e := Config{Bins: 4}.evaluate(birds(), oddsAmongBirds())
	e.Source.Scores = "a & b.npy"
	paths := testkit.Must(e.WriteFigures(dir, fileio.Write))(t)
	for i, want := range []struct{ file, text string }{
		{"reliability.svg", "perfect calibration"}, {"coverage.svg", "temperature 2"}, {"seen-unseen.svg", "calibrated"},
	} {
		if paths[i] != filepath.Join(dir, want.file) {
			t.Errorf("path %s, expected %s", paths[i], want.file)
		}
		text := testkit.Read(t, paths[i])
		testkit.NoError(t, xml.Unmarshal([]byte(text), new(struct{})))
		testkit.WantText(t, text, want.text, "as scored", "a &amp; b.npy")
	}
}
