package grouping

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

// By says what attributes are correlated over.
type By string

// The paper takes samples for CUB and SUN, and classes for AWA2.
const (
	BySamples By = "samples" // each sample has the description of its class
	ByClasses By = "classes"
)

// UnmarshalText reads "samples" or "classes".
func (b *By) UnmarshalText(text []byte) error {
	return invalid.SetOneOf(b, text, BySamples, ByClasses)
}

// Pairs counts pairs of attributes that have a correlation; an attribute that never
// varies has none.
type Pairs struct {
	Count          int     `json:"count"`
	Anticorrelated float64 `json:"anticorrelated"` // share, 0 without pairs
}

// KSTest is a two-sample Kolmogorov-Smirnov test.
type KSTest struct {
	Distance float64 `json:"distance"` // the largest between the two distribution functions
	P        float64 `json:"p"`        // of a distance as large between samples of one distribution
}

// correlations returns the Pearson correlation of each pair of attributes, M x M.
func correlations(d *dataset.Dataset, by By) (*mat.SymDense, error) {
	// This prior replaces missing entries by the attribute's mean, where they do not
	// affect the correlation.
	described, err := model.Config{Variant: model.Singletons, Prior: model.PerAttribute}.Describe(d.Descriptions, nil)
	if err != nil {
		return nil, err
	}
	var weights []float64
	if by == BySamples {
		for _, n := range d.SamplesPerClass() {
			weights = append(weights, float64(n))
		}
	}
	var r mat.SymDense
	stat.CorrelationMatrix(&r, mat.NewDense(described.U.Rows, described.U.Cols, described.U.Data), weights)
	return &r, nil
}

// comparePairs compares the correlations of attributes in the same group with those of
// all.
func (r *Result) comparePairs(gamma dataset.Matrix[float32], correlation *mat.SymDense) {
	var all, grouped []float64
	for i := range gamma.Rows {
		for j := range i {
			c := correlation.At(i, j)
			if math.IsNaN(c) {
				continue
			}
			all = append(all, c)
			if inner(gamma.Row(i), gamma.Row(j)) > r.Threshold {
				grouped = append(grouped, c)
			}
		}
	}
	r.All, r.Grouped = r.count(all), r.count(grouped)
	if len(grouped) > 0 {
		test := kolmogorovSmirnov(grouped, all)
		r.KS = &test
	}
}

// count counts pairs with the given correlations.
func (r *Result) count(correlations []float64) Pairs {
	p := Pairs{Count: len(correlations)}
	for _, c := range correlations {
		if c < r.Below {
			p.Anticorrelated += 1 / float64(p.Count)
		}
	}
	return p
}

func inner(x, y []float32) float64 {
	var sum float64
	for i, v := range x {
		sum += float64(v) * float64(y[i])
	}
	return sum
}

// kolmogorovSmirnov compares two samples, neither of them empty. The p-value is the
// asymptotic one with the effective size nm / (n + m).
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
		return 1 // to twelve digits; the series converges slowly
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
