package main

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/xlsa17"
	"github.com/lago-train/lago-train/experiments/explain"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/train"
)

// trained runs the test stage of a variant for a moment and returns its folder.
func trained(t *testing.T, more ...string) string {
	t.Helper()
	args := append([]string{"run", "--stage", "test", "--seeds", "1", "--epochs", "2", "--json", "--out", t.TempDir()}, more...)
	var o protocol.Outcome
	decode(t, succeeds(t, args...), &o)
	return o.RunDirs[0]
}

func TestExplain(t *testing.T) {
	data := onMini(t)
	dir := trained(t, data...)
	data = data[:3] // the model knows its data set
	t.Run("a sample of the data set", func(t *testing.T) { explainsASample(t, dir, data) })
	t.Run("a row of a file", func(t *testing.T) { explainsARow(t, dir, data) })
	t.Run("refuses", func(t *testing.T) { explainRefuses(t, dir, data) })
}

func explainsASample(t *testing.T, dir string, data []string) {
	args := append([]string{"explain", "--model", dir, "--sample", "0"}, data...)
	if text := succeeds(t, args...); !strings.HasPrefix(text, "sample 0 of plain is predicted as ") || !strings.Contains(text, "If a single attribute were detected differently") {
		t.Errorf("found:\n%s", text)
	}

	var x explain.Result
	decode(t, succeeds(t, append(args, "--format", "json", "--among", "all", "--top", "2")...), &x)
	var sum float64
	for _, g := range x.Comparisons[0].Groups {
		sum += g.Contribution
	}
	if x.Classes != 12 || math.Abs(sum-x.Comparisons[0].LogOdds) > 1e-9 || len(x.Comparisons[0].Changes) != 2 {
		t.Errorf("of %d classes the groups sum to %g, the log odds are %g", x.Classes, sum, x.Comparisons[0].LogOdds)
	}

	// The file of a model serves as well as its folder, and --against as well as the
	// runner-up.
	out := filepath.Join(t.TempDir(), "page.html")
	args[2] = filepath.Join(dir, train.ModelFile)
	if stdout := succeeds(t, append(args, "--format", "html", "--among", "all", "--out", out, "--against", x.Likely[2].Class)...); stdout != "" {
		t.Errorf("expected nothing on stdout, found %q", stdout)
	}
	page, err := os.ReadFile(out)
	if err != nil || strings.Contains(string(page), "the runner-up") || !strings.HasSuffix(string(page), "</html>\n") {
		t.Errorf("%v, expected a page of the requested comparison:\n%s", err, page)
	}
}

// A row of a file is explained as the sample of the data set that it is, but for the
// label, which a file doesn't know. Its classes can come from a file too.
func explainsARow(t *testing.T, dir string, data []string) {
	var inData, inFile, described explain.Result
	decode(t, succeeds(t, append([]string{"explain", "--model", dir, "--sample", "5", "--among", "test", "--format", "json"}, data...)...), &inData)

	silent := logrus.New()
	silent.SetOutput(io.Discard)
	d, err := xlsa17.Load(t.Context(), filepath.Join(data[1], "plain"), xlsa17.Options{NoCache: true, Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	x := filepath.Join(t.TempDir(), "x.npy")
	if err := features.WriteNPY(x, d.Features); err != nil {
		t.Fatal(err)
	}
	ofFile := []string{"explain", "--model", dir, "--sample", "5", "--features", x, "--format", "json"}
	decode(t, succeeds(t, ofFile...), &inFile)
	if inFile.Sample.Label != nil || inFile.Sample.From != x || inFile.Likely[0] != inData.Likely[0] {
		t.Errorf("of the file %+v, of the data set %+v", inFile.Likely, inData.Likely)
	}

	classes := filepath.Join(t.TempDir(), "classes.json")
	writeText(t, classes, `{"one": {"`+d.Attributes[0].Name+`": "always"}, "other": {"`+d.Attributes[1].Name+`": 0.5}}`)
	decode(t, succeeds(t, append(ofFile, "--classes", classes)...), &described)
	if described.Classes != 2 || described.Among != "classes of "+classes {
		t.Errorf("chosen between %d %s, expected the 2 of the file", described.Classes, described.Among)
	}
	decode(t, succeeds(t, append(ofFile, "--classes", classes, "--among", "test,val", "--impute", "inferred")...), &described)
	if described.Classes != 2+inData.Classes+len(d.Split.Val) || described.Among != "test and val classes and classes of "+classes {
		t.Errorf("chosen between %d %s, expected those of the file and of two parts", described.Classes, described.Among)
	}
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func explainRefuses(t *testing.T, dir string, data []string) {
	files := t.TempDir()
	narrow := filepath.Join(files, "narrow.csv")
	writeText(t, narrow, "1,2\n")
	for _, c := range []struct {
		name  string
		args  []string
		parts []string
	}{
		{"no model", []string{"--sample", "0"}, []string{"--model", "none"}},
		{"a model that does not exist", []string{"--model", "nope", "--sample", "0"}, []string{"--model", `"nope"`}},
		{"no sample", []string{"--model", dir}, []string{"--sample", "none"}},
		{"an empty folder", []string{"--model", files, "--sample", "0"}, []string{files, train.ModelFile}},
		{"a sample beyond", []string{"--model", dir, "--sample", "100000"}, []string{"--sample", "plain", "100000"}},
		{"another data set", []string{"--model", dir, "--sample", "0", "--dataset", "simulated-awa2"}, []string{"plain", "simulated-awa2", "data set"}},
		{"a class that does not exist", []string{"--model", dir, "--sample", "0", "--against", "dodo"}, []string{"--against", `"dodo"`}},
		{"a format that does not exist", []string{"--model", dir, "--sample", "0", "--format", "pdf"}, []string{"--format", `"pdf"`}},
		{"a selection that does not exist", []string{"--model", dir, "--sample", "0", "--among", "gzsl"}, []string{"--among", `"gzsl"`}},
		{"a rule that does not exist", []string{"--model", dir, "--sample", "0", "--impute", "zero"}, []string{"--impute", `"zero"`}},
		{"a file and a data set", []string{"--model", dir, "--sample", "0", "--features", "x.csv", "--dataset", "glyphs"}, []string{"--dataset", "--features"}},
		{"features of another width", []string{"--model", dir, "--sample", "0", "--features", narrow}, []string{narrow, "24", "2"}},
		{"nothing to show", []string{"--model", dir, "--sample", "0", "--top", "0"}, []string{"--top", "at least 1"}},
		{"its model as output", []string{"--model", dir, "--sample", "0", "--out", filepath.Join(dir, train.ModelFile)}, []string{"--out", "does not read"}},
		{"an argument", []string{"--model", dir, "--sample", "0", "plain"}, []string{`"plain"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			refuses(t, append(append([]string{"explain"}, data...), c.args...), c.parts...)
		})
	}
}

// The page of a glyph shows it.
func TestExplainAGlyph(t *testing.T) {
	page := succeeds(t, "explain", "--model", trained(t), "--sample", "680", "--format", "html")
	if !strings.Contains(page, `<img src="data:image/png;base64,`) || !strings.Contains(page, `alt="sample 680 of glyphs"`) {
		t.Error("expected a picture of the glyph in the page")
	}
}
