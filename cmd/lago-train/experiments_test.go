package main

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

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

// folders are the runs in a folder.
func folders(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries := testkit.Must(os.ReadDir(dir))(t)
	return slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() })
}

// A run is trained, listed and reported; a repeated command finds it.
func TestRun(t *testing.T) {
	out := t.TempDir()
	e := lagoTrain(t, small(t, "run", out)...)
	testkit.WantText(t, e.stdout, "LAGO (semantic-hard) on plain, stage full", "validation ", "│ test ", "33.3 %", "6 runs in "+out+", trained in ",
		"\ntest: 33.3 % on 3 unseen classes", "\nnext: lago-train evaluate --model ")
	testkit.Equal(t, "log, since the result says it", e.stderr, "")
	testkit.Equal(t, "runs of two seeds and of ESZSL in the test stage, and the folder of the folds", len(folders(t, out)), 4)
	// run has no --shard, and so the variables of a cluster do not divide it.
	again := process(t, small(t, "run", out, "--quiet", "--json")...)
	again.Env = append(again.Env, "JOB_COMPLETION_INDEX=1")
	var log strings.Builder
	again.Stderr = &log
	var r studies.MethodAccuracy
	decode(t, string(testkit.Must(again.Output())(t)), &r)
	if r.Dataset != "plain" || r.Method != "semantic-hard" || r.Seeds != 2 || len(r.RunDirs) != 6 || log.Len() > 0 {
		t.Errorf("found %+v and %s", r, &log)
	}
	testkit.WantText(t, succeeds(t, "runs", "--from", out, "--stage", "test", "--status", "epochs"), "semantic-hard", "plain")
	page, figures := filepath.Join(out, "r.html"), filepath.Join(out, "figures")
	succeeds(t, "report", "--from", out, "--to", page, "--figures", figures)
	files := testkit.Must(filepath.Glob(filepath.Join(figures, "*.svg")))(t)
	if n := strings.Count(testkit.Read(t, page), "<svg"); n != len(files) {
		t.Errorf("expected as many pictures in the page as files, found %d and %d", n, len(files))
	}
}

// latest is a run of the test stage of the last run command, and never another one in its place: without one of
// its files, or without what the command stored, that is an error, also where ESZSL and the dev stage are beside.
func TestLatest(t *testing.T) {
	out := t.TempDir()
	succeeds(t, small(t, "run", out)...)
	value, last := filepath.Join(out, "latest"), testkit.Must(filepath.Glob(filepath.Join(out, "*-hard-test-seed1-*")))(t)[0]
	latest := func() string { return filepath.Dir(testkit.Must(findModel("--model", value))(t)) }
	testkit.Equal(t, "the last seed", latest(), last)
	e := lagoTrain(t, append([]string{"predict", "--model", value}, onMini(t)...)...)
	testkit.WantText(t, e.stderr, "stage test, random seed 1, in "+last)
	stored := testkit.Must(filepath.Glob(filepath.Join(out, "run-*.json")))(t)[0]
	for _, damaged := range []string{"", stored} {
		for _, file := range []string{train.TrialFile, train.ResultFile, train.CurveFile, train.ModelFile} {
			path := filepath.Join(last, file)
			whole := testkit.Read(t, path)
			testkit.Write(t, path, "", whole[:len(whole)/2])
			testkit.Fails(findModel("--model", value))(t, value, cmp.Or(damaged, file))
			testkit.Write(t, path, "", whole)
		}
		text := testkit.Read(t, stored)
		testkit.Write(t, stored, "", text[:len(text)/2])
	}
	whole := testkit.Read(t, filepath.Join(last, train.ModelFile))
	testkit.Write(t, last, train.ModelFile, whole[:len(whole)-9]+"damaged!!")
	fails(t, small(t, "run", out), filepath.Join(last, train.ModelFile), "checksum")
	testkit.Write(t, last, train.ModelFile, whole)
	testkit.NoError(t, os.Remove(stored))
	testkit.Fails(findModel("--model", value))(t, out, "expected the result of a run command, found none", "lago-train runs")
	succeeds(t, small(t, "run", out, "--method", "eszsl")...)
	testkit.Equal(t, "of another method", strings.Contains(latest(), "eszsl-test-seed0"), true)
}

