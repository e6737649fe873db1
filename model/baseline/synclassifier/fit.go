package synclassifier

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/linear"
)

// fit finds the classifiers of the phantoms, R x D, given the similarities of the
// classes learned from to them, C x R, and their descriptions.
//
// The loss knows the v_r by the w_c = sum over r of s_cr v_r alone. So the w_c are
// fitted, and the v_r are what makes them, by the pseudo-inverse of the similarities: as
// the authors do it where the phantoms are the classes themselves, which leaves the w_c
// free. Where phantoms are fewer, the w_c are fitted within what phantoms can make.
func (c Config) fit(e baseline.Examples, similarities, classes dataset.Matrix[float64]) (v *mat.Dense, loss float64, err error) {
	s := mat.NewDense(similarities.Rows, similarities.Cols, similarities.Data)
	var svd mat.SVD
	if !svd.Factorize(s, mat.SVDThin) {
		return nil, 0, fmt.Errorf("synthesised: the similarities of %d classes and %d phantoms have no singular values: are the descriptions finite?", s.RawMatrix().Rows, s.RawMatrix().Cols)
	}
	fitted, basis := (*linear.Classifiers)(nil), (*mat.Dense)(nil)
	if similarities.Rows == similarities.Cols {
		fitted, err = baseline.Cached(e.Cache, c.freeKey(), c.problem(e, classes, nil).Minimise)
	} else {
		basis = rangeOf(&svd)
		fitted, err = c.problem(e, classes, basis).Minimise()
	}
	if err != nil {
		return nil, 0, err
	}
	w := mat.NewDense(fitted.W.Rows, fitted.W.Cols, fitted.W.Data)
	if basis != nil {
		var of mat.Dense
		of.Mul(basis, w)
		w = &of
	}
	return solve(&svd, w), fitted.Loss, nil
}

// freeKey is what classifiers that are free depend on beside the examples.
type freeKey struct {
	loss            Loss
	lambda          float64
	normalise, unit bool
}

func (c Config) freeKey() freeKey {
	return freeKey{c.Loss, c.Lambda, c.Normalise && c.Loss == Structured, c.Unit}
}

// negligible is the share of the largest singular value from which on one is lost in the
// precision of a model, for each class.
const negligible = 0x1p-23

// rank counts the singular values that are not negligible.
func rank(svd *mat.SVD) (n int) {
	values := svd.Values(nil)
	for _, v := range values {
		if v > negligible*float64(len(values))*values[0] {
			n++
		}
	}
	return n
}

// rangeOf is an orthonormal basis of the columns of the similarities, C x rank.
func rangeOf(svd *mat.SVD) *mat.Dense {
	var u mat.Dense
	svd.UTo(&u)
	classes, _ := u.Dims()
	return mat.DenseCopyOf(u.Slice(0, classes, 0, rank(svd)))
}

// solve returns the v of least length that makes w, S v = w, or comes closest to it.
func solve(svd *mat.SVD, w *mat.Dense) *mat.Dense {
	var v mat.Dense
	svd.SolveTo(&v, w, rank(svd))
	return &v
}

// problem is what the classifiers of the classes are the minimum of or, with a basis of
// what phantoms can make, Q, the z in w = Q z: as Q is orthonormal, |w| = |z|.
func (c Config) problem(e baseline.Examples, classes dataset.Matrix[float64], basis *mat.Dense) linear.Problem {
	p := linear.Problem{X: e.X, Rows: e.Rows, Unit: c.Unit, Outputs: classes.Rows, Penalty: c.Lambda}
	if basis != nil {
		_, p.Outputs = basis.Dims()
	} else if c.Loss == OneVersusOther {
		p.Each = func(sample, class int, score float64) (float64, float64) {
			return squaredHinge(score, class == e.Labels[sample], classes.Rows)
		}
		return p
	}
	loss := c.lossOf(classes)
	p.Joint = func(sample int, scores []float64) float64 { return loss(scores, e.Labels[sample]) }
	if basis != nil {
		p.Joint = func(sample int, scores []float64) float64 {
			var all mat.VecDense
			z := mat.NewVecDense(len(scores), scores)
			all.MulVec(basis, z)
			l := loss(all.RawVector().Data, e.Labels[sample])
			z.MulVec(basis.T(), &all)
			return l
		}
	}
	return p
}

// lossOf returns the loss of the scores of all classes, which writes its gradient over
// them.
func (c Config) lossOf(classes dataset.Matrix[float64]) func(scores []float64, y int) float64 {
	if c.Loss == OneVersusOther {
		return oneVersusOther
	}
	margins := c.margins(classes)
	return func(scores []float64, y int) float64 { return hinge(scores, margins.Row(y), y) }
}
