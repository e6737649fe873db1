package metrics

import (
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

// Of two classes in two clusters, P is twice the share of the resamples, all of which are listed, whose mean is
// not above 0. A difference between clusters widens the interval, though all classes agree.
func TestCrossedDifference(t *testing.T) {
	of := [2][2]float64{{3, -1}, {-2, 4}} // by class and cluster
	var list, opposite []Crossed
	for class, row := range of {
		for cluster, d := range row {
			list = append(list, Crossed{class, cluster, d})
		}
	}
	weights := map[[2]float64]float64{{2, 0}: 0.25, {1, 1}: 0.5, {0, 2}: 0.25} // how often both are drawn
	var below float64
	for classes, p := range weights {
		for clusters, q := range weights {
			var sum float64
			for i, row := range of {
				for k, d := range row {
					sum += classes[i] * clusters[k] * d
				}
			}
			if sum <= 0 {
				below += p * q
			}
		}
	}
	d := CrossedDifference(list)
	testkit.Near(t, "mean", d.Mean, 1, 1e-12)
	testkit.Near(t, "p", d.P, 2*below, 0.02)
	testkit.NearAll(t, "interval", []float64{d.Interval.Low, d.Interval.High}, []float64{-2, 4}, 0)

	for class := range 100 {
		for cluster := range 2 {
			opposite = append(opposite, Crossed{class, cluster, float64(3*cluster - 1)})
		}
	}
	d = CrossedDifference(opposite)
	testkit.NearAll(t, "interval", []float64{d.Interval.Low, d.Interval.High}, []float64{-1, 2}, 0)
}
