package predict

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The ranked classes are the first of all classes sorted by score; their probabilities
// are a softmax over all classes.
func TestRankProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.OneOf(rapid.Float32Range(-50, 50), rapid.SampledFrom([]float32{0, 1})), 1, 9).Draw(t, "scores")
		o := Options{
			Top:         rapid.IntRange(1, 10).Draw(t, "top"),
			Temperature: rapid.SampledFrom([]float64{0, 0.5, 1, 20}).Draw(t, "temperature"),
		}
		if o.Temperature > 0 {
			o.Confidence = rapid.Float64Range(0, 1).Draw(t, "confidence")
		}
		order := make([]int, len(scores))
		var sum float64
		for z, s := range scores {
			order[z] = z
			sum += math.Exp(float64(s) / o.Temperature)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		r := ranking{classes: []int{4, 4}, values: []float64{7}} // of the sample before
		o.rank(&r, scores)
		want := order[:min(o.Top, len(scores))]
		if !slices.Equal(r.classes, want) {
			t.Fatalf("%v, expected %v", r.classes, want)
		}
		for i, z := range want {
			p := float64(scores[z])
			if o.Temperature > 0 {
				p = math.Exp(p/o.Temperature) / sum
			}
			if math.Abs(r.values[i]-p) > 1e-9*max(1, math.Abs(p)) {
				t.Errorf("value %d is %g, expected %g", i, r.values[i], p)
			}
		}
		if want := o.Confidence > 0 && r.values[0] < o.Confidence; r.abstain != want {
			t.Errorf("abstain is %v at %g, expected %v", r.abstain, r.values[0], want)
		}
	})
}
