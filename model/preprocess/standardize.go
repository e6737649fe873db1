package preprocess

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// standardize fits mean and standard deviation of each dimension, in two passes
// and in float64. A dimension that does not vary is only shifted.
func standardize(x dataset.Matrix[float32], rows []int) (*Transform, error) {
	mean, square := make([]float64, x.Cols), make([]float64, x.Cols)
	n := float64(len(rows))
	for _, r := range rows {
		for d, v := range x.Row(r) {
			mean[d] += float64(v) / n
		}
	}
	for _, r := range rows {
		for d, v := range x.Row(r) {
			c := float64(v) - mean[d]
			square[d] += c * c / n
		}
	}
	m := &Transform{Kind: Standardize, Shift: make([]float32, x.Cols), Scale: make([]float32, x.Cols)}
	for d := range mean {
		if math.IsNaN(square[d]) || math.IsInf(square[d], 0) {
			return nil, notFinite(d)
		}
		m.Shift[d], m.Scale[d] = float32(mean[d]), 1
		if sd := math.Sqrt(square[d]); sd > 1e-6*math.Abs(mean[d]) {
			m.Scale[d] = float32(1 / sd)
		}
	}
	return m, nil
}

func notFinite(dimension int) error {
	return &invalid.Error{Field: "features", Want: "finite numbers", Got: fmt.Sprint(fmt.Sprintf("a NaN or an infinity in dimension %d", dimension))}
}
