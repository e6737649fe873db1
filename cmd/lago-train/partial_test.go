package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/robustness"
)

// What noise trained, partial finds.
func TestPartialCommand(t *testing.T) {
	out := t.TempDir()
	succeeds(t, append(small(t, "noise", out), "--variants", "semantic-hard,eszsl", "--noise-seeds", "1", "--ratios", "0.5")...)
	trained := folders(t, out)
	args := append(small(t, "partial", out), "--shares", "100,20", "--mask-seeds", "2", "--given", "strongest")
	var p robustness.PartialResult
	decode(t, succeeds(t, append(args, "--json")...), &p)
	if n := len(folders(t, out)); n != len(trained) {
		t.Errorf("%d runs after noise, %d after partial", len(trained), n)
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

func TestPartialCommandRefuses(t *testing.T) {
	for _, c := range []struct {
		args  string
		parts []string
	}{
		{"partial --variants svm", []string{"--variants", `"svm"`, "eszsl"}},
		{"partial --shares 100,0", []string{"shares", "above 0", "found 0"}},
		{"partial --shares 200", []string{"shares", "up to 100", "found 200"}},
		{"partial --mask-seeds 0", []string{"--mask-seeds", "at least 1"}},
		{"partial --impute zero", []string{"--impute", `"zero"`}},
		{"partial --given some", []string{"--given", `"some"`}},
		{"partial cub", []string{`"cub"`}},
	} {
		t.Run(c.args, func(t *testing.T) {
			refuses(t, strings.Fields(c.args), c.parts...)
		})
	}
}
