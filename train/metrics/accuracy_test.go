package metrics

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
)

func TestAccuracy(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts Confusion
		want   Accuracy
	}{
		{"all right", Confusion{{3, 0}, {0, 1}}, Accuracy{1, 1}},
		{"all wrong", Confusion{{0, 3}, {1, 0}}, Accuracy{0, 0}},
		// 90 of 90 and 1 of 10.
		{"unbalanced", Confusion{{90, 0}, {9, 1}}, Accuracy{(1 + 0.1) / 2, 0.91}},
		{"three classes", Confusion{{1, 1, 0}, {0, 4, 0}, {2, 1, 1}}, Accuracy{(0.5 + 1 + 0.25) / 3, 0.6}},
		{"a class without samples", Confusion{{1, 0, 1}, {0, 0, 0}, {0, 0, 2}}, Accuracy{0.75, 0.75}},
		{"one class", Confusion{{7}}, Accuracy{1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.counts.Accuracy(), cmpopts.EquateApprox(0, 1e-15)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfusionCounts(t *testing.T) {
	low := float32(math.Inf(-1))
	c := NewConfusion(3)
	if err := c.Add([]float32{
		0, 2, 1,
		-5, -7, -6,
		1, 3, 3, // a tie: the first wins
		0, 0, 0,
		low, low, -9,
		low, low, low,
	}, []int{1, 2, 2, 1, 2, 0}); err != nil {
		t.Fatal(err)
	}
	if err := c.Add([]float32{1, float32(math.NaN()), 0}, []int{0}); err == nil {
		t.Error("a score that is NaN was counted")
	}
	if err := c.Add([]float32{9, 0, 0, 0, 0, 9}, []int{2, 2}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Confusion{{1, 0, 0}, {1, 1, 0}, {2, 1, 2}}, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// With equally many samples in each class the two accuracies are equal.
func TestAccuraciesAgreeOnBalancedClasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes, samples := rapid.IntRange(1, 6).Draw(t, "classes"), rapid.IntRange(1, 9).Draw(t, "samples")
		c := NewConfusion(classes)
		for z := range classes {
			for range samples {
				c[z][rapid.IntRange(0, classes-1).Draw(t, "predicted")]++
			}
		}
		a := c.Accuracy()
		if math.Abs(a.PerClass-a.PerSample) > 1e-12 || a.PerSample < 0 || a.PerSample > 1 {
			t.Errorf("%v: %+v", c, a)
		}
	})
}

func TestMistakes(t *testing.T) {
	c := Confusion{{1, 2, 1}, {0, 0, 0}, {1, 0, 1}}
	want := []Mistake{{0, 1, 2, 0.5}, {0, 2, 1, 0.25}, {2, 0, 1, 0.5}}
	if diff := cmp.Diff(want, c.Mistakes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	samples, right := c.Recall()
	if diff := cmp.Diff([]int{4, 0, 2}, samples); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{0.25, math.NaN(), 0.5}, right, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("recall (-want +got):\n%s", diff)
	}
	if got := (Confusion{{3, 0}, {0, 2}}).Mistakes(); len(got) != 0 {
		t.Errorf("mistakes %v in a diagonal matrix", got)
	}
}

func TestCheck(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	good := rows([]float32{1, 2}, []float32{3, 4}, []float32{5, 6})
	check := func(scores dataset.Matrix[float32], labels []int) error {
		if err := CheckScores(scores); err != nil {
			return err
		}
		return CheckLabels(labels, scores.Rows, scores.Cols)
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
					t.Errorf("the error lacks %q: %v", part, err)
				}
			}
			if c.name == "too high" && strings.Contains(err.Error(), "count from 1") {
				t.Errorf("labels with a 0 got the hint: %v", err)
			}
		})
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
		if diff := cmp.Diff(want, TopK(scores, labels, k), cmpopts.EquateApprox(0, 1e-15)); diff != "" {
			t.Errorf("top %d (-want +got):\n%s", k, diff)
		}
	}
}

func TestTopKProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		confusion := NewConfusion(p.scores.Cols)
		if err := confusion.Add(p.scores.Data, p.labels); err != nil {
			t.Fatal(err)
		}
		if got, want := TopK(p.scores, p.labels, 1), confusion.Accuracy(); got != want {
			t.Errorf("top 1 is %+v, accuracy %+v", got, want)
		}
		var before Accuracy
		for k := 1; k <= p.scores.Cols; k++ {
			a := TopK(p.scores, p.labels, k)
			if a.PerClass < before.PerClass || a.PerSample < before.PerSample {
				t.Errorf("top %d is %+v, but %+v with one less", k, a, before)
			}
			if other := TopK(p.shuffled(1).scores, p.shuffled(1).labels, k); a != other {
				t.Errorf("top %d is %+v, but %+v in another order of samples", k, a, other)
			}
			if other := TopK(p.shifted().scores, p.labels, k); a != other {
				t.Errorf("top %d is %+v, but %+v with shifted scores", k, a, other)
			}
			before = a
		}
		if before != (Accuracy{1, 1}) {
			t.Errorf("top-k with all classes is %+v", before)
		}
	})
}
