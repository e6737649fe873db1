package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/answers/evaluation"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/studies"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/train"
)

// trained runs the test stage of a variant for a moment and returns its folder.
func trained(t *testing.T, more ...string) string {
	t.Helper()
	args := append([]string{"run", "--stage", "test", "--seeds", "1", "--epochs", "2", "--json", "--out", t.TempDir()}, more...)
	return printed[studies.MethodAccuracy](t, args...).RunDirs[0]
}

// mini is the data set of onMini.
func mini(t *testing.T) *dataset.Dataset {
	t.Helper()
	return testkit.Must(catalog.Open(t.Context(), "plain", catalog.Options{DataDir: onMini(t)[1]}))(t)
}

// records reads CSV as rows by the names of columns.
func records(t *testing.T, text string) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatal(rows, err)
	}
	var list []map[string]string
	for _, row := range rows[1:] {
		r := map[string]string{}
		for i, cell := range row {
			r[rows[0][i]] = cell
		}
		list = append(list, r)
	}
	return list
}

// From a trained model to predictions, by rows of a file, on standard input and of a data set; a page of them;
// explanations; and an evaluation, whose accuracy is that of the scores that it writes.
func TestPredictExplainEvaluate(t *testing.T) {
	d, data, runs := mini(t), onMini(t), t.TempDir()
	succeeds(t, small(t, "compare", runs, "--methods", "semantic-hard,eszsl", "--tune", "0", "--hold-out")...)
	folder := func(name string) string {
		return filepath.Dir(testkit.Must(findModel("--model", filepath.Join(runs, name)))(t))
	}
	lago, eszsl := folder("plain-semantic-hard-test-seed0"), folder("plain-eszsl-test-seed0")
	test := d.SamplesOf(d.Split.Test)
	x := dataset.NewMatrix[float32](len(test), d.Features.Cols)
	var text strings.Builder
	for i, row := range test {
		copy(x.Row(i), d.Features.Row(row))
		text.WriteString(strings.Join(strings.Fields(strings.Trim(fmt.Sprint(x.Row(i)), "[]")), ",") + "\n")
	}
	file := filepath.Join(t.TempDir(), "features.npy")
	testkit.NoError(t, tiny.WriteNPY(file, x))
	predict := func(args ...string) string {
		t.Helper()
		return succeeds(t, append([]string{"predict", "--model", lago, "--top", "2"}, args...)...)
	}

	ofFile := predict("--features", file, "--format", "csv")
	rows, ofData := records(t, ofFile), records(t, predict(append(data, "--format", "csv")...))
	if len(ofData) != len(test) || len(rows) != len(test) {
		t.Fatalf("%d and %d samples, expected %d", len(ofData), len(rows), len(test))
	}
	for i, row := range test {
		testkit.Equal(t, "true class", ofData[i]["true_class"], d.Classes[d.Labels[row]])
		testkit.Equal(t, "probability", rows[i]["probability_1"], ofData[i]["probability_1"])
	}
	out := filepath.Join(t.TempDir(), "predicted.csv")
	c := process(t, "predict", "--model", lago, "--top", "2", "--features", "-", "--to", out)
	c.Stdin = strings.NewReader(text.String())
	if log, err := c.CombinedOutput(); err != nil || !strings.Contains(string(log), fmt.Sprintf("samples=%d", len(test))) {
		t.Fatalf("%v:\n%s", err, log)
	}
	testkit.Equal(t, "of standard input", testkit.Read(t, out), ofFile)
	sheet := filepath.Join(t.TempDir(), "sheet.html")
	predict(append(data, "--to", sheet)...)
	testkit.WantText(t, testkit.Read(t, sheet), "rather than ", "sheet.csv", format.ClassName(d.Classes[d.Split.Test[0]]))
	testkit.Equal(t, "file beside the sheet", len(records(t, testkit.Read(t, strings.TrimSuffix(sheet, "html")+"csv"))), len(test))
	e := lagoTrain(t, "predict", "--model", eszsl, "--features", file)
	testkit.WantText(t, e.stdout+e.stderr, "score", "scores of eszsl are not probabilities")

	explain := func(args ...string) []string {
		return append([]string{"explain", "--model", lago, "--sample", "5"}, args...)
	}
	testkit.WantText(t, succeeds(t, explain(data[:2]...)...), "sample 5 of plain) is predicted as ")
	inFile := printed[predictor.Explanation](t, explain("--features", file, "--format", "json")...)
	if inFile.Sample.From != file || inFile.Sample.Label != nil || inFile.Likely[0].Class != rows[5]["class_1"] {
		t.Errorf("of the file %+v, predicted %v", inFile.Likely, rows[5])
	}
	misused(t, []string{"explain", "--sample", "0", "--features", file, "--model", eszsl}, "--model: expected a LAGO model", "found eszsl in "+eszsl)

	dir := t.TempDir()
	evaluate := append([]string{"evaluate", "--model", lago, "--candidates", "all"}, data[:2]...)
	found := printed[evaluation.Evaluation](t, append(evaluate, "--json", "--csv", dir)...)
	right, samples := 0, records(t, testkit.Read(t, filepath.Join(dir, "samples.csv")))
	for _, row := range samples {
		if row["predicted"] == row["true class"] {
			right++
		}
	}
	testkit.Equal(t, "accuracy", float64(right)/float64(len(samples)), found.PerSample)
	testkit.WantText(t, succeeds(t, evaluate...), "plain, test among all classes: ", "seed 0")

	kept := filepath.Join(dir, "kept.csv")
	nan := testkit.Write(t, dir, "nan.csv", strings.Repeat("1,", x.Cols-1)+"NaN\n")
	fails(t, []string{"predict", "--model", lago, "--features", nan, "--to", kept}, nan, "finite", "NaN")
	if _, err := os.Stat(kept); err == nil {
		t.Error("a file of the first samples was left")
	}
	misused(t, []string{"predict", "--model", lago, "--features", file, "--to", filepath.Join(lago, train.ModelFile), "--format", "csv"},
		"--to", "does not read")
	misused(t, []string{"predict", "--model", lago, "--features", file, "--dataset", "plain"}, "--dataset: expected no --dataset beside --features")
	misused(t, []string{"predict", "--model", lago, "--features", file, "--format", "html", "--to", "s.html"}, "--format: expected samples of --images or --dataset")
}
