package lab

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestSummariseIsMeanAndStandardError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1), 2, 20).Draw(t, "values")
		var sum, squares float64
		for _, v := range values {
			sum += v
		}
		n := float64(len(values))
		for _, v := range values {
			squares += (v - sum/n) * (v - sum/n)
		}
		want := Summary{Mean: sum / n, SEM: math.Sqrt(squares / (n - 1) / n), Values: values}
		if diff := cmp.Diff(want, Summarise(values), cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestSummariseOfOneAndOfNone(t *testing.T) {
	if diff := cmp.Diff(Summary{Mean: 0.25, Values: []float64{0.25}}, Summarise([]float64{0.25})); diff != "" {
		t.Errorf("of one value (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Summary{}, Summarise(nil)); diff != "" {
		t.Errorf("of none (-want +got):\n%s", diff)
	}
}
