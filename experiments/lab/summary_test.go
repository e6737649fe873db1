package lab

import (
	"encoding/json"
	"math"
	"slices"
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
		sem := math.Sqrt(squares / (n - 1) / n)
		want := Summary{Mean: sum / n, SEM: &sem, Values: values}
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
	data, err := json.Marshal(Summarise([]float64{0.25}))
	if want := `{"mean":0.25,"sem":null,"values":[0.25]}`; err != nil || string(data) != want {
		t.Errorf("found %s and error %v, expected %s", data, err, want)
	}
	if got := Summarise([]float64{0.25}); got.MeanText() != "25.0 %" || got.SEMText() != "-" || (Summary{}).MeanText() != "-" {
		t.Errorf("found %s and %s, expected no standard error of one value, and no mean of none", got.MeanText(), got.SEMText())
	}
}

func TestByMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []Summary
		for _, values := range rapid.SliceOf(rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 3)).Draw(t, "values") {
			list = append(list, Summarise(values))
		}
		slices.SortFunc(list, ByMean)
		for i := 1; i < len(list); i++ {
			before, s := list[i-1], list[i]
			if len(s.Values) > 0 && (len(before.Values) == 0 || before.Mean < s.Mean) {
				t.Fatalf("%v before %v", before, s)
			}
		}
	})
}
