package studies

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// AttributePairs counts pairs of attributes that have a correlation; an attribute that never varies has none.
type AttributePairs struct {
	Count          int     `json:"count"`
	Anticorrelated float64 `json:"anticorrelated"` // share, 0 without pairs
}

// correlations returns the Pearson correlation of each pair of attributes over classes, M x M. The paper
// correlates over samples for CUB and SUN, by the attributes of each image, which data sets lack.
func correlations(d *dataset.Dataset) (*mat.SymDense, error) {
	// Missing entries become the attribute's mean, which draws its correlations towards 0.
	described, err := model.Config{
		Variant: model.Singletons, Prior: model.PerAttribute,
	}.Describe(d.Descriptions, nil)
	if err != nil {
		return nil, err
	}
	var r mat.SymDense
	x := mat.NewDense(described.U.Rows, described.U.Cols, described.U.Data)
	stat.CorrelationMatrix(&r, x, nil)
	for m := range described.U.Cols {
		// Rounding gives an attribute that never varies a variance just above 0.
		if stat.Variance(mat.Col(nil, m, x), nil) < 1e-20 {
			for j := range described.U.Cols {
				r.SetSym(m, j, math.NaN())
			}
		}
	}
	return &r, nil
}

// comparePairs compares the correlations of attributes in the same group with those of others.
func (r *LearnedGroups) comparePairs(gamma dataset.Matrix[float64], d *dataset.Dataset) error {
	correlation, err := correlations(d)
	if err != nil {
		return err
	}
	var grouped, ungrouped []float64
	for i := range gamma.Rows {
		for j := range i {
			switch c := correlation.At(i, j); {
			case math.IsNaN(c):
			case floats.Dot(gamma.Row(i), gamma.Row(j)) > r.Threshold:
				grouped = append(grouped, c)
			default:
				ungrouped = append(ungrouped, c)
			}
		}
	}
	r.All, r.Grouped, r.Ungrouped = r.count(slices.Concat(grouped,
		ungrouped)), r.count(grouped), r.count(ungrouped)
	return nil
}

// count counts pairs with the given correlations.
func (r *LearnedGroups) count(correlations []float64) AttributePairs {
	p := AttributePairs{Count: len(correlations)}
	for _, c := range correlations {
		if c < r.Below {
			p.Anticorrelated += 1 / float64(p.Count)
		}
	}
	return p
}
