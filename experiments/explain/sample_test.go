package explain

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
)

// small is a data set of three samples of two classes; a third class has none.
func small() *dataset.Dataset {
	return &dataset.Dataset{
		Name: "small", Features: dataset.NewMatrix[float32](3, 2), Labels: []int{1, 0, 1},
		Classes: []string{"owl", "wren", "kiwi"}, Attributes: []dataset.Attribute{{Name: "a", Group: -1}},
		Descriptions: dataset.Matrix[float64]{Rows: 3, Cols: 1, Data: []float64{0.1, 0.2, 0.3}},
		Split:        dataset.Split{Train: []int{1}, Val: []int{0}, Test: []int{2}},
	}
}

// says fails unless the error contains all parts.
func says(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("expected an error with %q, found %v", part, err)
		}
	}
}

func TestFindSample(t *testing.T) {
	d := small()
	for _, name := range []string{"3", "-1", "", "two", "1.5", "99999999999999999999"} {
		_, err := FindSample(d, name)
		says(t, err, "--sample", "small", "0 to 2", strconv.Quote(name))
	}
	wren := "wren"
	found, err := FindSample(d, "2")
	if diff := cmp.Diff(Sample{Index: 2, From: "small", Label: &wren}, found); diff != "" || err != nil {
		t.Errorf("%v, sample (-expected +found):\n%s", err, diff)
	}
}

func TestReadSample(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("1,2\n3,nan\n5,6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x, s, err := ReadSample(t.Context(), path, "2", 2) // after a row that is not valid
	if err != nil || s.Index != 2 || s.From != path || s.Label != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if diff := cmp.Diff([]float32{5, 6}, x.Data); diff != "" {
		t.Errorf("features (-want +got):\n%s", diff)
	}
	_, _, err = ReadSample(t.Context(), path, "1", 2)
	says(t, err, path, "nan")
	_, _, err = ReadSample(t.Context(), path, "3", 2)
	says(t, err, path, "row: expected 0 to 2", "found 3")
	_, _, err = ReadSample(t.Context(), path, "first", 2)
	says(t, err, path, `"first"`)
	_, _, err = ReadSample(t.Context(), path, "0", 4)
	says(t, err, path, "4", "2")
	_, _, err = ReadSample(t.Context(), path+".txt", "0", 2)
	says(t, err, path+".txt")
}
