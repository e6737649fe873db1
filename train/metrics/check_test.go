package metrics

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
)

func TestCheck(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	good := rows([]float32{1, 2}, []float32{3, 4}, []float32{5, 6})
	check := func(scores dataset.Matrix[float32], labels []int) error {
		return cmp.Or(CheckScores(scores), CheckLabels(labels, scores.Rows, scores.Cols))
	}
	if err := check(good, []int{0, 1, 1}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		name   string
		scores dataset.Matrix[float32]
		labels []int
		parts  []string
	}{
		{"no samples", dataset.NewMatrix[float32](0, 3), nil, []string{"scores", "at least one sample", "0 x 3"}},
		{"no classes", dataset.NewMatrix[float32](3, 0), []int{0, 0, 0}, []string{"scores", "3 x 0"}},
		{"data of another size", dataset.Matrix[float32]{Rows: 2, Cols: 2, Data: make([]float32, 3)}, []int{0, 0}, []string{"expected 4", "found 3"}},
		{"fewer labels", good, []int{0, 1}, []string{"labels", "expected 3", "found 2"}},
		{"too high", good, []int{0, 1, 2}, []string{"labels", "from 0 to 1", "found 2 for sample 2"}},
		{"below 0", good, []int{0, -1, 1}, []string{"labels", "found -1 for sample 1"}},
		{"from 1", good, []int{1, 1, 2}, []string{"found 2 for sample 2", "count from 1"}},
		{"no number", rows([]float32{1, 2}, []float32{nan, 4}), []int{0, 0}, []string{"finite", "NaN for sample 1 and class 0"}},
		{"infinite", rows([]float32{1, inf}), []int{0}, []string{"finite", "-Inf for sample 0 and class 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := check(c.scores, c.labels)
			if err == nil {
				t.Fatal("expected an error")
			}
			for _, part := range c.parts {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error doesn't say %q: %v", part, err)
				}
			}
			if c.name == "too high" && strings.Contains(err.Error(), "count from 1") {
				t.Errorf("labels with a 0 don't count from 1: %v", err)
			}
		})
	}
}