// run takes the config file of a search as it is. On other data it warns.
func TestSearchThenRun(t *testing.T) {
	out := t.TempDir()
	args := append([]string{"search", "--out", out, "--epochs", "2", "--budget", "3", "--folds", "2"}, onMini(t)...)
	file := filepath.Join(out, "search-plain-semantic-hard.json")
	testkit.WantText(t, succeeds(t, args...), "lago-train run --config "+format.ShellLine(file))
	run := append([]string{"run", "--out", out, "--config"}, file)
	testkit.WantText(t, succeeds(t, append(run, onMini(t)...)...), "unseen classes")
	run[len(run)-1] = writeConfig(t, `{"fingerprint": "that of other data", "stage": "dev", "epochs": 1, "seeds": 1}`)
	testkit.WantText(t, lagoTrain(t, append(run, onMini(t)...)...).stderr, "chosen on other data or another split")
}

// Each flag of each command, typed with the default that the help prints, changes nothing, or is refused because
// of another flag that was typed.
func TestFlagsWithTheirDefaults(t *testing.T) {
	out := t.TempDir()
	model := filepath.Join(out, "run", "latest")
	predicts := slices.Clip(append(onMini(t), "--model", model))
	typed := map[string][]string{ // of others the command line alone is checked
		"run": {"--json"}, "reproduce": {"--json"}, "ablate": {"--json"}, "groups": {"--json"}, "sweep-k": {"--ks", "2", "--json"},
		"noise": {"--ratios", "0.5", "--noise-seeds", "1", "--json"}, "search": {"--budget", "2", "--folds", "1", "--json"}, "compare": {"--methods", "singletons,eszsl", "--tune", "0", "--folds", "1", "--json"},
		"runs": {"--from", filepath.Join(out, "run"), "--json"}, "report": {"--from", filepath.Join(out, "run"), "--to", filepath.Join(out, "report.html")},
		"evaluate": append(predicts, "--json"), "predict": predicts, "explain": append(predicts, "--sample", "1"),
	}
	output := func(words []string, parsed bool) (string, error) {
		file, before := testkit.Must(os.Create(filepath.Join(t.TempDir(), "stdout")))(t), os.Stdout
		os.Stdout = file
		defer func() { os.Stdout = before }()
		app := newApp(file, true)
		for _, c := range slices.Concat(app.Commands, app.Commands[0].Subcommands) {
			if c.Subcommands == nil && parsed {
				c.Action = func(*cli.Context) error { return nil }
			}
		}
		err := app.RunContext(t.Context(), append([]string{usage}, words...))
		return testkit.Read(t, file.Name()), err
	}
	var refused []string
	app := newApp(io.Discard, true)
	testkit.Equal(t, "first command", app.Commands[0].Name, "dataset")
	for i, c := range slices.Concat(app.Commands[0].Subcommands, app.Commands[1:]) {
		more, runs := typed[c.Name]
		words := append([]string{c.Name}, more...)
		if i < len(app.Commands[0].Subcommands) {
			words = []string{"dataset", c.Name}
		}
		if c.Category == app.Commands[2].Category { // of studies
			words = append(small(t, c.Name, filepath.Join(out, c.Name), "--jobs", "1", "--quiet"), more...)
		}
		if c.Name == "search" {
			words = slices.Delete(words, 1, 3) // --seeds
		}
		want, err := output(words, !runs)
		if err == nil { // of finished runs
			want, err = output(words, !runs)
		}
		testkit.NoError(t, err)
		for _, f := range c.Flags {
			s := settingOf(f)
			value, _, _ := strings.Cut(s.DefaultText(), ",")
			if _, err := strconv.ParseFloat(value, 64); s.Note == "" {
				value = s.DefaultText()
			} else if err != nil {
				value = ""
			}
			if value == "" || slices.Contains(words, dashed(s.Key)) {
				continue
			}
			found, err := output(append(slices.Clone(words), "--"+flagOf(s.Key)+"="+value), !runs)
			if err != nil {
				testkit.WantError(t, err, dashed(s.Key)+": expected ")
				refused = append(refused, c.Name+" "+s.Key)
			} else if c.Name != "search" || s.Search == nil { // which it does not vary then
				testkit.Equal(t, c.Name+" "+dashed(s.Key)+" "+value, found, want)
			}
		}
	}
	testkit.Equal(t, "refused beside these", strings.Join(refused, ", "), "describe dry_run, describe draft, describe all, run psi, compare correction, compare rotate_seed, search psi, predict skip_broken")
}

