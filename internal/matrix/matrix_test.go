package matrix_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/testkit"
)

// operand is a view and the matrix that it stands for, written out.
type operand struct {
	view  matrix.View[float64]
	plain matrix.Matrix[float64]
}

// draw makes an operand of rows x cols: columns of a wider matrix, transposed or not, and scaled.
func draw(t *rapid.T, rows, cols int) operand {
	before, after := rapid.IntRange(0, 2).Draw(t, "columns before"), rapid.IntRange(0, 2).Draw(t, "columns after")
	factor, transposed := rapid.SampledFrom([]float64{1, -2, 0.5}).Draw(t, "factor"), rapid.Bool().Draw(t, "transposed")
	height, width := rows, cols
	if transposed {
		height, width = cols, rows
	}
	m := matrix.New[float64](height, before+width+after)
	for i := range m.Data {
		m.Data[i] = float64(rapid.IntRange(-9, 9).Draw(t, "number"))
	}
	o := operand{m.Columns(before, before+width).Times(factor), matrix.New[float64](rows, cols)}
	if transposed {
		o.view = o.view.T()
	}
	for i := range rows {
		for j := range cols {
			row, col := i, j
			if transposed {
				row, col = j, i
			}
			o.plain.Row(i)[j] = factor * m.Row(row)[before+col]
		}
	}
	return o
}

// Products of views are those of the matrices that they stand for. Other columns of the
// matrix that is written to keep their values.
func TestProductsOfViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 5)
		m, n, k := size.Draw(t, "rows"), size.Draw(t, "columns"), size.Draw(t, "length of sums")
		a, b := draw(t, m, k), draw(t, k, n)
		got, want := matrix.New[float64](m, n+2), matrix.New[float64](m, n+2)
		for i := range got.Data {
			got.Data[i], want.Data[i] = float64(i), float64(i)
		}
		product := matrix.New[float64](m, n)
		for i := range m {
			for j := range n {
				for l := range k {
					product.Row(i)[j] += a.plain.Row(i)[l] * b.plain.Row(l)[j]
				}
				want.Row(i)[1+j] += product.Row(i)[j]
			}
		}
		matrix.AddMul(got.Columns(1, 1+n), a.view, b.view)
		testkit.NearAll(t, "sum", got.Data, want.Data, 1e-12)
		testkit.NearAll(t, "product", matrix.Product(a.view, b.view).Data, product.Data, 1e-12)
		into := got.Slice(0, m)
		matrix.Mul(into.Columns(2, 2+n), a.plain, b.view)
		for i := range m {
			testkit.NearAll(t, "product", into.Row(i)[2:], product.Row(i), 1e-12)
		}
	})
}

// Operands cost no memory beside their numbers.
func TestProductsDoNotAllocate(t *testing.T) {
	a, b, c := matrix.New[float32](3, 2), matrix.New[float32](3, 2), matrix.New[float32](3, 3)
	testkit.Equal(t, "allocations", testing.AllocsPerRun(100, func() { matrix.Mul(c, a, b.T()) }), 0.0)
}

func TestProductsCheckSizes(t *testing.T) {
	defer func() {
		testkit.Equal(t, "panic", recover(), "matrix: the product of 3 x 2 and 3 x 2 is written into 3 x 3")
	}()
	a := matrix.New[float32](3, 2)
	matrix.Mul(matrix.New[float32](3, 3), a, a)
}
