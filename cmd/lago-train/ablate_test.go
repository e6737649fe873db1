package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/train"
)

func TestAblateThenRuns(t *testing.T) {
	out := t.TempDir()
	args := append([]string{"ablate", "--out", out, "--seeds", "1", "--epochs", "2", "--json"}, onMini(t)...)
	trained := succeeds(t, args...)
	o := object(t, trained)
	compareKeys(t, "ablation", o, "dataset", "variant", "alphas", "epochs", "seeds", "rows", "findings", "parts", "missing")
	if again := succeeds(t, args...); again != trained {
		t.Errorf("from the finished runs it is another:\n%s\n%s", trained, again)
	}
	var listed struct{ Runs []struct{ Dir string } }
	decode(t, succeeds(t, "runs", "--from", out, "--status", "epochs", "--json"), &listed)
	if len(listed.Runs) != 8 {
		t.Fatalf("%d runs, expected 8", len(listed.Runs))
	}
	if table := succeeds(t, "runs", "--from", out); strings.Count(table, "semantic-hard") != 2*8 { // folder and variant
		t.Errorf("expected a line for each of 8 runs:\n%s", table)
	}
	if shown := succeeds(t, "runs", "show", listed.Runs[0].Dir); !strings.Contains(shown, "all 2 epochs were run") {
		t.Errorf("expected why it ended:\n%s", shown)
	}
	for _, name := range []string{"latest", filepath.Join(filepath.Base(listed.Runs[0].Dir), train.ModelFile)} {
		if shown := succeeds(t, "runs", "show", filepath.Join(out, name)); !strings.Contains(shown, "all 2 epochs were run") {
			t.Errorf("%s: expected a run:\n%s", name, shown)
		}
	}
	refuses(t, []string{"runs", "show", filepath.Join(out, "glyphs")}, "lago-train runs show: expected a run's folder", "latest")
	shown := object(t, succeeds(t, "runs", "show", "--json", listed.Runs[0].Dir))
	compareKeys(t, "run", shown, "dir", "dataset", "variant", "stage", "seed", "status", "epochs", "best_epoch", "per_class_accuracy",
		"why", "settings", "versions", "blas", "train_accuracy", "per_sample_accuracy", "evaluated_classes", "seconds", "files")
}

func TestSweepKOnMini(t *testing.T) {
	args := append([]string{"sweep-k", "--out", t.TempDir(), "--seeds", "1", "--epochs", "1", "--ks", "1,2"}, onMini(t)...)
	if table := succeeds(t, args...); strings.Count(table, "│ k-soft ") != 2 || !strings.Contains(table, "│ singletons ") {
		t.Errorf("expected two numbers of groups, and singletons:\n%s", table)
	}
	compareKeys(t, "sweep", object(t, succeeds(t, append(args, "--json")...)), "dataset", "seeds", "parts", "points", "lines", "missing")
}

// run takes the config file of a search as it is, and evaluates on the test classes.
func TestSearchThenRun(t *testing.T) {
	out := t.TempDir()
	search := append([]string{"search", "--out", out, "--epochs", "2", "--budget", "3", "--folds", "2"}, onMini(t)...)
	compareKeys(t, "search", object(t, succeeds(t, append(search, "--json")...)),
		"dataset", "variant", "budget", "folds", "trials", "epochs", "space", "tried", "chosen", "missing")
	config := filepath.Join(out, "search-plain-semantic-hard.json")
	if table := succeeds(t, search...); !strings.Contains(table, "lago-train run --config "+config) {
		t.Errorf("expected the name of the config:\n%s", table)
	}
	o := object(t, succeeds(t, append([]string{"run", "--config", config, "--out", out, "--json"}, onMini(t)...)...))
	elsewhere := writeConfig(t, `{"fingerprint": "that of other data", "stage": "dev", "epochs": 1, "seeds": 1}`)
	other := append([]string{"run", "--config", elsewhere, "--out", out}, onMini(t)...)
	again := append([]string{"reproduce", "--configs", filepath.Dir(elsewhere), "--seeds", "1", "--epochs", "1", "--out", out}, onMini(t)...)
	writeText(t, filepath.Join(filepath.Dir(elsewhere), "search-plain-singletons.json"), `{"fingerprint": "that of other data", "dataset": "plain", "variant": "singletons"}`)
	for _, args := range [][]string{other, again} {
		if e := lagoTrain(t, args...); e.code != 0 || strings.Count(e.stderr, "chosen on other data or another split") != 1 {
			t.Errorf("%s: code %d, expected a warning about the data:\n%s", args[0], e.code, e.stderr)
		}
	}
	if string(o["stage"]) != `"test"` || string(o["test"]) == "null" {
		t.Errorf("expected a test stage, found %s with %s", o["stage"], o["test"])
	}
}

// A grid with failed trials prints what it has, counts them and fails.
func TestAGridWithFailedTrialsFails(t *testing.T) {
	configs := t.TempDir()
	bad := `{"dataset": "plain", "variant": "singletons", "lr": 1e300}`
	writeText(t, filepath.Join(configs, "search-plain-singletons.json"), bad)
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

// The whole log, with the progress, is JSON on request.
func TestLogAsJSON(t *testing.T) {
	args := []string{"sweep-k", "--out", t.TempDir(), "--seeds", "1", "--epochs", "1", "--ks", "1", "--log-format", "json", "--log-level", "debug"}
	e := lagoTrain(t, append(args, onMini(t)...)...)
	if e.code != 0 || !strings.Contains(e.stderr, `"progress":"3 of 3 runs done`) || !strings.Contains(e.stderr, `"msg":"matrix products"`) {
		t.Errorf("code %d, stderr:\n%s", e.code, e.stderr)
	}
	for line := range strings.Lines(e.stderr) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}
