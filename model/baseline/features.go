package baseline

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

// singletons is a LAGO without attribute groups.
var singletons = model.Config{Variant: model.Singletons, Prior: model.PerAttribute}

// Complete returns the descriptions that LAGO without groups uses for u, Z x M: a missing
// entry is the mean of the attribute over the classes of u. The error is an
// *invalid.Error if an entry is not a probability.
func Complete(u dataset.Matrix[float64]) (*model.Description, error) {
	return singletons.Describe(u, nil)
}

// Describe returns the matrix of Complete. With normalise, classes are scaled to length 1;
// rows of zeros stay zero.
func Describe(u dataset.Matrix[float64], normalise bool) (dataset.Matrix[float64], error) {
	d, err := Complete(u)
	if err != nil {
		return u, err
	}
	if normalise {
		for z := range d.U.Rows {
			row := d.U.Row(z)
			length := floats.Norm(row, 2)
			for m := range row {
				if length > 0 {
					row[m] /= length
				}
			}
		}
	}
	return d.U, nil
}

// Gemm computes C = alpha op(A) op(B) + beta C.
func Gemm[T blas.Float](tA, tB blas.Transpose, alpha T, a, b dataset.Matrix[T], beta T, c dataset.Matrix[T]) {
	inner := a.Cols
	if tA == blas.Trans {
		inner = a.Rows
	}
	blas.Gemm(tA, tB, c.Rows, c.Cols, inner, alpha, a.Data, a.Cols, b.Data, b.Cols, beta, c.Data, c.Cols)
}

// Gather copies rows of x into the first rows of to.
type Gather func(to, x dataset.Matrix[float32], rows []int)

// CopyRows is the Gather of unchanged features.
var CopyRows Gather = dataset.Matrix[float32].CopyRows

// CopyUnitRows is the Gather of features scaled to length 1; rows of zeros stay zero.
func CopyUnitRows(to, x dataset.Matrix[float32], rows []int) {
	b := blas32.Implementation()
	to.CopyRows(x, rows)
	for i := range rows {
		row := to.Row(i)
		if length := b.Snrm2(len(row), row, 1); length > 0 {
			b.Sscal(len(row), 1/length, row, 1)
		}
	}
}

// projectBlock is the number of samples projected at a time.
const projectBlock = 256

// Project returns X W for the given rows of x, len(rows) x w.Cols: the first step of
// every model that begins with a linear map w, D x K. gather returns the features in the
// form that w was trained on.
func Project(w, x dataset.Matrix[float32], rows []int, gather Gather) (dataset.Matrix[float32], error) {
	a := dataset.NewMatrix[float32](len(rows), w.Cols)
	if x.Cols != w.Rows {
		return a, &invalid.Error{Field: "features", Want: fmt.Sprintf("%d dimensions, as in training", w.Rows), Got: fmt.Sprint(x.Cols)}
	}
	block := dataset.NewMatrix[float32](min(projectBlock, len(rows)), x.Cols)
	done := 0
	for part := range slices.Chunk(rows, projectBlock) {
		gather(block, x, part)
		Gemm(blas.NoTrans, blas.NoTrans, 1, block.Slice(0, len(part)), w, 0, a.Slice(done, done+len(part)))
		done += len(part)
	}
	return a, nil
}

// CheckDetections returns an *invalid.Error unless the detections a have the given number
// of columns and the descriptions u have the given number of attributes.
func CheckDetections(a dataset.Matrix[float32], detections int, u dataset.Matrix[float64], attributes int) error {
	for _, c := range []struct {
		field     string
		want, got int
	}{{"detections", detections, a.Cols}, {"attributes", attributes, u.Cols}} {
		if c.want != c.got {
			return &invalid.Error{Field: c.field, Want: fmt.Sprintf("%d, as in training", c.want), Got: fmt.Sprint(c.got)}
		}
	}
	return nil
}

// Finite returns the scores of a model, or a *model.NotFinite if one is NaN, which would
// count as the first class.
func Finite(scores dataset.Matrix[float32]) (dataset.Matrix[float32], error) {
	for _, v := range scores.Data {
		if v != v {
			return scores, &model.NotFinite{Term: "score", Value: float64(v)}
		}
	}
	return scores, nil
}
