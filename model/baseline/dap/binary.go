package dap

import (
	"math"

	"github.com/lago-train/lago-train/dataset"
)

// thresholdsOf returns the value above which a class has an attribute, M, in the
// precision in which it is stored.
func thresholdsOf(u dataset.Matrix[float64], t Threshold) []float32 {
	thresholds := make([]float32, u.Cols)
	all := mean(u.Data, 0, 1, 0.5)
	for m := range thresholds {
		thresholds[m] = float32(all)
		if t == AttributeMean {
			thresholds[m] = float32(mean(u.Data, m, u.Cols, all))
		}
	}
	return thresholds
}

// mean is that of the values from, from+step, ... that are numbers, else what is given.
func mean(values []float64, from, step int, none float64) float64 {
	var sum, n float64
	for i := from; i < len(values); i += step {
		if v := values[i]; !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	if n == 0 {
		return none
	}
	return sum / n
}

// binary returns which class has which attribute, Z x M: 1 or 0, and NaN where u is.
func binary(u dataset.Matrix[float64], thresholds []float32) dataset.Matrix[float64] {
	has := dataset.NewMatrix[float64](u.Rows, u.Cols)
	for i, p := range u.Data {
		switch {
		case math.IsNaN(p):
			has.Data[i] = p
		case p > float64(thresholds[i%u.Cols]):
			has.Data[i] = 1
		}
	}
	return has
}

// shares returns the share of the classes that have an attribute among those that
// describe it, M. An attribute that all of them have, or none, can't be learned: its
// share counts as 1/2, as in the program of Lampert et al., and it is taken out of has.
func shares(has dataset.Matrix[float64]) []float64 {
	share := make([]float64, has.Cols)
	for m := range share {
		share[m] = mean(has.Data, m, has.Cols, 0)
		if share[m] > 0 && share[m] < 1 {
			continue
		}
		share[m] = 0.5
		for z := range has.Rows {
			has.Row(z)[m] = math.NaN()
		}
	}
	return share
}
