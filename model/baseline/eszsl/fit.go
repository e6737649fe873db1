package eszsl

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Sums are what every fit to the same samples is made of, whatever the ridges.
type Sums struct {
	xx *mat.SymDense // X'X, D x D
	xy *mat.Dense    // X'Y, D x Z: the sum of the features of each class
}

// NewSums goes through the given rows of x, of which the i-th is a sample of the
// class labels[i], 0 to classes-1.
func NewSums(x dataset.Matrix[float32], rows, labels []int, classes int) (*Sums, error) {
	if len(rows) == 0 {
		return nil, &invalid.Error{Field: "samples", Want: "at least one to fit on", Got: fmt.Sprint(0)}
	}
	if len(labels) != len(rows) {
		return nil, &invalid.Error{Field: "labels", Want: "one for each sample", Got: fmt.Sprint(len(labels))}
	}
	s := &Sums{xx: preprocess.Moments(x, rows), xy: mat.NewDense(x.Cols, classes, nil)}
	for i, r := range rows {
		for d, v := range x.Row(r) {
			s.xy.Set(d, labels[i], s.xy.At(d, labels[i])+float64(v))
		}
	}
	return s, nil
}

// Regression is the ridge regression of the classes on the features,
// (X'X + gamma I)^-1 X'Y: the part of a fit that knows no description.
type Regression struct {
	r *mat.Dense // D x Z
}

// Regress solves the regression. The ridge gamma must be above 0.
func (s *Sums) Regress(gamma float64) (*Regression, error) {
	var r mat.Dense
	if err := solve(&r, s.xx, "gamma", gamma, s.xy); err != nil {
		return nil, err
	}
	return &Regression{&r}, nil
}

// Fit completes the fit with the descriptions of the classes, Z x M in their order,
// NaN where an attribute is not described. The ridge lambda must be above 0. With
// normalise, descriptions are scaled to length 1, here and in the scores.
func (r *Regression) Fit(u dataset.Matrix[float64], lambda float64, normalise bool) (*Model, error) {
	d, err := baseline.Describe(u, normalise)
	if err != nil {
		return nil, err
	}
	dims, classes := r.r.Dims()
	if u.Rows != classes {
		return nil, &invalid.Error{Field: "descriptions", Want: "a row for each class of the samples", Got: fmt.Sprint(u.Rows)}
	}
	s := mat.NewDense(d.Rows, d.Cols, d.Data)
	ss := mat.NewSymDense(d.Cols, nil)
	ss.SymRankK(ss, 1, s.T())
	var xyu, w mat.Dense
	xyu.Mul(r.r, s)
	if err := solve(&w, ss, "lambda", lambda, xyu.T()); err != nil { // of W', since U'U + lambda I is on the right
		return nil, err
	}
	m := &Model{W: dataset.NewMatrix[float32](dims, d.Cols), Normalise: normalise}
	for i := range dims {
		for j := range d.Cols {
			m.W.Data[i*d.Cols+j] = float32(w.At(j, i))
		}
	}
	return m, nil
}

// solve writes (a + ridge I)^-1 b into x and leaves a as it was. field names the
// ridge.
func solve(x *mat.Dense, a *mat.SymDense, field string, ridge float64, b mat.Matrix) error {
	if err := checkRidge(field, ridge); err != nil {
		return err
	}
	ridged := mat.NewSymDense(a.SymmetricDim(), nil)
	ridged.CopySym(a)
	for i := range a.SymmetricDim() {
		ridged.SetSym(i, i, a.At(i, i)+ridge)
	}
	var factor mat.Cholesky
	if !factor.Factorize(ridged) {
		return &invalid.Error{Field: field, Want: "a ridge large enough for finite features", Got: fmt.Sprint(ridge)}
	}
	if err := factor.SolveTo(x, b); err != nil {
		return &invalid.Error{Field: field, Want: "a ridge large enough for finite features", Got: fmt.Sprint(ridge)}
	}
	return nil
}
