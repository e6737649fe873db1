package model

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// The vectors of soft AND have the results of the loops that they replace, to the bit, also for scores at
// and beyond the bounds, infinite ones and NaN.
func TestSoftAndVectors(t *testing.T) {
	special := []float32{0, -1, leastScore, mostScore, 1e-38, 1e38, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1}
	rapid.Check(t, func(t *rapid.T) {
		score := rapid.OneOf(rapid.SampledFrom(special), rapid.Float32Range(1e-3, 30))
		scores := rapid.SliceOfN(score, 0, 37).Draw(t, "scores")
		dl := rapid.SliceOfN(rapid.Float32Range(-1, 1), len(scores), len(scores)).Draw(t, "dl")
		product, want := make([]float64, len(scores)), make([]float64, len(scores))
		for i := range product {
			product[i], want[i] = 1+float64(i)/7, 1+float64(i)/7
		}
		n := multiplyVectors(product, scores)
		multiplyEach(want[:n], scores[:n])
		dg, wanted := make([]float32, len(scores)), make([]float32, len(scores))
		n = divideVectors(dg, dl, scores)
		divideEach(wanted[:n], dl[:n], scores[:n])
		if !cmp.Equal(product, want, cmpopts.EquateNaNs()) || !cmp.Equal(dg, wanted) {
			t.Fatalf("products %v, expected %v; gradients %v, expected %v", product, want, dg, wanted)
		}
	})
}
