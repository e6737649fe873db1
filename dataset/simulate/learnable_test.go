package simulate_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/dataset/simulate"
)

// Samples of test classes of the generated data sets are predicted by the nearest class
// mean, itself predicted from the descriptions by ridge regression over the train classes.
func TestDescriptionsPredictUnseenClasses(t *testing.T) {
	for _, ds := range []*dataset.Dataset{glyphs.Make(), simulate.Make(simulate.Spec{
		Samples: 2000, Dims: 128, Attributes: 24, Groups: 6, TrainClasses: 70, ValClasses: 10, TestClasses: 20,
	})} {
		train, test := ds.Split.Train, ds.Split.Test
		u := withOnes(ds.Describe(train))
		var uu, ux, fit, centres mat.Dense
		uu.Mul(u.T(), u)
		for i := range uu.RawMatrix().Rows {
			uu.Set(i, i, uu.At(i, i)+0.1)
		}
		ux.Mul(u.T(), classMeans(ds, train))
		if err := fit.Solve(&uu, &ux); err != nil {
			t.Fatal(err)
		}
		centres.Mul(withOnes(ds.Describe(test)), &fit)
		right := 0
		rows := ds.SamplesOf(test)
		for _, i := range rows {
			best, least := -1, math.Inf(1)
			for j, z := range test {
				if d := floats.Distance(dataset.Convert[float64](ds.Features.Slice(i, i+1)).Data, centres.RawRowView(j), 2); d < least {
					best, least = z, d
				}
			}
			if best == ds.Labels[i] {
				right++
			}
		}
		got, chance := float64(right)/float64(len(rows)), 1/float64(len(test))
		t.Logf("%s: accuracy on %d unseen classes: %.3f", ds.Name, len(test), got)
		if got < 3*chance {
			t.Errorf("%s: accuracy %.3f, expected at least %.3f, 3 times chance", ds.Name, got, 3*chance)
		}
	}
}

// classMeans returns classes x dims.
func classMeans(ds *dataset.Dataset, classes []int) *mat.Dense {
	means := mat.NewDense(len(classes), ds.Features.Cols, nil)
	for j, z := range classes {
		rows := ds.SamplesOf([]int{z})
		for _, i := range rows {
			floats.AddScaled(means.RawRowView(j), 1/float64(len(rows)), dataset.Convert[float64](ds.Features.Slice(i, i+1)).Data)
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
