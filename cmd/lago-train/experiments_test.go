package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/experiments/studies"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train"
)

// small are the arguments of a command with two short seeds.
func small(t *testing.T, command, out string, more ...string) []string {
	t.Helper()
	return slices.Concat([]string{command, "--seeds", "2", "--epochs", "3", "--out", out}, onMini(t), more)
}

// runOnMini are the arguments of a short run of two seeds.
func runOnMini(t *testing.T, more ...string) []string {
	t.Helper()
	return small(t, "run", t.TempDir(), more...)
}

// folders are the runs in a folder.
func folders(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries := testkit.Must(os.ReadDir(dir))(t)
	return slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() })
}

func TestRun(t *testing.T) {
	out := t.TempDir()
	e := lagoTrain(t, small(t, "run", out)...)
	testkit.WantText(t, e.stdout, "semantic-hard on plain, stage full", "validation ", "│ test ", "33.3 %", "s.e.m.", "6 runs in "+out+", trained in ", "\ntest: 33.3 % on 3 unseen classes", "\nnext: lago-train evaluate --model ")
	// The choice of an adaptation takes seconds on real data; a repeated command has it already.
	const chooses = "choosing the settings of predict --adapt"
	testkit.WantText(t, e.stderr, chooses)
	dirs := folders(t, out)
	testkit.Equal(t, "runs of two seeds and of ESZSL in the test stage, and the folder of the folds", len(dirs), 4)
	// run has no --shard, and so the variables of a cluster do not divide it.
	again := process(t, small(t, "run", out)...)
	again.Env = append(again.Env, "JOB_COMPLETION_INDEX=1")
	if text, err := again.CombinedOutput(); err != nil || strings.Contains(string(text), chooses) {
		t.Errorf("again: %v\n%s", err, text)
	}

	dev := printed[studies.MethodAccuracy](t, small(t, "run", out, "--json", "--stage", "dev", "--variant", "k-soft", "--k", "3")...)
	if dev.Dataset != "plain" || dev.Method != "k-soft" || dev.Seeds != 2 || dev.Test != nil || len(dev.RunDirs) != 2 || len(dev.Val.PerClass.Values) != 2 {
		t.Errorf("found %+v, expected what the flags say", dev)
	}
	glyphs := printed[studies.MethodAccuracy](t, "run", "--seeds", "1", "--epochs", "2", "--json")
	if glyphs.Dataset != "glyphs" || glyphs.Test == nil || glyphs.Test.PerClass.Mean < 2*glyphs.Test.Chance() {
		t.Errorf("found %+v, expected at least twice chance on the test classes of glyphs", glyphs)
	}
	fails(t, small(t, "run", out, "--lr", "1e38"), filepath.Join(out, "splits", "plain-semantic-hard-dev-seed0-"), "phase W")
}

// What --print-config prints is the run that it was printed for, and nothing is trained.
func TestPrintConfig(t *testing.T) {
	flags := []string{"run", "--dataset", "cub", "--variant", "k-soft", "--config", writeConfig(t, `{"zeta": 2}`), "--lr", "0.25", "--print-config"}
	e := lagoTrain(t, flags...)
	for _, line := range []string{`lr +0.25 +--lr`, `zeta +2 +/.*settings.json`, `beta +1e-05 +preset: the authors' settings for k-soft on CUB`, `seeds +5 +default`, `epochs +200 +default`} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(e.stderr) {
			t.Errorf("stderr has no line %q:\n%s", line, e.stderr)
		}
	}
	testkit.Equal(t, "printed again", succeeds(t, "run", "--config", writeConfig(t, e.stdout), "--print-config"), e.stdout)
	testkit.WantText(t, e.stdout, `"k": 30`, `"lr": 0.25`, `"zeta": 2`, `"epochs": 200`)
	testkit.WantNoText(t, e.stdout, "psi", "ridge") // which do not apply
}

