package metrics

import (
	stdcmp "cmp"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
)

func TestAccuracy(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		counts Confusion
		want   Accuracy
		recall []float64
	}{
		{Confusion{{0, 1, 3}, {1, 0, 1}}, Accuracy{0, 0}, []float64{0, 0}},
		{Confusion{{0, 0, 90}, {1, 0, 9}, {1, 1, 1}}, Accuracy{(1 + 0.1) / 2, 0.91}, []float64{1, 0.1}}, // 90 of 90 and 1 of 10
		{
			Confusion{{0, 0, 1}, {0, 1, 1}, {1, 1, 4}, {2, 0, 2}, {2, 1, 1}, {2, 2, 1}},
			Accuracy{(0.5 + 1 + 0.25) / 3, 0.6},
			[]float64{0.5, 1, 0.25},
		},
		{Confusion{{0, 0, 1}, {0, 2, 1}, {2, 2, 2}}, Accuracy{0.75, 0.75}, []float64{0.5, nan, 1}}, // a class without samples
	} {
		got := c.counts.Tally(len(c.recall)).Recall()
		diff := cmp.Diff(c.want, c.counts.Accuracy(), cmpopts.EquateApprox(0, 1e-15)) + cmp.Diff(c.recall, got, cmpopts.EquateNaNs())
		if diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.counts, diff)
		}
	}
}

func TestConfuse(t *testing.T) {
	low := float32(math.Inf(-1))
	got := testkit.Must(Confuse(rows(
		[]float32{0, 2, 1},
		[]float32{-5, -7, -6},
		[]float32{1, 3, 3}, // a tie: the first wins
		[]float32{0, 0, 0},
		[]float32{low, low, -9},
		[]float32{low, low, low},
		[]float32{9, 0, 0},
	), []int{1, 2, 2, 1, 2, 0, 2}))(t)
	testkit.Equal(t, "confusion", got, Confusion{{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {2, 0, 2}, {2, 1, 1}, {2, 2, 1}})
	_, err := Confuse(rows([]float32{1, float32(math.NaN()), 0}), []int{0})
	testkit.WantError(t, err, "scores of sample 0: expected numbers, found NaN")
}

func TestCheck(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	good := rows([]float32{1, 2}, []float32{3, 4}, []float32{5, 6})
	check := func(scores dataset.Matrix[float32], labels []int) error {
		return stdcmp.Or(CheckScores(scores), CheckLabels(labels, scores.Rows, scores.Cols))
	}
	testkit.NoError(t, check(good, []int{0, 1, 1}))
	for _, c := range []struct {
		scores dataset.Matrix[float32]
		labels []int
		want   string
	}{
		{dataset.NewMatrix[float32](0, 3), nil, "scores: expected at least one sample and one class, found 0 x 3"},
		{good, []int{0, 1}, "labels: expected 3, one per sample of the scores, found 2"},
		{good, []int{0, -1, 1}, "labels: expected classes from 0 to 1, found -1 for sample 1"},
		{good, []int{1, 1, 2}, "found 2 for sample 2. There is a 2 and no 0: labels that count from 1 need --index-from 1."},
		{rows([]float32{1, 2}, []float32{nan, 4}), []int{0, 0}, "scores: expected finite numbers, found NaN for sample 1 and class 0"},
		{rows([]float32{1, inf}), []int{0}, "found -Inf for sample 0 and class 1"},
	} {
		testkit.WantError(t, check(c.scores, c.labels), c.want)
	}
	if err := check(good, []int{0, 1, 2}); err == nil || strings.Contains(err.Error(), "count from 1") {
		t.Errorf("labels with a 0: %v, expected no hint that they count from 1", err)
	}
}

// The true class is third, first, second (after an equal score) and first.
func TestTopK(t *testing.T) {
	scores := rows([]float32{3, 2, 1}, []float32{3, 2, 1}, []float32{5, 5, 0}, []float32{0, 0, 0})
	labels := []int{2, 0, 1, 0}
	for k, want := range map[int]Accuracy{
		1: {(1 + 0 + 0) / 3.0, 0.5}, // both of class 0
		2: {(1 + 1 + 0) / 3.0, 0.75},
		3: {1, 1},
		9: {1, 1},
	} {
		testkit.Equal(t, fmt.Sprintf("top %d", k), TopK(scores, labels, k).Accuracy(), want, cmpopts.EquateApprox(0, 1e-15))
	}
}

func TestTopKProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		confusion := testkit.Must(Confuse(p.scores, p.labels))(t)
		testkit.Equal(t, "top 1", TopK(p.scores, p.labels, 1).Accuracy(), confusion.Accuracy())
		var before Accuracy
		for k := 1; k <= p.scores.Cols; k++ {
			a := TopK(p.scores, p.labels, k).Accuracy()
			if a.PerClass < before.PerClass || a.PerSample < before.PerSample {
				t.Errorf("top %d is %+v, but %+v with one less", k, a, before)
			}
			before = a
		}
		testkit.Equal(t, "top-k with all classes", before, Accuracy{1, 1})
	})
}

// rows makes a matrix of rows.
func rows(rows ...[]float32) dataset.Matrix[float32] {
	m := dataset.Matrix[float32]{Rows: len(rows), Cols: len(rows[0])}
	for _, r := range rows {
		m.Data = append(m.Data, r...)
	}
	return m
}

// problem holds scores and labels. Drawn scores are small whole numbers, so that many are
// equal and sums are exact.
type problem struct {
	scores dataset.Matrix[float32]
	labels []int
}

func drawProblem(t *rapid.T) problem {
	n, classes := rapid.IntRange(1, 12).Draw(t, "samples"), rapid.IntRange(1, 6).Draw(t, "classes")
	p := problem{dataset.NewMatrix[float32](n, classes), make([]int, n)}
	for i := range p.scores.Data {
		p.scores.Data[i] = float32(rapid.IntRange(-4, 4).Draw(t, "score"))
	}
	for i := range p.labels {
		p.labels[i] = rapid.IntRange(0, classes-1).Draw(t, "label")
	}
	return p
}

// drawGeneralised draws a problem with samples of seen and of unseen classes.
func drawGeneralised(t *rapid.T) (problem, Sides) {
	p := drawProblem(t)
	sides := make(Sides, p.scores.Cols)
	for z := range sides {
		sides[z] = rapid.Bool().Draw(t, "unseen")
	}
	if sides.Check(p.labels) != nil {
		t.Skip("a side without samples")
	}
	return p, sides
}
