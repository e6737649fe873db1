package train

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/model"
)

func someCurve() Curve {
	third, half := 1.0/3, 0.5
	return Curve{
		{
			Epoch: 1, TrainAccuracy: math.Nextafter(0.1, 1), ValAccuracy: &third, ValAccuracyPerSample: &half,
			Phases: []Phase{
				{Name: "W", Steps: 3, Seconds: 0.25, Loss: math.Pi, Terms: model.Terms{CXE: 1, BXE: 2, W2: 3, WU2: 4, Prior: 5}},
				{Name: "V", Steps: 3, Seconds: 1e-9, Loss: math.SmallestNonzeroFloat64, Terms: model.Terms{CXE: math.MaxFloat64}},
			},
		},
		{Epoch: 2, Phases: []Phase{{Name: "W"}}}, // without val classes
	}
}

func TestCurveRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), CurveFile)
	for _, want := range []Curve{nil, someCurve(), someCurve()[:1]} {
		if err := want.Write(path); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCurve(path, Test)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
	}
}

// Readers of curve.jsonl depend on its keys.
func TestCurveKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), CurveFile)
	if err := someCurve().Write(path); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(contents(t, path)), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("expected one line per epoch, found %q", lines)
	}
	for _, line := range lines {
		var epoch struct {
			Phases []map[string]json.RawMessage
		}
		var terms map[string]float64
		if err := json.Unmarshal([]byte(line), &epoch); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(epoch.Phases[0]["terms"], &terms); err != nil {
			t.Fatal(err)
		}
		var whole map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &whole); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ want, got []string }{
			{[]string{"epoch", "phases", "train_accuracy", "val_accuracy", "val_accuracy_per_sample"}, slices.Sorted(maps.Keys(whole))},
			{[]string{"loss", "name", "seconds", "steps", "terms"}, slices.Sorted(maps.Keys(epoch.Phases[0]))},
			{[]string{"bxe", "cxe", "prior", "w2", "wu2"}, slices.Sorted(maps.Keys(terms))},
		} {
			if diff := cmp.Diff(c.want, c.got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		}
	}
}

func TestMalformedCurves(t *testing.T) {
	const first = `{"epoch":1,"phases":[],"train_accuracy":0.5}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"a line cut off", first + `{"epoch":2,"pha`, "line 2"},
		{"an empty line", first + "\n", "line 2"},
		{"no JSON", "epoch 1\n", "line 1"},
		{"a list", "[]\n", "line 1"},
		{"a field of the wrong type", `{"epoch":1,"train_accuracy":"half"}` + "\n", "line 1"},
		{"two objects", `{"epoch":1} {"epoch":2}` + "\n", "line 1"},
		{"no epoch", first + "{}\n", "line 2"},
		{"a missing epoch", first + `{"epoch":3}` + "\n", "line 2"},
		{"a duplicate epoch", first + first, "line 2"},
		{"a line that is too long", first + strings.Repeat(" ", 1<<20), "line 2"},
		{"no validation accuracy in the dev stage", `{"epoch":1,"phases":[],"train_accuracy":0.5,"val_accuracy":null,"val_accuracy_per_sample":0.5}` + "\n", "line 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), CurveFile)
			writeFile(t, path, []byte(c.text))
			stage := Test
			if strings.Contains(c.text, "null") {
				stage = Dev
			}
			curve, err := ReadCurve(path, stage)
			if err == nil || !strings.HasPrefix(err.Error(), path+": "+c.want+": expected ") {
				t.Errorf("ReadCurve = %v, %v, expected the error %s: %s", curve, err, path, c.want)
			}
		})
	}
	if _, err := ReadCurve(filepath.Join(t.TempDir(), "none"), Test); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, expected fs.ErrNotExist", err)
	}
}

// A curve that cannot be written leaves the existing file unchanged.
func TestCurveIsWrittenAtomically(t *testing.T) {
	path := filepath.Join(t.TempDir(), CurveFile)
	if err := someCurve().Write(path); err != nil {
		t.Fatal(err)
	}
	before := contents(t, path)
	c := someCurve()
	c[1].TrainAccuracy = math.NaN() // JSON has none
	if err := c.Write(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, expected one that names %s", err, path)
	}
	if diff := cmp.Diff(string(before), string(contents(t, path))); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}
