package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/train"
)

// trainedOnMini trains LAGO and ESZSL and returns the folders of their test runs.
func trainedOnMini(t *testing.T) (lago, eszsl string) {
	t.Helper()
	out := t.TempDir()
	succeeds(t, append([]string{"compare", "--methods", "semantic-hard,eszsl", "--tune", "0", "--seeds", "1", "--epochs", "3", "--out", out}, onMini(t)...)...)
	only := func(pattern string) string {
		found, err := filepath.Glob(filepath.Join(out, pattern))
		if err != nil || len(found) != 1 {
			t.Fatal(pattern, found, err)
		}
		return found[0]
	}
	return only("*-semantic-hard-test-*"), only("*-eszsl-test-*")
}

// mini is the data set of onMini.
func mini(t *testing.T) *dataset.Dataset {
	t.Helper()
	d, err := catalog.Open(t.Context(), "plain", catalog.Options{DataDir: onMini(t)[1], NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// describe writes the descriptions of classes, row by row, in the long form.
func describe(t *testing.T, d *dataset.Dataset, classes []int, name func(string) string) string {
	t.Helper()
	text := "class,attribute,value\n"
	for _, z := range classes {
		for m, p := range d.Descriptions.Row(z) {
			if !math.IsNaN(p) {
				text += fmt.Sprintf("%s,%s,%v\n", name(d.Classes[z]), d.Attributes[m].Name, p)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "classes.csv")
	writeText(t, path, text)
	return path
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

// Samples of a file and of a data set are predicted alike, in all formats, among known
// and described classes.
func TestPredict(t *testing.T) {
	lago, eszsl := trainedOnMini(t)
	d := mini(t)
	test := d.SamplesOf(d.Split.Test)
	x := dataset.NewMatrix[float32](len(test), d.Features.Cols)
	for i, row := range test {
		copy(x.Row(i), d.Features.Row(row))
	}
	file := filepath.Join(t.TempDir(), "features.npy")
	if err := features.WriteNPY(file, x); err != nil {
		t.Fatal(err)
	}
	predict := func(args ...string) string {
		t.Helper()
		return succeeds(t, append([]string{"predict"}, args...)...)
	}

	t.Run("a data set and a file alike", func(t *testing.T) {
		of := records(t, predict(append([]string{"--model", lago, "--format", "csv", "--top", "2"}, onMini(t)...)...))
		from := records(t, predict("--model", lago, "--features", file, "--format", "csv", "--top", "2"))
		if len(of) != len(test) || len(from) != len(test) {
			t.Fatalf("%d and %d samples, expected %d", len(of), len(from), len(test))
		}
		for i, row := range test {
			if of[i]["sample"] != strconv.Itoa(row) || of[i]["true_class"] != d.Classes[d.Labels[row]] || from[i]["sample"] != strconv.Itoa(i) {
				t.Errorf("sample %d: %v and %v", i, of[i], from[i])
			}
			delete(of[i], "true_class")
			of[i]["sample"] = from[i]["sample"]
			if diff := cmp.Diff(of[i], from[i]); diff != "" {
				t.Errorf("sample %d (-of the data set +of the file):\n%s", i, diff)
			}
		}
	})

	t.Run("described as the data set does", func(t *testing.T) {
		known := predict("--model", lago, "--features", file, "--format", "jsonl")
		file := []string{"--model", lago, "--features", file, "--format", "jsonl"}
		same := describe(t, d, d.Split.Test, func(s string) string { return s })
		if diff := cmp.Diff(known, predict(append(file, "--classes", same)...)); diff != "" {
			t.Errorf("the test classes by a file (-want +got):\n%s", diff)
		}
		twins := describe(t, d, d.Split.Test, func(s string) string { return "new " + s })
		var first struct {
			Prediction *string
			Top        []struct {
				Class       string
				Probability float64
			}
		}
		line, _, _ := strings.Cut(predict(append(file, "--classes", twins, "--among", "test")...), "\n")
		if err := json.Unmarshal([]byte(line), &first); err != nil {
			t.Fatal(err)
		}
		if a, b := first.Top[0], first.Top[1]; b.Class != "new "+a.Class || a.Probability != b.Probability || *first.Prediction != a.Class {
			t.Errorf("%+v, expected a class and its twin to be as probable", first)
		}
	})

	t.Run("a handful of attributes", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "two.json")
		a := d.Attributes
		text := fmt.Sprintf(`{"this": {%q: "always"}, "that": {%q: "never", %q: 0.5}}`, a[0].Name, a[0].Name, a[len(a)-1].Name)
		writeText(t, path, text)
		args := []string{"--model", lago, "--features", file, "--classes", path}
		neutral, inferred := predict(args...), predict(append(args, "--impute", "inferred")...)
		if !strings.Contains(neutral, "this") || !strings.Contains(neutral, "that") || neutral == inferred {
			t.Errorf("expected two classes, and other probabilities if inferred:\n%s\n%s", neutral, inferred)
		}
	})

	t.Run("abstain", func(t *testing.T) {
		args := []string{"--model", lago, "--features", file, "--min-confidence", "1"}
		for format, want := range map[string]string{"table": "  (abstain) ", "csv": ",,", "jsonl": `"prediction":null`} {
			if out := predict(append(args, "--format", format)...); strings.Count(out, want) < len(test)-1 {
				t.Errorf("%s: expected %q in most lines:\n%s", format, want, out)
			}
		}
	})

	t.Run("stdin, written to a file", func(t *testing.T) {
		var text strings.Builder
		for i := range x.Rows {
			for j, v := range x.Row(i) {
				if j > 0 {
					text.WriteByte(',')
				}
				fmt.Fprint(&text, v)
			}
			text.WriteByte('\n')
		}
		out := filepath.Join(t.TempDir(), "predicted.csv")
		c := command(t, "predict", "--model", lago, "--features", "-", "--format", "csv", "--out", out)
		c.Stdin = strings.NewReader(text.String())
		if printed, err := c.CombinedOutput(); err != nil || !strings.Contains(string(printed), fmt.Sprintf("samples=%d", len(test))) {
			t.Fatalf("%v:\n%s", err, printed)
		}
		written, err := os.ReadFile(out)
		if want := predict("--model", lago, "--features", file, "--format", "csv"); err != nil || string(written) != want {
			t.Errorf("%v:\n%s\nexpected\n%s", err, written, want)
		}
	})

	t.Run("scores of another method", func(t *testing.T) {
		e := lagoTrain(t, "predict", "--model", eszsl, "--features", file)
		if e.code != 0 || !strings.Contains(e.stdout, "score") || !strings.Contains(e.stderr, "scores of eszsl are not probabilities") {
			t.Errorf("%d\n%s\n%s", e.code, e.stdout, e.stderr)
		}
		if out := predict("--model", eszsl, "--features", file, "--temperature", "0.1", "--min-confidence", "0.1"); !strings.Contains(out, "probability") {
			t.Errorf("expected probabilities:\n%s", out)
		}
		refuses(t, []string{"predict", "--model", eszsl, "--features", file, "--min-confidence", "0.5"}, "--min-confidence", "--temperature")
	})

	t.Run("refuses", func(t *testing.T) {
		narrow, nan := filepath.Join(t.TempDir(), "narrow.npy"), filepath.Join(t.TempDir(), "nan.csv")
		if err := features.WriteNPY(narrow, dataset.NewMatrix[float32](1, 2)); err != nil {
			t.Fatal(err)
		}
		writeText(t, nan, strings.Repeat("1,", x.Cols-1)+"NaN\n")
		same := describe(t, d, d.Split.Test, func(s string) string { return s })
		kept := filepath.Join(t.TempDir(), "kept.csv")
		for _, c := range []struct {
			args  []string
			parts []string
		}{
			{nil, []string{"--features", "--dataset"}},
			{[]string{"--features", file, "--dataset", "plain"}, []string{"--features", "--dataset"}},
			{[]string{"--features", file, "--split", "val"}, []string{"--split", "--among"}},
			{[]string{"--features", narrow}, []string{narrow, fmt.Sprintf("expected %d features per sample", x.Cols), "found 2"}},
			{[]string{"--features", nan, "--out", kept}, []string{nan, "finite", "NaN"}},
			{[]string{"--features", file, "--among", "unseen"}, []string{"--among", `"unseen"`}},
			{[]string{"--features", file, "--classes", same, "--among", "test"}, []string{d.Classes[d.Split.Test[0]], "names that differ"}},
			{[]string{"--features", file, "--top", "0"}, []string{"--top", "at least 1"}},
			{[]string{"--features", file, "--temperature", "0"}, []string{"--temperature", "above 0"}},
			{[]string{"--features", file, "--min-confidence", "80"}, []string{"--min-confidence", "80"}},
			{[]string{"--features", file, "--format", "xml"}, []string{"--format", `"xml"`}},
			{[]string{"--features", file, "--out", filepath.Join(lago, "model.safetensors")}, []string{"--out", "does not read"}},
			{[]string{"--features", file, "--impute", "zero"}, []string{"--impute", `"zero"`}},
		} {
			refuses(t, append([]string{"predict", "--model", lago}, c.args...), c.parts...)
		}
		if _, err := os.Stat(kept); err == nil {
			t.Error("a file of the first samples was left")
		}
		refuses(t, []string{"predict", "--model", t.TempDir(), "--features", file}, "model.safetensors")
	})
}

// The first signal ends a command that waits for its input.
func TestWaitingCommandsEndOnTheFirstSignal(t *testing.T) {
	dir := trained(t)
	for _, c := range []struct {
		args   []string
		signal os.Signal
	}{
		{[]string{"predict", "--model", dir, "--features", "-", "--out", "out.csv"}, os.Interrupt},
		{[]string{"predict", "--model", dir, "--features", "-"}, syscall.SIGTERM},
	} {
		cmd := command(t, append(c.args, "--log-level", "debug")...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		s := startCommand(t, cmd)
		s.until(t, "it was set up", func() bool { return strings.Contains(s.stderr.String(), "matrix products") })
		if err := s.cmd.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		select {
		case <-s.over:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: still waiting", c.args[0])
		}
		if code := s.cmd.ProcessState.ExitCode(); code != exitCancelled {
			t.Errorf("%s ended with %d, expected %d:\n%s", c.args[0], code, exitCancelled, &s.stderr)
		}
		if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
			t.Errorf("%s left %v, %v", c.args[0], left, err)
		}
		_ = in.Close() // the program has ended
	}
}

// A data set that differs from the one of the training is reported, as is a sample that
// the model was trained on.
func TestChangedDataAndTrainedSamplesWarn(t *testing.T) {
	dir := trained(t, onMini(t)...)
	d, data := mini(t), onMini(t)[:3]
	sample := func(classes []int) string { return strconv.Itoa(d.SamplesOf(classes)[0]) }
	warns := func(want string, args ...string) {
		t.Helper()
		e := lagoTrain(t, append(append(args, "--model", dir), data...)...)
		if e.code != 0 || !strings.Contains(e.stderr, want) || strings.Contains(e.stderr, "level=warn") != (want != "") {
			t.Errorf("%s: ended with %d, expected the warning %q:\n%s", strings.Join(args, " "), e.code, want, e.stderr)
		}
	}
	warns("", "predict", "--dataset", "plain")
	warns("", "explain", "--sample", sample(d.Split.Test))
	warns("was trained on samples of class", "explain", "--sample", sample(d.Split.Train))
	if text := succeeds(t, append([]string{"explain", "--model", dir, "--sample", sample(d.Split.Train)}, data...)...); !strings.Contains(text, "samples of the true class") {
		t.Errorf("expected a remark on the class, found\n%s", text)
	}

	path := filepath.Join(dir, train.TrialFile)
	record := read(t, path)
	writeText(t, path, strings.Replace(record, d.Fingerprint(), strings.Repeat("0", 64), 1))
	warns("Is it another --dev-split?", "predict", "--dataset", "plain")
	warns("Is it another --dev-split?", "groups")
	warns("Is it another --dev-split?", "explain", "--sample", sample(d.Split.Test))
}
