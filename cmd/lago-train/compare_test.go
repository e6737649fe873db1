package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/tuning"
)

func TestCompareCommand(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	args := []string{"compare", "--dataset", "glyphs", "--methods", "semantic-hard,eszsl", "--tune", "0", "--seeds", "1", "--epochs", "2", "--out", out}
	table := succeeds(t, append(args, "--csv", filepath.Join(out, "classes.csv"))...)
	for _, want := range []string{"Methods on glyphs", "LAGO-Semantic-Hard", "ESZSL", "95 % over classes", "LAGO-Semantic-Hard minus each method", "eszsl: 1 epoch, gamma "} {
		if !strings.Contains(table, want) {
			t.Errorf("expected %q in\n%s", want, table)
		}
	}
	if strings.Contains(table, " k 0") || strings.Contains(table, "lr_v") {
		t.Errorf("settings that do not apply to semantic-hard are listed:\n%s", table)
	}
	// What fails after the training keeps the table.
	if e := lagoTrain(t, append(args, "--csv", "/dev/full")...); e.code == 0 || e.stdout == "" {
		t.Errorf("ended with %d and %q on stdout:\n%s", e.code, e.stdout, e.stderr)
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
			Seconds float64
			Parts   []struct{ Settings map[string]any }
		}
	}
	text := succeeds(t, append(args, "--json")...)
	decode(t, text, &printed)
	if n := len(printed.Methods); n != 2 {
		t.Fatalf("%d methods", n)
	}
	eszsl := printed.Methods[1]
	if eszsl.Name != "eszsl" || eszsl.Val.PerClassAccuracy == nil || eszsl.Test.PerClass.Mean < 0.5 ||
		len(eszsl.Test.PerClass.Values) != 1 || eszsl.Parts[0].Settings["gamma"] == nil || eszsl.Seconds <= 0 {
		t.Errorf("%+v", eszsl)
	}
	stored, err := filepath.Glob(filepath.Join(out, "compare-glyphs-*.json"))
	if err != nil || len(stored) != 1 {
		t.Errorf("stored %v, %v, expected one file of both commands", stored, err)
	}
}

// Settings that were published for a data set are not those of a rotation, in which some of the
// classes that they were chosen on are unseen.
func TestRotationStartsFromTheGeneralDefaults(t *testing.T) {
	root := animals(t)
	if err := os.Rename(filepath.Join(root, "animals"), filepath.Join(root, "cub")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{nil, "none"},
		{[]string{"--rotate", "3"}, "sqrt,l2,whiten"},
		{[]string{"--rotate", "3", "--preprocess", "standardize"}, "standardize"},
	} {
		var r tuning.Methods
		args := []string{"compare", "--data-dir", root, "--dataset", "cub", "--methods", "semantic-hard,eszsl", "--tune", "0", "--folds", "1", "--epochs", "1", "--json", "--out", t.TempDir()}
		decode(t, succeeds(t, append(args, c.flags...)...), &r)
		for _, m := range r.Rows {
			for _, p := range m.Parts {
				if p.Settings["preprocess"] != c.want {
					t.Errorf("%s with %q: preprocess %v, expected %s", m.Name, c.flags, p.Settings["preprocess"], c.want)
				}
			}
		}
		if len(r.Rows) != 2 {
			t.Errorf("with %q: %d methods, expected 2", c.flags, len(r.Rows))
		}
	}
}

// With --rotate there are other defaults.
func TestRotationDefaults(t *testing.T) {
	var printed struct {
		Methods []struct {
			Tried int
			Test  struct {
				PerClass struct{ Values []float64 } `json:"per_class_accuracy"`
			}
		}
	}
	decode(t, succeeds(t, "compare", "--rotate", "3", "--methods", "semantic-hard", "--epochs", "1", "--json", "--out", t.TempDir()), &printed)
	m := printed.Methods[0]
	if n := len(m.Test.PerClass.Values); n != 3 || m.Tried != 4 {
		t.Errorf("%d seeds and %d settings, expected 3 and 4", n, m.Tried)
	}
}
