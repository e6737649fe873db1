package predictor

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train"
)

func pets() (*Model, *dataset.Dataset) {
	m := &Model{Saved: &train.Saved{
		Dataset: "pets", Attributes: []string{"legs::four", "legs::two", "flies"}, Groups: []string{"legs", "flies"}, Semantic: []int{0, 0, 1},
		Classes:      []string{"cat", "dog", "owl", "emu", "eel"},
		Descriptions: dataset.Matrix[float64]{Rows: 5, Cols: 3, Data: []float64{1, 0, 0, 1, 0, 0.1, 0, 1, 1, 0, 0.9, 0, 0, 0, 0}},
		Split:        dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{2, 3}},
		Learned:      []int{0, 1},
	}}
	return m, m.TrainingData()
}

func ExampleModel_SelectedCandidates() {
	m, d := pets()
	set := m.SelectedCandidates(d, Test, Train)
	fmt.Println(set.What, set.Names, set.U.Data)
	// Output: test and train classes [owl emu cat] [0 1 1 0 0.9 0 1 0 0]
}

func TestSelections(t *testing.T) {
	m, d := pets()
	for want, selections := range map[string][]Selection{
		"dog": {Val}, "cat dog": {Seen}, "cat dog owl emu eel": {All},
		"owl emu eel": {Unseen}, "owl emu cat dog": {Test, Train, Seen},
	} {
		testkit.Equal(t, fmt.Sprint(selections), strings.Join(m.SelectedCandidates(d, selections...).Names, " "), want)
	}
	for z, want := range []Selection{Train, Val, Test, Test, Test} {
		testkit.Equal(t, fmt.Sprint("class ", z), SelectionOf(d, z), want)
	}
}

func TestNewCandidates(t *testing.T) {
	m, d := pets()
	path := testkit.Write(t, t.TempDir(), "classes.csv", "class,legs: two,flies\nbat,yes,yes\nrobot,,no\n")
	both := testkit.Must(m.NewCandidates(t.Context(), d, []Selection{Test, Selection(path)}, Val))(t)
	nan := math.NaN()
	want := Candidates{
		What: "test classes and classes of " + path, Names: []string{"owl", "emu", "bat", "robot"},
		U: dataset.Matrix[float64]{Rows: 4, Cols: 3, Data: []float64{0, 1, 1, 0, 0.9, 0, nan, 1, 1, nan, nan, 0}},
	}
	testkit.Equal(t, "both", both, want, cmpopts.EquateNaNs())
	if alone := testkit.Must(m.NewCandidates(t.Context(), d, []Selection{Selection(path)}, Val))(t); alone.What != "classes of "+path || len(alone.Names) != 2 {
		t.Errorf("the file alone: %+v", alone)
	}
	testkit.Equal(t, "neither", testkit.Must(m.NewCandidates(t.Context(), d, nil, Val))(t).What, "val classes")
	_, err := both.join(m.SelectedCandidates(d, All))
	testkit.WantError(t, err, `found "owl"`)
}