// --quiet leaves nothing but results and warnings, and --threads changes none of them.
func TestQuietAndThreads(t *testing.T) {
	var results []studies.MethodAccuracy
	for _, flags := range [][]string{{"--threads", "1"}, {"--threads", "3", "--jobs", "2", "-q"}} {
		e := lagoTrain(t, runOnMini(t, append(flags, "--json")...)...)
		if quiet := len(flags) > 2; e.code != 0 || strings.Contains(e.stderr, "level=info") == quiet {
			t.Errorf("%q ended with %d and %q on stderr", flags, e.code, e.stderr)
		}
		var r studies.MethodAccuracy
		decode(t, e.stdout, &r)
		results = append(results, r)
	}
	testkit.Equal(t, "accuracy with 3 threads", results[1].Test, results[0].Test)
}

// One folder serves all commands: what reproduce trained, the others find, and each stores its
// result, once for each configuration. report shows them.
func TestExperimentsShareRunsAndStoreResults(t *testing.T) {
	out := t.TempDir()
	reproduced := printed[studies.PaperTables](t, small(t, "reproduce", out, "--json")...)
	if len(reproduced.Methods) != 5 || len(reproduced.Missing) > 0 {
		t.Errorf("%d rows, missing %+v", len(reproduced.Methods), reproduced.Missing)
	}
	trained := len(folders(t, out))
	noise := printed[results.Accuracies](t, small(t, "noise", out, "--json", "--noise-seeds", "2", "--ratios", "0,0.5")...)
	last := noise.Rows[len(noise.Rows)-1]
	if len(noise.Rows) != 6 || last.Label() != "eszsl, 50.0 %" || len(last.ByDraw.Values) != 2 {
		t.Errorf("noise: %d rows, the last %q: %+v", len(noise.Rows), last.Label(), last)
	}
	groups := printed[studies.LearnedGroups](t, small(t, "groups", out, "--json")...)
	models := testkit.Must(filepath.Glob(filepath.Join(out, "*-k-soft-test-seed0-*")))(t)
	given := printed[studies.LearnedGroups](t, append([]string{"groups", "--json", "--model", models[0]}, onMini(t)[:2]...)...)
	if groups.Method != "k-soft" || given.NonZero != groups.NonZero || given.All != groups.All {
		t.Errorf("%+v by --model, %+v by training", given, groups)
	}
	testkit.Equal(t, "runs after noise and groups", len(folders(t, out)), trained)
	succeeds(t, small(t, "run", out)...)
	stored := testkit.Must(filepath.Glob(filepath.Join(out, "*.json")))(t)
	kinds := map[string]int{}
	for _, path := range stored {
		kind, _, _ := strings.Cut(filepath.Base(path), "-plain-")
		kinds[kind]++
	}
	testkit.Equal(t, "stored", kinds, map[string]int{"reproduction": 1, "noise": 1, "groups": 1, "run": 1})

	page, figures := filepath.Join(out, "r.html"), filepath.Join(out, "figures")
	args := []string{"report", "--from", out, "--to", page, "--figures", figures}
	succeeds(t, args...)
	html, files := testkit.Read(t, page), testkit.Must(filepath.Glob(filepath.Join(figures, "*.svg")))(t)
	if n := strings.Count(html, "<svg"); n == 0 || n != len(files) {
		t.Errorf("expected as many pictures in the page as files, found %d and %d", n, len(files))
	}
	if s := printed[results.ReportSummary](t, append(args, "--json")...); len(s.Stored) != len(stored) || len(s.Figures) != len(files) {
		t.Errorf("%+v, expected %d results", s, len(stored))
	}
	empty := t.TempDir()
	fails(t, []string{"report", "--from", empty}, empty, "found none")
	misused(t, []string{"report", "--from", out, "--to", "r.pdf"}, "--to: expected a file that ends in .html, found \"r.pdf\". Print the page to PDF")
}

