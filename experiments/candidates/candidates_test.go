package candidates_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/internal/testkit"
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
	fmt.Println(set.What, set.Names, set.U.Data)
	// Output: test and train classes [owl emu cat] [0 1 1 0 0.9 0 1 0 0]
}

func TestSelections(t *testing.T) {
	d := candidates.TrainingData(pets())
	for want, selections := range map[string][]candidates.Selection{
		"dog": {candidates.Val}, "cat dog": {candidates.Seen}, "cat dog owl emu eel": {candidates.All},
		"owl emu cat dog": {candidates.Test, candidates.Train, candidates.Seen},
	} {
		if got := strings.Join(candidates.Of(d, selections...).Names, " "); got != want {
			t.Errorf("%v: found %s, expected %s", selections, got, want)
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
	path := testkit.Write(t, t.TempDir(), "classes.csv", "class,legs: two,flies\nbat,yes,yes\nrobot,,no\n")
	read := testkit.Must(candidates.Read(t.Context(), path, d))(t)
	both := testkit.Must(candidates.Of(d, candidates.Test).Join(read))(t)
	nan := math.NaN()
	want := candidates.Set{
		What: "test classes and classes of " + path, Names: []string{"owl", "emu", "bat", "robot"},
		U: dataset.Matrix[float64]{Rows: 4, Cols: 3, Data: []float64{0, 1, 1, 0, 0.9, 0, nan, 1, 1, nan, nan, 0}},
	}
	if diff := cmp.Diff(want, both, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("-expected +found:\n%s", diff)
	}
	_, err := both.Join(candidates.Of(d, candidates.All))
	testkit.WantError(t, err, `found "owl"`)
}
