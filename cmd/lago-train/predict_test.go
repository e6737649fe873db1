package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/experiments/answers/evaluation"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/studies"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
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
	return testkit.Must(catalog.Open(t.Context(), "plain", catalog.Options{DataDir: onMini(t)[1], NoCache: true}))(t)
}

// featureFile writes the features of samples.
func featureFile(t *testing.T, d *dataset.Dataset, samples []int) (string, dataset.Matrix[float32]) {
	t.Helper()
	x := dataset.NewMatrix[float32](len(samples), d.Features.Cols)
	for i, row := range samples {
		copy(x.Row(i), d.Features.Row(row))
	}
	file := filepath.Join(t.TempDir(), "features.npy")
	testkit.NoError(t, tiny.WriteNPY(file, x))
	return file, x
}

// describe writes the descriptions of classes, row by row, in the long form.
func describe(t *testing.T, d *dataset.Dataset, classes []int) string {
	t.Helper()
	text := "class,attribute,value\n"
	for _, z := range classes {
		for m, p := range d.Descriptions.Row(z) {
			if !math.IsNaN(p) {
				text += fmt.Sprintf("%s,%s,%v\n", d.Classes[z], d.Attributes[m].Name, p)
			}
		}
	}
	return testkit.Write(t, t.TempDir(), "classes.csv", text)
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

// Samples of a file and of a data set are predicted alike, in all formats, among known and described classes.
func TestPredict(t *testing.T) {
	runs := t.TempDir()
	succeeds(t, small(t, "compare", runs, "--methods", "semantic-hard,eszsl", "--tune", "0")...)
	lago := testkit.Must(findModel("--model", filepath.Join(runs, "plain-semantic-hard-test-seed0")))(t)
	eszsl := testkit.Must(findModel("--model", filepath.Join(runs, "plain-eszsl-test-seed0")))(t)
	d := mini(t)
	test := d.SamplesOf(d.Split.Test)
	file, x := featureFile(t, d, test)
	from := []string{"predict", "--model", lago, "--features", file}
	predict := func(args ...string) string {
		t.Helper()
		return succeeds(t, append(from, args...)...)
	}

	t.Run("a data set and a file alike", func(t *testing.T) {
		of := records(t, succeeds(t, append([]string{"predict", "--model", lago, "--format", "csv", "--top", "2"}, onMini(t)...)...))
		from := records(t, predict("--format", "csv", "--top", "2"))
		if len(of) != len(test) || len(from) != len(test) {
			t.Fatalf("%d and %d samples, expected %d", len(of), len(from), len(test))
		}
		for i, row := range test {
			if of[i]["sample"] != strconv.Itoa(row) || of[i]["true_class"] != d.Classes[d.Labels[row]] || from[i]["sample"] != strconv.Itoa(i) {
				t.Errorf("sample %d: %v and %v", i, of[i], from[i])
			}
			delete(of[i], "true_class")
			delete(of[i], "id")
			of[i]["sample"] = from[i]["sample"]
			testkit.Equal(t, fmt.Sprintf("sample %d of the file", i), from[i], of[i])
		}
	})
	t.Run("described as the data set does", func(t *testing.T) {
		testkit.Equal(t, "the test classes by a file", predict("--format", "csv", "--classes", describe(t, d, d.Split.Test)), predict("--format", "csv"))
	})
	t.Run("stdin, written to a file", func(t *testing.T) {
		var text strings.Builder
		for i := range x.Rows {
			row := strings.Fields(strings.Trim(fmt.Sprint(x.Row(i)), "[]"))
			text.WriteString(strings.Join(row, ",") + "\n")
		}
		out := filepath.Join(t.TempDir(), "predicted.csv")
		c := process(t, "predict", "--model", lago, "--features", "-", "--format", "csv", "--to", out)
		c.Stdin = strings.NewReader(text.String())
		if log, err := c.CombinedOutput(); err != nil || !strings.Contains(string(log), fmt.Sprintf("samples=%d", len(test))) {
			t.Fatalf("%v:\n%s", err, log)
		}
		testkit.Equal(t, "file", testkit.Read(t, out), predict("--format", "csv"))
	})
	t.Run("scores of another method", func(t *testing.T) {
		args := []string{"predict", "--model", eszsl, "--features", file}
		e := lagoTrain(t, args...)
		testkit.WantText(t, e.stdout, "score")
		testkit.WantText(t, e.stderr, "scores of eszsl are not probabilities")
		testkit.WantText(t, succeeds(t, append(args, "--temperature", "0.1", "--min-confidence", "0.1")...), "probability")
		misused(t, append(args, "--min-confidence", "0.5"), "--min-confidence", "temperature")
	})
	t.Run("a contact sheet, with a file beside it", func(t *testing.T) {
		args := append([]string{"predict", "--model", lago, "--top", "2"}, onMini(t)...)
		out := filepath.Join(t.TempDir(), "sheet.html")
		succeeds(t, append(args, "--format", "html", "--to", out)...)
		testkit.Equal(t, "file beside the sheet", testkit.Read(t, strings.TrimSuffix(out, "html")+"csv"), succeeds(t, append(args, "--format", "csv")...))
		page := testkit.Read(t, out)
		testkit.WantText(t, page, "rather than ", "sheet.csv", format.ClassName(d.Classes[d.Split.Test[0]]))
		testkit.Equal(t, "samples on the page", strings.Count(page, "<li"), len(test))
		misused(t, append(args, "--format", "html"), "--to: expected a file that ends in .html")
	})
	t.Run("latest is the last LAGO model where one is needed", func(t *testing.T) {
		testkit.NoError(t, os.Chtimes(eszsl, time.Time{}, time.Now().Add(time.Hour)))
		explain := func(model string) []string {
			return []string{"explain", "--sample", "0", "--features", file, "--model", model}
		}
		succeeds(t, explain(filepath.Join(runs, "latest"))...)
		misused(t, explain(eszsl), "--model: expected a LAGO model", "found eszsl in "+filepath.Dir(eszsl), "The last LAGO model beside it is plain-semantic-hard-")
	})
	t.Run("refusals", func(t *testing.T) {
		nan := testkit.Write(t, t.TempDir(), "nan.csv", strings.Repeat("1,", x.Cols-1)+"NaN\n")
		kept := filepath.Join(t.TempDir(), "kept.csv")
		model := []string{"predict", "--model", lago}
		fails(t, append(model, "--features", nan, "--to", kept), nan, "finite", "NaN")
		if _, err := os.Stat(kept); err == nil {
			t.Error("a file of the first samples was left")
		}
		narrow := testkit.Write(t, t.TempDir(), "narrow.csv", "1,2\n")
		fails(t, append(model, "--features", narrow), narrow, fmt.Sprintf("expected %d features per sample", x.Cols), "found 2")
		fails(t, append(from, "--candidates", "test,"+describe(t, d, d.Split.Test)), d.Classes[d.Split.Test[0]], "names that differ")
		misused(t, model, "--features", "--dataset")
		for flags, want := range map[string][]string{
			"--dataset plain":                  {"--dataset: expected no --dataset beside --features"},
			"--format csv --to '" + lago + "'": {"--to", "does not read"},
			"--format html --to s.html":        {"--format: expected samples of --images or --dataset"},
		} {
			misused(t, append(from, words(flags)...), want...)
		}
	})
}

func TestExplain(t *testing.T) {
	dir, d, data := trained(t, onMini(t)...), mini(t), onMini(t)[:2] // the model knows its data set
	args := append([]string{"explain", "--model", dir, "--sample", "5"}, data...)
	testkit.WantText(t, succeeds(t, args...), "sample 5 of plain) is predicted as ")
	all := printed[predictor.Explanation](t, append(args, "--format", "json", "--candidates", "all")...)
	// The file of a model serves as well as its folder, and --against as well as the runner-up.
	out := filepath.Join(t.TempDir(), "page.html")
	page := append([]string{"explain", "--model", filepath.Join(dir, train.ModelFile), "--sample", "5", "--format", "html", "--candidates", "all"}, data...)
	succeeds(t, append(page, "--to", out, "--against", all.Likely[2].Class)...)
	if html := testkit.Read(t, out); strings.Contains(html, "the runner-up") || !strings.HasSuffix(html, "</html>\n") {
		t.Errorf("expected a page of the requested comparison:\n%s", html)
	}

	// A row of a file is explained as the sample of the data set that it is, but for the label.
	file, _ := featureFile(t, d, d.Features.AllRows())
	ofFile := []string{"explain", "--model", dir, "--sample", "5", "--features", file, "--format", "json"}
	inData, inFile := printed[predictor.Explanation](t, append(args, "--candidates", "test", "--format", "json")...), printed[predictor.Explanation](t, ofFile...)
	if inFile.Sample.Label != nil || inFile.Sample.From != file || inFile.Likely[0] != inData.Likely[0] {
		t.Errorf("of the file %+v, of the data set %+v", inFile.Likely, inData.Likely)
	}
	// The page of a glyph shows it.
	html := succeeds(t, "explain", "--model", trained(t), "--sample", "680", "--format", "html")
	testkit.WantText(t, html, `<img src="data:image/jpeg;base64,`, `alt="sample 680 of glyphs"`)

	misused(t, []string{"explain", "--model", dir}, "--sample", "none")
	misused(t, append(args, "--sample", "100000"), "--sample", "plain", "100000")
	misused(t, append(args, "--image", "x.png"), "--sample: expected no --sample beside --image")
}

// evaluationOf runs evaluate with --json.
func evaluationOf(t *testing.T, args ...string) evaluation.Result {
	t.Helper()
	return printed[evaluation.Result](t, append([]string{"evaluate", "--json"}, args...)...)
}

// The accuracies are those of the scores and the samples that are written.
func TestEvaluate(t *testing.T) {
	run := runOnMini(t, "--hold-out", "--json", "--lr", "0.01")
	printed[studies.MethodAccuracy](t, append(run, "--stage", "dev")...) // which the test stage does not choose by
	ran := printed[studies.MethodAccuracy](t, run...)
	tested, data, out := ran.RunDirs[4:], onMini(t)[:2], t.TempDir()
	path := filepath.Join(out, "scores.npy")
	e := evaluationOf(t, append(data, "--model", tested[0], "--candidates", "all", "--scores-out", path, "--csv", out)...)
	if e.Source.Split != "test" || e.Source.Candidates != "all classes" || e.Source.Dataset != "plain" || e.Validation == nil || e.Seen == nil {
		t.Fatalf("found %+v", e)
	}
	var labels []int
	for _, row := range records(t, testkit.Read(t, filepath.Join(out, "samples.csv"))) {
		labels = append(labels, testkit.Must(strconv.Atoi(row["label"]))(t))
	}
	scores := testkit.Must(features.ReadAll(t.Context(), path))(t)
	testkit.Equal(t, "accuracy", metrics.Count(scores, labels).Accuracy().PerClass, e.PerClass)
	testkit.WantText(t, succeeds(t, append([]string{"evaluate", "--model", tested[1]}, data...)...), "plain, test: ", "seed 1", "Validated with")
	misused(t, []string{"evaluate", "--model", tested[0], "--model", tested[1]}, "--model: expected one model", "softmax of --scores-out")

	misused(t, []string{"evaluate", "--model", tested[0], "--scores-out", filepath.Join(tested[0], train.ModelFile)}, "--scores-out", "does not read")
	fails(t, []string{"evaluate", "--model", out}, out, "folder of a run", train.ModelFile)
	// The error of a model that was trained on the held-out samples says how to train another.
	fails(t, append([]string{"evaluate", "--model", trained(t, onMini(t)...), "--candidates", "all"}, data...), "Train one with run or compare --hold-out.")
}

// Probabilities have the temperature of the model; the candidates are named, and samples of other
// classes counted.
func TestCalibratedPredictions(t *testing.T) {
	data := onMini(t)
	dir := trained(t, data...)
	args := func(command string, more ...string) []string {
		return append(append([]string{command, "--model", dir}, data...), more...)
	}
	before := succeeds(t, args("predict", "--format", "csv")...)
	path := filepath.Join(dir, train.ModelFile)
	m := testkit.Must(train.Load(path))(t)
	m.Decision.Calibration = &model.Calibration{Temperature: 0.25, ErrorAfter: 0.1, Samples: 9, Classes: 3}
	testkit.NoError(t, train.Save(path, m))
	e := lagoTrain(t, args("predict", "--format", "csv")...)
	testkit.WantText(t, e.stderr, "calibrated on the validation classes (temperature 0.25", "choosing from 3 classes: ", "3 unseen, 0 seen in training")
	given := lagoTrain(t, args("predict", "--format", "csv", "--temperature", "0.25")...)
	if e.stdout != given.stdout || e.stdout == before || strings.Contains(given.stderr, "calibrated") {
		t.Errorf("found\n%s\nexpected\n%s", e.stdout, given.stdout)
	}
	testkit.Equal(t, "not calibrated", succeeds(t, args("predict", "--format", "csv", "--temperature", "1")...), before)
	outside := lagoTrain(t, args("predict", "--split", "train", "--candidates", "test")...)
	testkit.WantText(t, outside.stderr, "belong to none of the candidates")
}
