package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompareCommand(t *testing.T) {
	out := t.TempDir()
	args := []string{"compare", "--dataset", "glyphs", "--methods", "semantic-hard,eszsl", "--tune", "0", "--seeds", "1", "--epochs", "2", "--out", out}
	table := succeeds(t, args...)
	for _, want := range []string{"Methods on glyphs", "LAGO-Semantic-Hard", "ESZSL", "ahead of LAGO", "eszsl: 1 epochs, gamma "} {
		if !strings.Contains(table, want) {
			t.Errorf("expected %q in\n%s", want, table)
		}
	}
	var printed struct {
		Methods []struct {
			Name string
			Val  struct {
				PerClassAccuracy any `json:"per_class_accuracy"`
			}
			Test struct {
				PerClass struct {
					Mean, SEM float64
					Values    []float64
				} `json:"per_class_accuracy"`
			}
			Seconds  float64
			Settings map[string]any
		}
	}
	text := succeeds(t, append(args, "--json")...)
	if err := json.Unmarshal([]byte(text), &printed); err != nil {
		t.Fatal(err)
	}
	if n := len(printed.Methods); n != 2 {
		t.Fatalf("%d methods", n)
	}
	eszsl := printed.Methods[1]
	if eszsl.Name != "eszsl" || eszsl.Val.PerClassAccuracy == nil || eszsl.Test.PerClass.Mean < 0.5 ||
		len(eszsl.Test.PerClass.Values) != 1 || eszsl.Settings["gamma"] == nil || eszsl.Seconds <= 0 {
		t.Errorf("%+v", eszsl)
	}
	stored, err := os.ReadFile(filepath.Join(out, "compare-glyphs.json"))
	if err != nil || string(stored) != text {
		t.Errorf("stored %s, %v, expected what is printed", stored, err)
	}
}

func TestCompareCommandRefuses(t *testing.T) {
	out := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--methods", "svm"}, `methods: expected some of lago, singletons, `},
		{[]string{"--set", "eszsl.gamma=-1"}, "eszsl: gamma: expected a finite number above 0, found -1"},
		{[]string{"--set", "eszsl"}, `--set: expected method.setting=value, as in ale.lr=0.1, found "eszsl"`},
		{[]string{"--set", "svm.c=1"}, "--set: method: expected one of "},
		{[]string{"--tune", "-1"}, "tune: expected 0 or more settings, found -1"},
	} {
		refuses(t, append([]string{"compare", "--out", out}, c.args...), c.want)
	}
}
