package evaluation

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
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
)

// writeScores writes scores and labels to files.
func writeScores(t *testing.T, scores dataset.Matrix[float32], labels string) ScoreFiles {
	t.Helper()
	dir := t.TempDir()
	f := ScoreFiles{Scores: filepath.Join(dir, "scores.npy"), Labels: filepath.Join(dir, "labels.txt")}
	if err := errors.Join(features.WriteNPY(f.Scores, scores), os.WriteFile(f.Labels, []byte(labels), 0o600)); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEvaluateScores(t *testing.T) {
	f := writeScores(t, birds().Scores, "0 0 1 2 2")
	f.Unseen, f.Kind = []int{2}, Logits
	v := writeScores(t, oddsAmongBirds().Scores, "0,0,1,0")
	v.Unseen = []int{1}
	e, err := Config{Bins: 2}.EvaluateScores(t.Context(), f, &v)
	if err != nil {
		t.Fatal(err)
	}
	want := Config{Bins: 2}.evaluate(birds(), oddsAmongBirds())
	if *e.HarmonicMean != *want.HarmonicMean || e.ZSL != want.ZSL || *e.AUSUC != *want.AUSUC || *e.ECE != *want.ECE {
		t.Errorf("found %+v, expected %+v", e, want)
	}
	if diff := cmp.Diff(want.Calibrated, e.Calibrated, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("calibrated (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{v.Scores}, e.Validation.Of); diff != "" {
		t.Errorf("validated by (-want +got):\n%s", diff)
	}
	if e.Mistakes[0].True != "0" || e.Source.Scores != f.Scores || e.Source.Labels != f.Labels || len(e.Notes) != 0 {
		t.Errorf("found %+v", e)
	}
}

// Without --unseen all classes are unseen; without validation nothing is chosen.
func TestEvaluateScoresAlone(t *testing.T) {
	f := writeScores(t, birds().Scores, "0 0 1 2 2")
	e, err := Config{Bins: 2}.EvaluateScores(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.ZSL != (0.5+1+0.5)/3 || e.Seen != nil || e.Kind != BareScores || e.ECE != nil || len(e.Notes) != 2 {
		t.Errorf("found %+v", e)
	}
	f.Kind = Logits
	if e, err = (Config{Bins: 2}).EvaluateScores(t.Context(), f, nil); err != nil || e.ECE == nil || len(e.Notes) != 1 {
		t.Errorf("found %+v, %v", e, err)
	}
}

func TestEvaluateScoresRefuses(t *testing.T) {
	scores := birds().Scores
	good := writeScores(t, scores, "0 0 1 2 2")
	with := func(labels string, change func(*ScoreFiles)) ScoreFiles {
		f := writeScores(t, scores, labels)
		if change != nil {
			change(&f)
		}
		return f
	}
	unseen := func(list ...int) func(*ScoreFiles) { return func(f *ScoreFiles) { f.Unseen = list } }
	nan := writeScores(t, matrixOf([]float32{1, float32(math.NaN())}), "0")
	for _, c := range []struct {
		name  string
		files ScoreFiles
		val   *ScoreFiles
		parts []string
	}{
		{"fewer labels", with("0 0 1 2", nil), nil, []string{"labels.txt", "scores.npy", "expected 5", "found 4"}},
		{"labels from 1", with("1 1 2 3 3", nil), nil, []string{"labels.txt", "from 0 to 2", "count from 1"}},
		{"a class too many", with("0 1 2 3 3", nil), nil, []string{"labels.txt", "found 3 for sample 3"}},
		{"no labels", with("", nil), nil, []string{"labels.txt", "at least one"}},
		{"an unknown class", with("0 0 1 2 2", unseen(3)), nil, []string{"scores.npy", "unseen", "found 3"}},
		{"nothing seen", with("0 0 1 2 2", unseen(0, 1, 2)), nil, []string{"unseen", "at least one seen class among 3"}},
		{"no unseen samples", with("0 0 1 1 0", unseen(2)), nil, []string{"labels.txt", "seen and of unseen classes, found 5 and 0"}},
		{"no numbers", nan, nil, []string{nan.Scores, "row 0, column 1", "NaN"}},
		{"no probabilities", with("0 0 1 2 2", func(f *ScoreFiles) { f.Kind = Probabilities }), nil, []string{"scores.npy", "sum to 1"}},
		{"unseen classes of one", with("0 0 1 2 2", unseen(2)), &good, []string{good.Scores, "unseen"}},
		{"validation of another kind", writeScores(t, matrixOf([]float32{0.5, 0.5}), "0"), &good, []string{good.Scores, "sum to 1"}},
		{"bad validation", good, &nan, []string{nan.Scores}},
		{"no file", ScoreFiles{Scores: "none.npy", Labels: good.Labels}, nil, []string{"none.npy"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Config{Bins: 2}.EvaluateScores(t.Context(), c.files, c.val)
			if err == nil {
				t.Fatal("expected an error")
			}
			for _, part := range c.parts {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("expected an error with %q, found %v", part, err)
				}
			}
		})
	}
}

func readCSV(t *testing.T, dir, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(f).ReadAll()
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestWriteCSV(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	scored := birds()
	scored.IDs = strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	if err := (Config{Bins: 2}).evaluate(scored, nil).WriteCSV(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][][]string{
		"confusion.csv": {{"true class", "owl", "crow", "wren"}, {"owl", "1", "1", "0"}, {"crow", "0", "1", "0"}, {"wren", "1", "0", "1"}},
		"classes.csv": {
			{"class", "unseen", "samples", "accuracy"},
			{"owl", "false", "2", "0.5"},
			{"crow", "false", "1", "1"},
			{"wren", "true", "2", "0.5"},
		},
		"seen-unseen.csv": {
			{"gamma from", "seen", "unseen"},
			{"-Inf", "0.75", "0"},
			{"-1", "0.75", "0.5"},
			{"0", "0.25", "0.5"},
			{"2", "0.25", "1"},
			{"3", "0", "1"},
		},
	} {
		if diff := cmp.Diff(want, readCSV(t, dir, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	samples := readCSV(t, dir, "samples.csv")
	if diff := cmp.Diff([]string{"6", "0", "owl", "crow"}, samples[2][:4]); diff != "" || len(samples) != 6 || samples[0][4] != "confidence as scored" || samples[0][len(samples[0])-1] != "id" || samples[2][len(samples[0])-1] != "g" {
		t.Errorf("samples %v", samples)
	}
	if rows := readCSV(t, dir, "coverage.csv"); len(rows) != 6 || rows[5][3] != "0.6" {
		t.Errorf("coverage %v", rows)
	}
	if rows := readCSV(t, dir, "reliability.csv"); len(rows) != 3 || rows[2][2] != "1" {
		t.Errorf("reliability %v", rows)
	}
}

func TestFilesWithoutNumbersAreNotWritten(t *testing.T) {
	bare, dir := oddsOfThree(), t.TempDir()
	bare.Kind = BareScores
	e := Config{Bins: 2}.evaluate(bare, nil)
	paths, err := e.WriteFigures(dir)
	if err := errors.Join(err, e.WriteCSV(dir)); err != nil || len(paths) != 0 {
		t.Fatal(paths, err)
	}
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if diff := cmp.Diff([]string{"classes.csv", "confusion.csv", "samples.csv"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if readCSV(t, dir, "samples.csv")[2][0] != "1" {
		t.Error("samples of a file are not numbered")
	}
}

func TestWriteFigures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pictures")
	e := Config{Bins: 4}.evaluate(birds(), oddsAmongBirds())
	e.Source.Scores = "a & b.npy"
	paths, err := e.WriteFigures(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ file, text string }{
		{"reliability.svg", "perfect calibration"}, {"coverage.svg", "temperature 2"}, {"seen-unseen.svg", "calibrated"},
	} {
		if paths[i] != filepath.Join(dir, want.file) {
			t.Errorf("path %s, expected %s", paths[i], want.file)
		}
		text, err := os.ReadFile(paths[i])
		if err := errors.Join(err, xml.Unmarshal(text, new(struct{}))); err != nil {
			t.Errorf("%s: %v", want.file, err)
		}
		for _, part := range []string{want.text, "as scored", "a &amp; b.npy"} {
			if !strings.Contains(string(text), part) {
				t.Errorf("expected %q in %s", part, want.file)
			}
		}
	}
}

func TestThin(t *testing.T) {
	points := []plot.Point{{X: 0}, {X: 0.1}, {X: 0.3}, {X: 0.45}, {X: 0.46}}
	want := []plot.Point{{X: 0}, {X: 0.3}, {X: 0.46}} // the end stays
	if diff := cmp.Diff(want, thin(points)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
