package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/train"
)

// runOnMini are the arguments of a short run of two seeds.
func runOnMini(t *testing.T, more ...string) []string {
	t.Helper()
	return append(append([]string{"run", "--seeds", "2", "--epochs", "3", "--out", t.TempDir()}, onMini(t)...), more...)
}

func TestRunPrintsTheTableAndItsFolders(t *testing.T) {
	out := succeeds(t, runOnMini(t)...)
	for _, part := range []string{"semantic-hard on plain, stage full", "validation ", "test (unseen)", "33.3 %", "s.e.m."} {
		if !strings.Contains(out, part) {
			t.Errorf("stdout doesn't say %q:\n%s", part, out)
		}
	}
	_, list, _ := strings.Cut(out, "4 runs, trained in ")
	_, list, _ = strings.Cut(list, ":\n")
	dirs := strings.Fields(list)
	if len(dirs) != 4 {
		t.Fatalf("%d folders, expected one for each of two seeds in two stages:\n%s", len(dirs), out)
	}
	for _, dir := range dirs {
		for _, file := range []string{train.TrialFile, train.CurveFile, train.ResultFile, train.ModelFile} {
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				t.Error(err)
			}
		}
	}
}

// The choice of an adaptation takes seconds on real data; a repeated command has it already.
func TestRunSaysThatItChoosesAnAdaptation(t *testing.T) {
	args := runOnMini(t, "--seeds", "1")
	for i, want := range []bool{true, false} {
		if e := lagoTrain(t, args...); strings.Contains(e.stderr, "choosing the settings of predict --adapt") != want {
			t.Errorf("time %d: expected %t:\n%s", i+1, want, e.stderr)
		}
	}
}

func TestRunAsJSON(t *testing.T) {
	e := lagoTrain(t, runOnMini(t, "--json", "--stage", "dev", "--variant", "k-soft", "--k", "3")...)
	if e.code != 0 {
		t.Fatal(e.stderr)
	}
	o := object(t, e.stdout)
	compareKeys(t, "run", o, "dataset", "variant", "stage", "seeds", "epochs", "val", "test", "seconds", "blas", "run_dirs", "reused_runs", "trained_from", "trained_to", "adaptation", "config")
	var outcome protocol.Outcome
	decode(t, e.stdout, &outcome)
	if outcome.Dataset != "plain" || outcome.Variant != "k-soft" || outcome.Stage != protocol.OnlyDev || outcome.Seeds != 2 || outcome.Config.K != 3 {
		t.Errorf("found %+v, expected what the flags say", outcome)
	}
	if len(outcome.RunDirs) != 2 || len(outcome.Val.PerClass.Values) != 2 || outcome.BLAS == "" || outcome.Epochs < 1 {
		t.Errorf("found %+v, expected two seeds", outcome)
	}
	if string(o["test"]) != "null" {
		t.Errorf("test is %s, expected null in the dev stage", o["test"])
	}
}

func TestRunWithoutADataSetIsOnGlyphs(t *testing.T) {
	var o protocol.Outcome
	decode(t, succeeds(t, "run", "--seeds", "1", "--epochs", "2", "--json"), &o)
	if o.Dataset != "glyphs" || o.Test == nil || o.Test.PerClass.Mean < 2*o.Test.Chance() {
		t.Errorf("found %+v, expected at least twice chance on the test classes of glyphs", o)
	}
	if !strings.HasPrefix(o.RunDirs[0], "runs"+string(filepath.Separator)) {
		t.Errorf("the folder is %s, expected it below ./runs", o.RunDirs[0])
	}
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.json")
	writeText(t, path, text)
	return path
}

// What --print-config prints is the run that it was printed for, and nothing is trained.
func TestPrintConfig(t *testing.T) {
	flags := []string{"run", "--dataset", "cub", "--variant", "k-soft", "--config", writeConfig(t, `{"zeta": 2}`), "--lr", "0.25", "--print-config"}
	e := lagoTrain(t, flags...)
	if e.code != 0 {
		t.Fatal(e.stderr)
	}
	for _, line := range []string{`lr +0.25 +--lr`, `zeta +2 +/.*settings.json`, `beta +1e-05 +preset: the authors' settings for k-soft on CUB`, `seeds +5 +default`, `epochs +200 +default`} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(e.stderr) {
			t.Errorf("stderr has no line %q:\n%s", line, e.stderr)
		}
	}
	if again := succeeds(t, "run", "--config", writeConfig(t, e.stdout), "--print-config"); again != e.stdout {
		t.Errorf("printed again:\n%s\nexpected\n%s", again, e.stdout)
	}
	for _, key := range []string{`"k": 30`, `"lr": 0.25`, `"zeta": 2`, `"epochs": 200`} {
		if !strings.Contains(e.stdout, key) {
			t.Errorf("stdout has no %s:\n%s", key, e.stdout)
		}
	}
	if strings.Contains(e.stdout, "psi") || strings.Contains(e.stdout, "ridge") {
		t.Errorf("stdout has settings that do not apply:\n%s", e.stdout)
	}
}

func TestAFailedRunNamesItsFolder(t *testing.T) {
	args := runOnMini(t, "--lr", "1e38")
	out := args[6]
	refuses(t, args, filepath.Join(out, "plain-semantic-hard-dev-seed0-"), "phase W")
}

// Each log line of a run fits a terminal.
func TestTheLogLinesOfARunAreShort(t *testing.T) {
	e := lagoTrain(t, runOnMini(t)...)
	for line := range strings.Lines(e.stderr) {
		if n := len(strings.TrimSpace(line)); n > 120 && !strings.Contains(line, "file=") {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// run has no --shard, and so the variables of a cluster do not divide it.
func TestRunIsNotDivided(t *testing.T) {
	c := command(t, runOnMini(t, "--seeds", "1")...)
	c.Env = append(c.Env, "JOB_COMPLETION_INDEX=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// --quiet leaves nothing but results and warnings, and --threads changes none of them.
func TestQuietAndThreads(t *testing.T) {
	var outcomes []protocol.Outcome
	for _, flags := range [][]string{{"--threads", "1"}, {"--threads", "3", "--jobs", "2", "-q"}} {
		e := lagoTrain(t, runOnMini(t, append(flags, "--json")...)...)
		if quiet := len(flags) > 2; e.code != 0 || strings.Contains(e.stderr, "level=info") == quiet {
			t.Errorf("%q ended with %d and %q on stderr", flags, e.code, e.stderr)
		}
		var o protocol.Outcome
		decode(t, e.stdout, &o)
		outcomes = append(outcomes, o)
	}
	if diff := cmp.Diff(outcomes[0].Test, outcomes[1].Test); diff != "" {
		t.Errorf("accuracy with 1 thread and 3 (-1 +3):\n%s", diff)
	}
}
