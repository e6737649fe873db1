package simulate_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/simulate"
)

// Samples of test classes are predicted by the nearest class mean, itself predicted from
// the descriptions by least squares over the train classes.
func TestDescriptionsPredictUnseenClasses(t *testing.T) {
	ds := mustMake(t, simulate.Spec{
		Samples: 2000, Dims: 128, Attributes: 24, Groups: 6,
		TrainClasses: 70, ValClasses: 10, TestClasses: 20,
	})
	means := classMeans(ds, ds.SamplesOf(ds.Split.Train), ds.Split.Train)
	var fit, predicted mat.Dense
	if err := fit.Solve(withOnes(ds.Describe(ds.Split.Train)), means); err != nil {
		t.Fatal(err)
	}
	predicted.Mul(withOnes(ds.Describe(ds.Split.Test)), &fit)
	got := nearest(ds, ds.SamplesOf(ds.Split.Test), ds.Split.Test, &predicted)
	chance := 1 / float64(len(ds.Split.Test))
	t.Logf("accuracy on %d unseen classes: %.3f", len(ds.Split.Test), got)
	if got < 5*chance {
		t.Errorf("accuracy = %.3f, want at least %.3f, 5 times chance", got, 5*chance)
	}
}

// classMeans returns classes x dims.
func classMeans(ds *dataset.Dataset, rows, classes []int) *mat.Dense {
	means := mat.NewDense(len(classes), ds.Features.Cols, nil)
	for j, z := range classes {
		n := 0.0
		mean := means.RawRowView(j)
		for _, i := range rows {
			if ds.Labels[i] != z {
				continue
			}
			n++
			for d, v := range ds.Features.Row(i) {
				mean[d] += (float64(v) - mean[d]) / n
			}
		}
	}
	return means
}

// withOnes returns u with a column of ones after the last.
func withOnes(u dataset.Matrix[float64]) *mat.Dense {
	m := mat.NewDense(u.Rows, u.Cols+1, nil)
	for i := range u.Rows {
		m.SetRow(i, append(append([]float64{}, u.Row(i)...), 1))
	}
	return m
}

// nearest returns the accuracy of predicting the class with the nearest centre.
func nearest(ds *dataset.Dataset, rows, classes []int, centres *mat.Dense) float64 {
	right := 0.0
	for _, i := range rows {
		best, least := -1, math.Inf(1)
		for j, z := range classes {
			distance := 0.0
			centre := centres.RawRowView(j)
			for d, v := range ds.Features.Row(i) {
				off := float64(v) - centre[d]
				distance += off * off
			}
			if distance < least {
				best, least = z, distance
			}
		}
		if best == ds.Labels[i] {
			right++
		}
	}
	return right / float64(len(rows))
}
