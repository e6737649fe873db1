package predict

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/train"
)

func saved() *train.Saved {
	return &train.Saved{
		Method: "semantic-hard", Dataset: "pets", Dims: 3,
		Attributes: []string{"legs::four", "legs::two", "flies"}, Groups: []string{"legs", "flies"}, Semantic: []int{0, 0, 1},
		Classes:      []string{"cat", "dog", "owl", "emu", "eel"},
		Descriptions: dataset.Matrix[float64]{Rows: 5, Cols: 3, Data: []float64{1, 0, 0, 1, 0, 0.1, 0, 1, 1, 0, 0.9, 0, 0, 0, 0}},
		Split:        dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{2, 3}},
	}
}

func TestKnownClasses(t *testing.T) {
	d := Traveller(saved())
	for _, c := range []struct {
		parts []Part
		want  string
	}{
		{[]Part{Test}, "owl emu"},
		{[]Part{Val}, "dog"},
		{[]Part{Train}, "cat"},
		{[]Part{Seen}, "cat dog"},
		{[]Part{All}, "cat dog owl emu eel"},
		{[]Part{Test, Train, Seen}, "owl emu cat dog"},
	} {
		known := Known(d, c.parts...)
		if got := strings.Join(known.Names, " "); got != c.want {
			t.Errorf("%v: %s, expected %s", c.parts, got, c.want)
		}
		for i, name := range known.Names {
			for z, other := range d.Classes {
				if diff := cmp.Diff(d.Descriptions.Row(z), known.U.Row(i)); name == other && diff != "" {
					t.Errorf("%v: description of %s (-want +got):\n%s", c.parts, name, diff)
				}
			}
		}
	}
	var p Part
	if err := p.UnmarshalText([]byte("unseen")); err == nil || !strings.Contains(err.Error(), `test, val, train, seen (train and val) or all, found "unseen"`) {
		t.Error(err)
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDescribedClasses(t *testing.T) {
	d := Traveller(saved())
	described, err := Described(write(t, "a.csv", "class,legs: two,flies\nbat,yes,yes\nrobot,,no\n"), d)
	if err != nil {
		t.Fatal(err)
	}
	both, err := Known(d, Test).And(described)
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	want := Classes{
		Names: []string{"owl", "emu", "bat", "robot"},
		U:     dataset.Matrix[float64]{Rows: 4, Cols: 3, Data: []float64{0, 1, 1, 0, 0.9, 0, nan, 1, 1, nan, nan, 0}},
	}
	if diff := cmp.Diff(want, both, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := both.And(Classes{Names: []string{"owl"}, U: dataset.NewMatrix[float64](1, 3)}); err == nil || !strings.Contains(err.Error(), `found "owl" twice`) {
		t.Errorf("two owls: %v", err)
	}
	if _, err := Described(write(t, "a.csv", "class,wings\nbat,yes\n"), d); err == nil || !strings.Contains(err.Error(), `"wings"`) {
		t.Errorf("an unknown attribute: %v", err)
	}
}

func TestOpenFeatures(t *testing.T) {
	r, err := OpenFeatures(t.Context(), write(t, "a.csv", "1,2,3\n4,5,6\n"), saved())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.npy")
	if err := features.WriteNPY(empty, dataset.NewMatrix[float32](0, 3)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{write(t, "a.csv", "1,2\n"), "features: expected 3 of each sample, as the model of semantic-hard was trained on, found 2"},
		{empty, "expected at least one sample and one value, found (0, 3)"},
		{write(t, "a.csv", ""), "expected at least one line of numbers, found none"},
		{filepath.Join(t.TempDir(), "none.npy"), "no such file"},
		{write(t, "a.txt", ""), "expected features in a file named .npy, .csv or .mat"},
	} {
		if _, err := OpenFeatures(t.Context(), c.path, saved()); err == nil || !strings.HasPrefix(err.Error(), c.path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, expected %s: %s", err, c.path, c.want)
		}
	}
}
