package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
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

func TestRunAsJSON(t *testing.T) {
	e := lagoTrain(t, runOnMini(t, "--json", "--stage", "dev", "--variant", "k-soft", "--k", "3")...)
	if e.code != 0 {
		t.Fatal(e.stderr)
	}
	o := object(t, e.stdout)
	compareKeys(t, "run", o, "dataset", "variant", "stage", "seeds", "epochs", "val", "test", "seconds", "blas", "run_dirs", "reused_runs", "trained_from", "trained_to", "config")
	var outcome protocol.Outcome
	if err := json.Unmarshal([]byte(e.stdout), &outcome); err != nil {
		t.Fatal(err)
	}
	if outcome.Dataset != "plain" || outcome.Variant != "k-soft" || outcome.Stage != protocol.OnlyDev || outcome.Seeds != 2 {
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
	if err := json.Unmarshal([]byte(succeeds(t, "run", "--seeds", "1", "--epochs", "2", "--json")), &o); err != nil {
		t.Fatal(err)
	}
	if o.Dataset != "glyphs" || o.Test == nil || o.Test.PerClass.Mean < 2*o.Test.Chance() {
		t.Errorf("found %+v, expected at least twice chance on the test classes of glyphs", o)
	}
	if !strings.HasPrefix(o.RunDirs[0], "runs"+string(filepath.Separator)) {
		t.Errorf("the folder is %s, expected it below ./runs", o.RunDirs[0])
	}
}

// configFrom runs a dev stage of one epoch and returns the config that it had, with
// the trial that was made of it.
func configFrom(t *testing.T, args ...string) (protocol.Config, train.Trial) {
	t.Helper()
	args = append([]string{"run", "--out", t.TempDir(), "--json", "--seeds", "1", "--epochs", "1", "--stage", "dev"}, args...)
	var o protocol.Outcome
	if err := json.Unmarshal([]byte(succeeds(t, args...)), &o); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(o.RunDirs[0], train.TrialFile))
	if err != nil {
		t.Fatal(err)
	}
	var trial train.Trial
	if err := json.Unmarshal(data, &trial); err != nil {
		t.Fatal(err)
	}
	return o.Config, trial
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
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

// The settings reach the trial.
func TestRunTrainsWithItsSettings(t *testing.T) {
	got, trial := configFrom(t, append(onMini(t), "--variant", "k-soft", "--k", "4", "--lr", "0.25", "--seed", "9", "--hold-out=false")...)
	if got.LR != 0.25 || got.Seed != 9 || trial.Model.Variant != model.KSoft || trial.Model.K != 4 || trial.Training.LearningRate != 0.25 || trial.Training.Seed != 9 {
		t.Errorf("the config is %+v and the trial %+v", got, trial)
	}
}

func TestAFailedRunNamesItsFolder(t *testing.T) {
	args := runOnMini(t, "--lr", "1e38")
	out := args[6]
	refuses(t, args, filepath.Join(out, "plain-semantic-hard-dev-seed0-"), "phase W")
}

func TestTheLogIsJSONLinesOnRequest(t *testing.T) {
	e := lagoTrain(t, runOnMini(t, "--log-format", "json", "--log-level", "debug")...)
	if e.code != 0 {
		t.Fatal(e.stderr)
	}
	messages := map[string]bool{}
	lines := bufio.NewScanner(strings.NewReader(e.stderr))
	for lines.Scan() {
		var line struct{ Level, Msg string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Errorf("%v: %s", err, lines.Text())
		}
		messages[line.Level+" "+line.Msg] = true
	}
	for _, want := range []string{"info run", "debug matrix products"} {
		if !messages[want] {
			t.Errorf("no %q among %v", want, messages)
		}
	}
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
