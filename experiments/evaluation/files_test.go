package evaluation

import (
	"encoding/xml"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/testkit"
)

// writeScores writes scores and labels to files.
func writeScores(t *testing.T, scores dataset.Matrix[float32], labels string) ScoreFiles {
	t.Helper()
	f := ScoreFiles{Labels: testkit.Write(t, t.TempDir(), "labels.txt", labels)}
	f.Scores = filepath.Join(filepath.Dir(f.Labels), "scores.npy")
	testkit.NoError(t, features.WriteNPY(f.Scores, scores))
	return f
}

func TestEvaluateScores(t *testing.T) {
	f := writeScores(t, birds().scores, "0 0 1 2 2")
	f.Unseen, f.Kind = []int{2}, Logits
	v := writeScores(t, oddsAmongBirds().scores, "0,0,1,0")
	v.Unseen = []int{1}
	e := testkit.Must(Config{Bins: 2}.EvaluateScores(t.Context(), f, &v))(t)
	want := Config{Bins: 2}.evaluate(birds(), oddsAmongBirds())
	if *e.HarmonicMean != *want.HarmonicMean || e.ZSL != want.ZSL || *e.AUSUC != *want.AUSUC || *e.ECE != *want.ECE {
		t.Errorf("found %+v, expected %+v", e, want)
	}
	if diff := cmp.Diff(want.Calibrated, e.Calibrated, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("calibrated (-want +got):\n%s", diff)
	}
	if e.Mistakes[0].True != "0" || e.Source.Scores != f.Scores || e.Source.Labels != f.Labels || len(e.Notes) != 0 || e.Validation.Of[0] != v.Scores {
		t.Errorf("found %+v", e)
	}
}

// Without unseen classes all are unseen; without validation nothing is chosen.
func TestEvaluateScoresAlone(t *testing.T) {
	f := writeScores(t, birds().scores, "0 0 1 2 2")
	for kind, notes := range map[ScoreKind]int{"": 2, Logits: 1} {
		f.Kind = kind
		e := testkit.Must(Config{Bins: 2}.EvaluateScores(t.Context(), f, nil))(t)
		if e.ZSL != (0.5+1+0.5)/3 || e.Seen != nil || len(e.Notes) != notes || (e.Kind == Logits) != (e.ECE != nil) {
			t.Errorf("found %+v", e)
		}
	}
}

func TestEvaluateScoresRefuses(t *testing.T) {
	with := func(labels string, unseen ...int) ScoreFiles {
		f := writeScores(t, birds().scores, labels)
		f.Unseen = unseen
		return f
	}
	good := with("0 0 1 2 2")
	noProbabilities := good
	noProbabilities.Kind = Probabilities
	testkit.WantError(t, Config{Bins: 0}.Check(), "bins: expected 1 to 10000, found 0")
	nan := writeScores(t, matrixOf([]float32{1, float32(math.NaN())}), "0")
	for _, c := range []struct {
		name  string
		files ScoreFiles
		val   *ScoreFiles
		parts []string
	}{
		{"fewer labels", with("0 0 1 2"), nil, []string{"labels.txt", "scores.npy", "expected 5", "found 4"}},
		{"a class too many", with("0 1 2 3 3"), nil, []string{"labels.txt", "found 3 for sample 3"}},
		{"an unknown class", with("0 0 1 2 2", 3), nil, []string{"scores.npy", "unseen", "found 3"}},
		{"no unseen samples", with("0 0 1 1 0", 2), nil, []string{"labels.txt", "seen and of unseen classes, found 5 and 0"}},
		{"no numbers", nan, nil, []string{nan.Scores, "row 0, column 1", "NaN"}},
		{"no probabilities", noProbabilities, nil, []string{"scores.npy", "sum to 1"}},
		{"unseen classes of one", with("0 0 1 2 2", 2), &good, []string{good.Scores, "unseen"}},
		{"validation of another kind", writeScores(t, matrixOf([]float32{0.5, 0.5}), "0"), &good, []string{good.Scores, "sum to 1"}},
		{"bad validation", good, &nan, []string{nan.Scores}},
		{"no file", ScoreFiles{Scores: "none.npy", Labels: good.Labels}, nil, []string{"none.npy"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Config{Bins: 2}.EvaluateScores(t.Context(), c.files, c.val)
			testkit.WantError(t, err, c.parts...)
		})
	}
}

func TestWriteCSV(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s := birds()
	s.ids = strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	e := Config{Bins: 2}.evaluate(s, nil)
	testkit.NoError(t, e.WriteCSV(dir))
	for name, want := range map[string]string{
		"confusion.csv":   "true class,owl,crow,wren\nowl,1,1,0\ncrow,0,1,0\nwren,1,0,1\n",
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

func TestFilesWithoutNumbersAreNotWritten(t *testing.T) {
	dir := t.TempDir()
	e := Config{Bins: 2}.evaluate(oddsOfThree(BareScores), nil)
	testkit.NoError(t, e.WriteCSV(dir))
	if paths := testkit.Must(e.WriteFigures(dir))(t); len(paths) != 0 {
		t.Errorf("figures %q", paths)
	}
	var names []string
	for _, entry := range testkit.Must(os.ReadDir(dir))(t) {
		names = append(names, entry.Name())
	}
	if diff := cmp.Diff([]string{"classes.csv", "confusion.csv", "samples.csv"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestWriteFigures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pictures")
	e := Config{Bins: 4}.evaluate(birds(), oddsAmongBirds())
	e.Source.Scores = "a & b.npy"
	paths := testkit.Must(e.WriteFigures(dir))(t)
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

func TestThin(t *testing.T) {
	points := []plot.Point{{X: 0}, {X: 0.1}, {X: 0.3}, {X: 0.45}, {X: 0.46}}
	want := []plot.Point{{X: 0}, {X: 0.3}, {X: 0.46}} // the end stays
	if diff := cmp.Diff(want, thin(points)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