// A command with failed runs prints what it has, counts them and fails.
func TestFailedRunsFailTheCommand(t *testing.T) {
	args := append(small(t, "ablate", t.TempDir(), "--lr", "1e300"), onMini(t)...)
	for _, turn := range []string{"trained", "found"} {
		e := lagoTrain(t, args...)
		if e.code != exitFailed || !strings.Contains(e.stderr, "failed in") || !strings.Contains(e.stdout, "missing") {
			t.Errorf("%s: code %d\n%s\n%s", turn, e.code, e.stdout, e.stderr)
		}
	}
}

// What --print-config prints is the run that it was printed for, and nothing is trained.
func TestPrintConfig(t *testing.T) {
	e := lagoTrain(t, "run", "--dataset", "cub", "--variant", "k-soft", "--config", writeConfig(t, `{"zeta": 2}`), "--lr", "0.25", "--print-config")
	testkit.WantText(t, e.stderr, "0.25                  --lr\n", "settings.json\n", "preset: the authors' settings for k-soft on CUB\n")
	testkit.WantText(t, e.stdout, `"k": 30`, `"lr": 0.25`, `"zeta": 2`, `"epochs": 200`)
	testkit.Equal(t, "printed again", succeeds(t, "run", "--config", writeConfig(t, e.stdout), "--print-config"), e.stdout)
	e = lagoTrain(t, "run", "--dataset", "glyphs", "--method", "k-soft", "--print-config")
	testkit.WantText(t, e.stderr, "\npreprocess   sqrt,l2,whiten        chosen from the data (auto)\n", "\nk            30                    chosen from the data (0)\n")
	testkit.WantText(t, e.stdout, `"preprocess": "auto"`)
}

func TestFindModel(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"runs/glyphs-a-1", "runs/glyphs-b-2", "runs/glyphs-b-3", "other/cub-c-4"} {
		testkit.Write(t, name, train.ModelFile, "")
	}
	testkit.Write(t, dir, "a.csv", "")
	for value, want := range map[string]string{
		"runs/glyphs-a-1": "runs/glyphs-a-1",
		filepath.Join("runs/glyphs-b-3", train.ModelFile): "runs/glyphs-b-3",
		"glyphs-a":   "runs/glyphs-a-1",
		"glyphs-b-3": "runs/glyphs-b-3",
		"other/c":    "other/cub-c-4",
	} {
		testkit.Equal(t, value, testkit.Must(findModel("--model", value))(t), filepath.Join(want, train.ModelFile))
	}
	for value, parts := range map[string][]string{
		"":             {"--model", "none"},
		"glyphs-b":     {"--model", "one run", "2 begin so, such as glyphs-b-2 and glyphs-b-3"},
		"glphs-a-1":    {`"glphs-a-1"`, "Did you mean glyphs-a-1"},
		"empty/latest": {"empty has no runs with a model.safetensors"},
		"latest":       {"--model latest: runs: ", "such as glyphs-a-1"},
		dir + "/a.csv": {"--model: expected a run's folder, a model file", "a.csv"},
	} {
		testkit.Fails(findModel("--model", value))(t, parts...)
	}
}
