package glyphs

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
)

// A linear map from features to descriptions, fitted on the train classes, must predict
// test classes well above chance. It is the closed form of ESZSL (Romera-Paredes and Torr,
// ICML 2015, eq. 7),
//
//	V = (X'X + g I)^-1 X'Y S (S'S + l I)^-1, score = x V s.
func TestUnseenClassesCanBePredicted(t *testing.T) {
	ds := standard()
	v := fitESZSL(t, ds, ds.Split.Train, 10, 1)
	got := perClassAccuracy(ds, v, ds.Split.Test)
	chance := 1 / float64(len(ds.Split.Test))
	t.Logf("per-class accuracy on %d test classes: %.3f", len(ds.Split.Test), got)
	if got < 3*chance {
		t.Errorf("per-class accuracy on test classes = %.3f, want at least %.3f, 3 times chance", got, 3*chance)
	}
}

// fitESZSL returns V, dims x attributes.
func fitESZSL(t *testing.T, ds *dataset.Dataset, classes []int, g, l float64) *mat.Dense {
	t.Helper()
	rows := ds.SamplesOf(classes)
	x := mat.NewDense(len(rows), ds.Features.Cols, nil)
	y := mat.NewDense(len(rows), len(classes), nil)
	for i, row := range rows {
		for j, v := range ds.Features.Row(row) {
			x.Set(i, j, float64(v))
		}
		for j, z := range classes {
			y.Set(i, j, -1)
			if ds.Labels[row] == z {
				y.Set(i, j, 1)
			}
		}
	}
	u := ds.Describe(classes)
	s := mat.NewDense(u.Rows, u.Cols, u.Data)

	var xx, ys, xys, ss, a, v mat.Dense
	xx.Mul(x.T(), x)
	addToDiagonal(&xx, g)
	ss.Mul(s.T(), s)
	addToDiagonal(&ss, l)
	ys.Mul(y, s)
	xys.Mul(x.T(), &ys)
	if err := a.Solve(&xx, &xys); err != nil {
		t.Fatal(err)
	}
	if err := v.Solve(&ss, a.T()); err != nil {
		t.Fatal(err)
	}
	return mat.DenseCopyOf(v.T())
}

func addToDiagonal(m *mat.Dense, v float64) {
	n, _ := m.Dims()
	for i := range n {
		m.Set(i, i, m.At(i, i)+v)
	}
}

// perClassAccuracy predicts every sample of the classes among them.
func perClassAccuracy(ds *dataset.Dataset, v *mat.Dense, classes []int) float64 {
	u := ds.Describe(classes)
	var w mat.Dense // dims x classes
	w.Mul(v, mat.NewDense(u.Rows, u.Cols, u.Data).T())
	right, all := make([]float64, len(ds.Classes)), make([]float64, len(ds.Classes))
	for _, row := range ds.SamplesOf(classes) {
		best, bestScore := -1, math.Inf(-1)
		for j, z := range classes {
			var score float64
			for d, f := range ds.Features.Row(row) {
				score += float64(f) * w.At(d, j)
			}
			if score > bestScore {
				best, bestScore = z, score
			}
		}
		z := ds.Labels[row]
		all[z]++
		if best == z {
			right[z]++
		}
	}
	var sum float64
	for _, z := range classes {
		sum += right[z] / all[z]
	}
	return sum / float64(len(classes))
}
