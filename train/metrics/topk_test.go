package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// The true class comes third, first, second (an equal one is before it) and first.
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
		named := NewConfusion(p.scores.Cols)
		if err := named.Add(p.scores.Data, p.labels); err != nil {
			t.Fatal(err)
		}
		if got, want := TopK(p.scores, p.labels, 1), named.Accuracy(); got != want {
			t.Errorf("top 1 is %+v, accuracy %+v", got, want)
		}
		var before Accuracy
		for k := 1; k <= p.scores.Cols; k++ {
			a := TopK(p.scores, p.labels, k)
			if a.PerClass < before.PerClass || a.PerSample < before.PerSample {
				t.Errorf("top %d is %+v, and %+v with one less", k, a, before)
			}
			if other := TopK(p.shuffled(1).scores, p.shuffled(1).labels, k); a != other {
				t.Errorf("top %d is %+v, and %+v in another order of samples", k, a, other)
			}
			if other := TopK(p.shifted().scores, p.labels, k); a != other {
				t.Errorf("top %d is %+v, and %+v with rows moved", k, a, other)
			}
			before = a
		}
		if before != (Accuracy{1, 1}) {
			t.Errorf("all classes hold the true one: %+v", before)
		}
	})
}