func TestAblateThenRuns(t *testing.T) {
	out := t.TempDir()
	args := []string{"ablate", "--out", out, "--seeds", "2", "--epochs", "2", "--json"}
	args = append(args, onMini(t)...)
	testkit.Equal(t, "designs", len(printed[results.Accuracies](t, args...).Rows), 8)
	listed := printed[results.RunList](t, "runs", "--from", out, "--status", "epochs", "--json")
	testkit.Equal(t, "runs", len(listed.Runs), 16)
	testkit.WantText(t, succeeds(t, "runs", "--from", out), "ablate: Design decisions, plain", "best of 16")
}

// run takes the config file of a search as it is, and evaluates on the test classes.
func TestSearchThenRun(t *testing.T) {
	out := t.TempDir()
	args := append([]string{"search", "--out", out, "--epochs", "2", "--budget", "3", "--folds", "2"}, onMini(t)...)
	found := printed[studies.FoundSettings](t, append(args, "--json")...)
	if want := filepath.Join(out, "search-plain-semantic-hard.json"); found.File != want || len(found.Tried) != 3 || found.Folds != 2 {
		t.Errorf("%+v, expected the file %s", found, want)
	}
	testkit.WantText(t, succeeds(t, args...), "lago-train run --config "+format.ShellLine(found.File))
	r := printed[studies.MethodAccuracy](t, append([]string{"run", "--config", found.File, "--out", out, "--json"}, onMini(t)...)...)
	if r.Test == nil {
		t.Error("expected a test stage")
	}
	elsewhere := writeConfig(t, `{"fingerprint": "that of other data", "stage": "dev", "epochs": 1, "seeds": 1}`)
	testkit.Write(t, filepath.Dir(elsewhere), "search-plain-singletons.json", `{"fingerprint": "that of other data", "dataset": "plain", "method": "singletons"}`)
	for _, args := range [][]string{{"run", "--config", elsewhere}, {"reproduce", "--configs", filepath.Dir(elsewhere), "--seeds", "1", "--epochs", "1"}} {
		if e := lagoTrain(t, append(append(args, "--out", out), onMini(t)...)...); e.code != 0 || strings.Count(e.stderr, "chosen on other data or another split") != 1 {
			t.Errorf("%s: code %d, expected a warning about the data:\n%s", args[0], e.code, e.stderr)
		}
	}
}

