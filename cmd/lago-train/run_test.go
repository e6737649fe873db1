package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	for _, part := range []string{"semantic-hard on plain, full stage", "val ", "test (unseen)", "33.3 %", "s.e.m."} {
		if !strings.Contains(out, part) {
			t.Errorf("stdout doesn't say %q:\n%s", part, out)
		}
	}
	_, list, _ := strings.Cut(out, "files of the runs:\n")
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
	compareKeys(t, "run", o, "dataset", "variant", "stage", "seeds", "epochs", "val", "test", "seconds", "blas", "run_dirs", "config")
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

func TestFlagsGoOverTheConfigFileAndThatOverThePreset(t *testing.T) {
	file := writeConfig(t, `{"dataset": "PLAIN", "variant": "k-soft", "stage": "full", "lr": 0.5, "zeta": 2, "k": 4, "complement": "demorgan"}`)
	data := onMini(t)[:3] // the file names the data set
	want := protocol.PresetFor("plain", model.KSoft).Config
	want.Stage, want.Seeds, want.Epochs = protocol.OnlyDev, 1, 1
	want.Zeta, want.K, want.Complement = 2, 4, model.DeMorgan
	want.LR, want.Prior, want.Seed = 0.25, model.PerAttribute, 9
	got, trial := configFrom(t, append(data, "--config", file, "--lr", "0.25", "--prior", "per-attribute", "--seed", "9")...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if trial.Model.Variant != model.KSoft || trial.Model.K != 4 || trial.Training.LearningRate != 0.25 || trial.Training.Seed != 9 {
		t.Errorf("the trial is %+v, expected that of the config", trial)
	}
}

func TestAVariantByFlagTakesItsOwnPreset(t *testing.T) {
	file := writeConfig(t, `{"variant": "k-soft", "zeta": 2}`)
	want := protocol.PresetFor("plain", model.SemanticSoft).Config
	want.Stage, want.Seeds, want.Epochs, want.Zeta = protocol.OnlyDev, 1, 1, 2
	got, _ := configFrom(t, append(onMini(t), "--config", file, "--variant", "semantic-soft")...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func TestRunRefusesSettings(t *testing.T) {
	file := writeConfig(t, `{"learning_rate": 1}`)
	badly := writeConfig(t, `{"k": "many"}`)
	empty := t.TempDir()
	for _, c := range []struct {
		name  string
		args  []string
		parts []string
	}{
		{"variant", []string{"--variant", "lago"}, []string{"--variant", "singletons, semantic-hard, k-soft, semantic-soft", `"lago"`}},
		{"stage", []string{"--stage", "train"}, []string{"--stage", "dev, test, full", `"train"`}},
		{"prior", []string{"--prior", "flat"}, []string{"--prior", "uniform, per-attribute", `"flat"`}},
		{"preprocess", []string{"--preprocess", "pca"}, []string{"--preprocess", "whiten", `"pca"`}},
		{"no seeds", []string{"--seeds", "0"}, []string{"seeds", "at least 1", "found 0"}},
		{"split", []string{"--dev-split", "4"}, []string{"dev_split", "1, 2 or 3", "found 4"}},
		{"rate", []string{"--lr", "Inf"}, []string{"lr", "above 0", "Inf"}},
		{"ridge", []string{"--ridge", "NaN"}, []string{"ridge", "NaN"}},
		{"psi of a hard variant", []string{"--psi", "1"}, []string{"psi", "semantic-soft"}},
		{"key of the config file", []string{"--config", file}, []string{file, `"learning_rate"`}},
		{"type in the config file", []string{"--config", badly}, []string{badly, `"k"`, "whole number"}},
		{"no config file", []string{"--config", filepath.Join(empty, "none.json")}, []string{"none.json"}},
		{"data set", []string{"--dataset", "awa2", "--data-dir", empty}, []string{`"awa2"`, empty, "lago-train dataset fetch"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			refuses(t, append([]string{"run"}, c.args...), c.parts...)
		})
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
