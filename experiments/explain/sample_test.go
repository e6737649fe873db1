package explain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/predict"
)

// small is a data set of three samples of two classes, and a third without any.
func small() *dataset.Dataset {
	return &dataset.Dataset{
		Name: "small", Features: dataset.NewMatrix[float32](3, 2), Labels: []int{1, 0, 1},
		Classes: []string{"owl", "wren", "kiwi"}, Attributes: []dataset.Attribute{{Name: "a", Group: -1}},
		Descriptions: dataset.Matrix[float64]{Rows: 3, Cols: 1, Data: []float64{0.1, 0.2, 0.3}},
		Split:        dataset.Split{Train: []int{1}, Val: []int{0}, Test: []int{2}},
	}
}

// says fails unless an error says all parts.
func says(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("expected an error that says %q, found %v", part, err)
		}
	}
}

func TestFind(t *testing.T) {
	d := small()
	for name, want := range map[string]int{"0": 0, "2": 2} {
		if row, err := Find(d, name); err != nil || row != want {
			t.Errorf("sample %s is %d, %v", name, row, err)
		}
	}
	for _, name := range []string{"3", "-1", "", "two", "1.5", "99999999999999999999"} {
		_, err := Find(d, name)
		says(t, err, "sample", "small", "0 to 2", quote(name))
	}
	wren := "wren"
	if diff := cmp.Diff(Sample{Index: 2, From: "small", Label: &wren}, Of(d, 2)); diff != "" {
		t.Errorf("sample (-want +got):\n%s", diff)
	}
}

func TestReadRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("1,2\n3,nan\n5,6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x, s, err := ReadRow(t.Context(), path, "2", 2) // behind a row that can't be used
	if err != nil || s.Index != 2 || s.From != path || s.Label != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if diff := cmp.Diff([]float32{5, 6}, x.Data); diff != "" {
		t.Errorf("features (-want +got):\n%s", diff)
	}
	_, _, err = ReadRow(t.Context(), path, "1", 2)
	says(t, err, path, "nan")
	_, _, err = ReadRow(t.Context(), path, "3", 2)
	says(t, err, path, "3 rows", "0 to 2", `"3"`)
	_, _, err = ReadRow(t.Context(), path, "first", 2)
	says(t, err, path, `"first"`)
	_, _, err = ReadRow(t.Context(), path, "0", 4)
	says(t, err, path, "4", "2")
	_, _, err = ReadRow(t.Context(), path+".txt", "0", 2)
	says(t, err, path+".txt")
}

func TestPartOf(t *testing.T) {
	for z, want := range []predict.Part{predict.Val, predict.Train, predict.Test} {
		if got := PartOf(small().Split, z); got != want {
			t.Errorf("class %d is of %s, expected %s", z, got, want)
		}
	}
	if got := PartOf(dataset.Split{}, 0); got != predict.Test {
		t.Errorf("a class of no part is of %s", got)
	}
}

func TestFormats(t *testing.T) {
	for _, name := range []string{"text", "json", "html"} {
		var f Format
		if err := f.UnmarshalText([]byte(name)); err != nil || string(f) != name {
			t.Errorf("%s: %s, %v", name, f, err)
		}
	}
	says(t, new(Format).UnmarshalText([]byte("pdf")), "text, json or html", `"pdf"`)
}
