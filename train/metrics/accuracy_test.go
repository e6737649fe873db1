package metrics

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestAccuracy(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts Confusion
		want   Accuracy
	}{
		{"all right", Confusion{{3, 0}, {0, 1}}, Accuracy{1, 1}},
		{"all wrong", Confusion{{0, 3}, {1, 0}}, Accuracy{0, 0}},
		// 90 of 90 and 1 of 10: per sample one class hides the other.
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

// With as many samples in each class the two accuracies are one, whatever is named.
func TestAccuraciesAgreeOnBalancedClasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes, samples := rapid.IntRange(1, 6).Draw(t, "classes"), rapid.IntRange(1, 9).Draw(t, "samples")
		c := NewConfusion(classes)
		for z := range classes {
			for range samples {
				c[z][rapid.IntRange(0, classes-1).Draw(t, "named")]++
			}
		}
		a := c.Accuracy()
		if math.Abs(a.PerClass-a.PerSample) > 1e-12 || a.PerSample < 0 || a.PerSample > 1 {
			t.Errorf("%v: %+v", c, a)
		}
	})
}

// Of the four samples of class 0 two are named 1 and one 2; of the two of class 2 one
// is named 0.
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
		t.Errorf("mistakes %v where all is right", got)
	}
}
