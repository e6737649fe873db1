package matrix_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
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

// Numbers are written with the same bytes whatever their bytes in memory are.
func TestWrite(t *testing.T) {
	defer func(was bool) { matrix.LittleEndian = was }(matrix.LittleEndian)
	for _, matrix.LittleEndian = range []bool{false, matrix.LittleEndian} {
		var b bytes.Buffer
		if err := errors.Join(matrix.Write(&b, []float32{1}), matrix.Write(&b, []float64{-2})); err != nil || b.String() != "\x00\x00\x80\x3f\x00\x00\x00\x00\x00\x00\x00\xc0" {
			t.Errorf("%x: %v", b.Bytes(), err)
		}
	}
}

func TestFinite(t *testing.T) {
	for v, want := range map[float64]bool{
		math.NaN(): false, math.Inf(1): false, math.Inf(-1): false,
		0: true, math.MaxFloat64: true, -math.SmallestNonzeroFloat64: true,
	} {
		index := 1
		if want {
			index = -1
		}
		list := []float64{0, v, v}
		if matrix.Finite(v) != want || matrix.NotFinite(list) != index {
			t.Errorf("%g: expected finite: %v", v, want)
		}
	}
}

// Every finite binary16 is a fraction times a power of two.
func TestFloat16(t *testing.T) {
	for bits := range uint32(1 << 16) {
		exponent, fraction := int(bits>>10)&0x1f, float64(bits&0x3ff)
		want := math.Ldexp(1+fraction/1024, exponent-15)
		switch {
		case exponent == 0:
			want = math.Ldexp(fraction, -24)
		case exponent == 31 && fraction == 0:
			want = math.Inf(1)
		case exponent == 31:
			want = math.NaN()
		}
		if bits>>15 == 1 {
			want = -want
		}
		got := float64(matrix.Float16(binary.LittleEndian.AppendUint16(nil, uint16(bits))))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != (bits>>15 == 1) {
			t.Fatalf("Float16(%#x) = %g, expected %g", bits, got, want)
		}
	}
	for bits, want := range map[uint16]float32{0: 0, 0xc000: -2, 0x3fc0: 1.5, 0x7f80: float32(math.Inf(1)), 0x0001: 0x1p-133} {
		testkit.Equal(t, fmt.Sprintf("BFloat16(%#x)", bits), matrix.BFloat16(binary.LittleEndian.AppendUint16(nil, bits)), want)
	}
}

func TestExp32(t *testing.T) {
	for i := range 35000 {
		x := float32(i)/200 - 87
		want := math.Exp(float64(x))
		if got := float64(matrix.Exp32(x)); math.Abs(got-want) > (2e-7+1e-7*math.Abs(float64(x)))*want {
			t.Fatalf("exp(%g) is %g, expected %g", x, got, want)
		}
	}
	nan := float32(math.NaN())
	if low, high, not := matrix.Exp32(-88), matrix.Exp32(89), matrix.Exp32(nan); low != 0 || !math.IsInf(float64(high), 1) || not == not {
		t.Errorf("found %g, %g and %g, expected 0, infinity and NaN", low, high, not)
	}
}
