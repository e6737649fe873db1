package baseline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

// Tensor is a named matrix of a model or of a learner's state.
type Tensor struct {
	Name   string
	Matrix dataset.Matrix[float32]
}

// Tensors are tensors with unique names.
type Tensors []Tensor

// Reader reads the tensors of a model by name.
type Reader struct {
	Tensors Tensors
	Err     error // the first problem, an *invalid.Error that names the tensor
}

// Get returns the matrix with the given name and size, or an empty one if there is none;
// -1 stands for any size above 0.
func (r *Reader) Get(name string, rows, cols int) dataset.Matrix[float32] {
	fits := func(want, got int) bool { return got == want || want < 0 && got > 0 }
	got := "none"
	for _, t := range r.Tensors {
		if m := t.Matrix; t.Name == name {
			if fits(rows, m.Rows) && fits(cols, m.Cols) && len(m.Data) == m.Rows*m.Cols {
				return m
			}
			got = fmt.Sprintf("%d x %d", m.Rows, m.Cols)
		}
	}
	want := strings.ReplaceAll(fmt.Sprintf("a matrix of %d x %d", rows, cols), "-1", "any")
	r.Err = cmp.Or(r.Err, error(&invalid.Error{Field: name, Want: want, Got: got}))
	return dataset.Matrix[float32]{}
}

// Gemm computes C = alpha op(A) op(B) + beta C.
func Gemm[T model.Float](tA, tB blas.Transpose, alpha T, a, b dataset.Matrix[T], beta T, c dataset.Matrix[T]) {
	inner := a.Cols
	if tA == blas.Trans {
		inner = a.Rows
	}
	switch a := any(a).(type) {
	case dataset.Matrix[float32]:
		b, c := any(b).(dataset.Matrix[float32]), any(c).(dataset.Matrix[float32])
		blas32.Implementation().Sgemm(tA, tB, c.Rows, c.Cols, inner, float32(alpha), a.Data, a.Cols, b.Data, b.Cols, float32(beta), c.Data, c.Cols)
	case dataset.Matrix[float64]:
		b, c := any(b).(dataset.Matrix[float64]), any(c).(dataset.Matrix[float64])
		blas64.Implementation().Dgemm(tA, tB, c.Rows, c.Cols, inner, float64(alpha), a.Data, a.Cols, b.Data, b.Cols, float64(beta), c.Data, c.Cols)
	}
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
