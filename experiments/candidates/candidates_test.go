package candidates_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/train"
)

func pets() *train.Saved {
	return &train.Saved{
		Dataset: "pets", Attributes: []string{"legs::four", "legs::two", "flies"}, Groups: []string{"legs", "flies"}, Semantic: []int{0, 0, 1},
		Classes:      []string{"cat", "dog", "owl", "emu", "eel"},
		Descriptions: dataset.Matrix[float64]{Rows: 5, Cols: 3, Data: []float64{1, 0, 0, 1, 0, 0.1, 0, 1, 1, 0, 0.9, 0, 0, 0, 0}},
		Split:        dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{2, 3}},
	}
}

func ExampleOf() {
	set := candidates.Of(candidates.TrainingData(pets()), candidates.Test, candidates.Train)
	fmt.Println(set.What, set.Names)
	// Output: test and train classes [owl emu cat]
}

func TestOf(t *testing.T) {
	d := candidates.TrainingData(pets())
	for _, c := range []struct {
		selections []candidates.Selection
		want       string
	}{
		{[]candidates.Selection{candidates.Val}, "dog"},
		{[]candidates.Selection{candidates.Seen}, "cat dog"},
		{[]candidates.Selection{candidates.All}, "cat dog owl emu eel"},
		{[]candidates.Selection{candidates.Test, candidates.Train, candidates.Seen}, "owl emu cat dog"},
	} {
		set := candidates.Of(d, c.selections...)
		if got := strings.Join(set.Names, " "); got != c.want {
			t.Errorf("%v: found %s, expected %s", c.selections, got, c.want)
		}
		for i, name := range set.Names {
			for z, other := range d.Classes {
				if diff := cmp.Diff(d.Descriptions.Row(z), set.U.Row(i)); name == other && diff != "" {
					t.Errorf("%v: description of %s (-expected +found):\n%s", c.selections, name, diff)
				}
			}
		}
	}
	for z, want := range []candidates.Selection{candidates.Train, candidates.Val, candidates.Test, candidates.Test, candidates.Test} {
		if got := candidates.SelectionOf(d, z); got != want {
			t.Errorf("class %d: found %s, expected %s", z, got, want)
		}
	}
}

func TestReadAndJoin(t *testing.T) {
	d := candidates.TrainingData(pets())
	path := filepath.Join(t.TempDir(), "classes.csv")
	if err := os.WriteFile(path, []byte("class,legs: two,flies\nbat,yes,yes\nrobot,,no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := candidates.Read(t.Context(), path, d)
	if err != nil {
		t.Fatal(err)
	}
	both, err := candidates.Of(d, candidates.Test).Join(read)
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	want := candidates.Set{
		What: "test classes and classes of " + path, Names: []string{"owl", "emu", "bat", "robot"},
		U: dataset.Matrix[float64]{Rows: 4, Cols: 3, Data: []float64{0, 1, 1, 0, 0.9, 0, nan, 1, 1, nan, nan, 0}},
	}
	if diff := cmp.Diff(want, both, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("-expected +found:\n%s", diff)
	}
	if _, err := both.Join(candidates.Of(d, candidates.All)); err == nil || !strings.Contains(err.Error(), `found "owl"`) {
		t.Errorf("a class that is in both sets: %v", err)
	}
}