// A command with failed trials prints what it has, counts them and fails.
func TestFailedTrialsFailTheCommand(t *testing.T) {
	configs := t.TempDir()
	testkit.Write(t, configs, "search-plain-singletons.json", `{"dataset": "plain", "method": "singletons", "lr": 1e300}`)
	for _, args := range [][]string{
		{"ablate", "--lr", "1e300"},
		{"reproduce", "--lr", "1e300"},
		{"compare", "--methods", "singletons,eszsl", "--tune", "0", "--configs", configs},
		{"noise", "--methods", "singletons", "--lr", "1e300", "--ratios", "0.5"},
	} {
		args = append(append(args, "--seeds", "1", "--epochs", "2", "--out", t.TempDir()), onMini(t)...)
		for _, turn := range []string{"trained", "found"} {
			e := lagoTrain(t, args...)
			if e.code != exitFailed || !strings.Contains(e.stderr, "failed in") || !strings.Contains(e.stdout, "missing") {
				t.Errorf("%s, %s: code %d\n%s\n%s", args[0], turn, e.code, e.stdout, e.stderr)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	args := []string{"compare", "--dataset", "glyphs", "--methods", "semantic-hard,eszsl", "--tune", "0", "--seeds", "1", "--epochs", "2", "--out", out}
	table := succeeds(t, append(args, "--csv", filepath.Join(out, "classes.csv"))...)
	testkit.WantText(t, table, "LAGO and its baselines on glyphs", "semantic-hard", "ESZSL", "95 % over classes", "semantic-hard minus each method", "│ standardise 1 │ epochs 1; ")
	// What fails after the training keeps the table.
	if e := lagoTrain(t, append(args, "--csv", "/dev/full")...); e.code == 0 || e.stdout == "" {
		t.Errorf("ended with %d and %q on stdout:\n%s", e.code, e.stdout, e.stderr)
	}
	r := printed[studies.ComparedMethods](t, append(args, "--json")...)
	if m := r.Methods[1]; m.Name != "eszsl" || m.Test.PerClass.Mean < 0.5 || len(m.Test.PerClass.Values) != 1 {
		t.Errorf("%+v", m)
	}
	testkit.Equal(t, "stored results of both commands", len(testkit.Must(filepath.Glob(filepath.Join(out, "compare-glyphs-*.json")))(t)), 1)
	// With --rotate there are other defaults.
	rotated := printed[studies.ComparedMethods](t, "compare", "--rotate", "3", "--methods", "semantic-hard", "--epochs", "1", "--json", "--out", t.TempDir()).Methods[0]
	if n := len(rotated.Test.PerClass.Values); n != 3 || rotated.Tried != 16 {
		t.Errorf("%d seeds and %d settings, expected 3 and 16", n, rotated.Tried)
	}
}

// Settings that were published for a data set are those of its released features and split. A folder
// of the same name starts from the general defaults, unless those of the paper are asked for.
func TestSettingsOfThePaper(t *testing.T) {
	root := animals(t)
	testkit.NoError(t, os.Rename(filepath.Join(root, "animals"), filepath.Join(root, "cub")))
	args := func(flags ...string) []string {
		return append([]string{"compare", "--data-dir", root, "--dataset", "cub", "--methods", "semantic-hard,eszsl", "--tune", "0", "--folds", "1", "--epochs", "1", "--json", "--out", t.TempDir()}, flags...)
	}
	for _, c := range []struct {
		want  string
		flags []string
	}{
		{"sqrt,l2,whiten", nil},
		{"none", []string{"--preset", "paper"}},
		{"standardize", []string{"--rotate", "3", "--preprocess", "standardize"}},
	} {
		e := lagoTrain(t, args(c.flags...)...)
		var r studies.ComparedMethods
		decode(t, e.stdout, &r)
		for _, m := range r.Methods {
			if got := m.Parts[0].Settings["preprocess"]; got != c.want || m.Published != "" {
				t.Errorf("%s with %q: preprocess %v, published %q, expected %s and none", m.Name, c.flags, got, m.Published, c.want)
			}
		}
		testkit.Equal(t, fmt.Sprintf("%q says how to ask for the settings of the paper", c.flags), strings.Contains(e.stderr, "--preset paper takes those of the authors"), c.flags == nil)
	}
	misused(t, args("--rotate", "3", "--preset", "paper"), "--preset: expected general in a rotation, found paper")
	misused(t, []string{"run", "--preset", "paper"}, "--preset: expected a data set for which the authors published settings, found glyphs")
}

func TestFindModel(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for i, name := range []string{"runs/glyphs-a-1", "runs/glyphs-b-2", "runs/glyphs-b-3", "other/cub-c-4"} {
		path := testkit.Write(t, name, train.ModelFile, "")
		finished := time.Now().Add(time.Duration(i%2) * time.Hour) // glyphs-b-2 is the latest of runs
		testkit.NoError(t, os.Chtimes(path, finished, finished))
	}
	for value, want := range map[string]string{
		"runs/glyphs-a-1": "runs/glyphs-a-1",
		filepath.Join("runs/glyphs-b-3", train.ModelFile): "runs/glyphs-b-3",
		"glyphs-a":     "runs/glyphs-a-1",
		"glyphs-b-3":   "runs/glyphs-b-3",
		"latest":       "runs/glyphs-b-2",
		"other/c":      "other/cub-c-4",
		"other/latest": "other/cub-c-4",
	} {
		testkit.Equal(t, value, testkit.Must(findModel("--model", value))(t), filepath.Join(want, train.ModelFile))
	}
	for value, parts := range map[string][]string{
		"":             {"--model", "none"},
		"glyphs-b":     {"--model", "one run", "2 begin so, such as glyphs-b-2 and glyphs-b-3"},
		"glphs-a-1":    {`"glphs-a-1"`, "Did you mean glyphs-a-1"},
		"empty/latest": {"empty has no runs with a model.safetensors"},
	} {
		testkit.Fails(findModel("--model", value))(t, parts...)
	}
}
