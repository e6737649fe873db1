package grouping

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// KSTest is the two-sample Kolmogorov-Smirnov test.
type KSTest struct {
	Distance float64 `json:"distance"` // the greatest between the two distribution functions
	P        float64 `json:"p"`        // of a distance as large, were both samples of one distribution
}

// kolmogorovSmirnov compares two samples, neither of them empty. The p-value is the
// asymptotic one, with the effective size nm / (n + m).
func kolmogorovSmirnov(x, y []float64) KSTest {
	x, y = slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))
	n, m := float64(len(x)), float64(len(y))
	d := stat.KolmogorovSmirnov(x, nil, y, nil)
	return KSTest{Distance: d, P: kolmogorovTail(math.Sqrt(n*m/(n+m)) * d)}
}

// kolmogorovTail is P(K > l) of the Kolmogorov distribution,
// 2 sum_j (-1)^(j-1) exp(-2 j^2 l^2).
func kolmogorovTail(l float64) float64 {
	if l < 0.2 {
		return 1 // to twelve digits, where the series takes long to converge
	}
	var sum float64
	sign := 1.0
	for j := 1.0; ; j++ {
		term := math.Exp(-2 * j * j * l * l)
		sum += sign * term
		if term < 1e-17 {
			return 2 * sum
		}
		sign = -sign
	}
}
