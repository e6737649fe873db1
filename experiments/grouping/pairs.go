package grouping

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// By says what the correlation of two attributes is taken over.
type By string

// The paper takes samples for CUB and SUN, and classes for AWA2.
const (
	BySamples By = "samples" // each sample has the description of its class
	ByClasses By = "classes"
)

// UnmarshalText reads "samples" or "classes".
func (b *By) UnmarshalText(text []byte) error {
	switch By(text) {
	case BySamples, ByClasses:
		*b = By(text)
		return nil
	}
	return fmt.Errorf("expected samples or classes, found %q", text)
}

// Pairs are some pairs of attributes that have a correlation: an attribute that
// never varies has none.
type Pairs struct {
	Count          int     `json:"count"`
	Anticorrelated float64 `json:"anticorrelated"` // share, 0 of no pairs
}

// correlations returns the Pearson correlation of each two attributes, M x M.
func correlations(d *dataset.Dataset, by By) (*mat.SymDense, error) {
	// An undescribed attribute has no say in a correlation when it is at its mean.
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

// pairs compares the correlations of the attributes that are grouped together with
// those of all.
func (g *Result) pairs(gamma dataset.Matrix[float32], r *mat.SymDense) {
	var all, grouped []float64
	for i := range gamma.Rows {
		for j := range i {
			if math.IsNaN(r.At(i, j)) {
				continue
			}
			all = append(all, r.At(i, j))
			if inner(gamma.Row(i), gamma.Row(j)) > g.Threshold {
				grouped = append(grouped, r.At(i, j))
			}
		}
	}
	g.All, g.Grouped = g.count(all), g.count(grouped)
	if len(grouped) > 0 {
		test := kolmogorovSmirnov(grouped, all)
		g.KS = &test
	}
}

// count counts the pairs of the given correlations.
func (g *Result) count(correlations []float64) Pairs {
	p := Pairs{Count: len(correlations)}
	for _, r := range correlations {
		if r < g.Below {
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
