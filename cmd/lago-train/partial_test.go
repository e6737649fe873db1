package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/robustness"
)

// What noise trained, partial finds.
func TestPartialCommand(t *testing.T) {
	out := t.TempDir()
	succeeds(t, append(small(t, "noise", out), "--methods", "semantic-hard,eszsl", "--noise-seeds", "1", "--ratios", "0.5")...)
	trained := folders(t, out)
	args := append(small(t, "partial", out), "--shares", "1,0.2", "--mask-seeds", "2", "--given", "strongest")
	var p robustness.PartialResult
	decode(t, succeeds(t, append(args, "--json")...), &p)
	if n := len(folders(t, out)); n != len(trained) {
		t.Errorf("%d runs after noise, %d after partial", len(trained), n)
	}
	for _, kind := range []string{"noise", "partial-strongest"} { // for the report
		if stored, err := filepath.Glob(filepath.Join(out, kind+"-plain-*.json")); err != nil || len(stored) != 1 {
			t.Errorf("the results of %s are in %v, %v", kind, stored, err)
		}
	}
	var names []string
	for _, m := range p.Methods {
		names = append(names, m.Method)
		if len(m.Accuracy) != 2 || len(m.Accuracy[1].Values) != 2 {
			t.Errorf("%s: %+v, expected 2 shares of 2 seeds", m.Method, m.Accuracy)
		}
	}
	if diff := cmp.Diff([]string{"semantic-hard", "semantic-hard, inferred", "eszsl", "eszsl, inferred"}, names); diff != "" {
		t.Errorf("methods (-want +got):\n%s", diff)
	}
	if p.Given != robustness.Strongest || !cmp.Equal(p.Shares, []float64{1, 0.2}) || p.MaskSeeds != 2 {
		t.Errorf("%+v", p)
	}
	table := succeeds(t, append(args, "--impute", "neutral")...)
	if !strings.Contains(table, "20.0 %") || strings.Contains(table, "inferred") {
		t.Errorf("expected the neutral kind alone:\n%s", table)
	}
}

// With searched settings, baselines have the preprocessing of semantic-hard.
func TestNoiseOfSearchedSettings(t *testing.T) {
	out, configs := t.TempDir(), t.TempDir()
	writeText(t, filepath.Join(configs, "search-plain-semantic-hard.json"), `{"dataset": "plain", "variant": "semantic-hard", "preprocess": "l2"}`)
	succeeds(t, append(small(t, "noise", out), "--methods", "semantic-hard,eszsl", "--noise-seeds", "1", "--ratios", "0.5", "--configs", configs)...)
	runs, err := lab.ReadRuns(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if r.Preprocess != "l2" {
			t.Errorf("%s was trained with %s", r.Name(), r.Preprocess)
		}
	}
}
