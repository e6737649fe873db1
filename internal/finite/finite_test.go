package finite_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lago-train/lago-train/internal/finite"
)

func Example() {
	fmt.Println(finite.Index([]float64{1, math.Inf(1), 2}))
	// Output: 1
}

func TestFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if finite.Is(v) || finite.All([]float64{0, v}) || finite.Index([]float64{0, v}) != 1 || finite.Is(float32(v)) {
			t.Errorf("%g counts as finite", v)
		}
	}
	for _, v := range []float64{0, math.MaxFloat64, -math.SmallestNonzeroFloat64} {
		if !finite.Is(v) || !finite.All([]float64{v, v}) || finite.Index([]float64{v}) != -1 {
			t.Errorf("%g does not count as finite", v)
		}
	}
}
