// Package matrix has dense matrices, views of them, their products, and what is computed from their numbers
// one by one: whether they are finite, exponentials, and their bytes in files, which are little-endian.
//
// A Matrix owns consecutive memory and is what the program stores. A View is an operand of a
// product: some columns of a matrix, its transpose, or a multiple of it, without a copy.
// Products run on the library of package blas.
package matrix

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/lago-train/lago-train/internal/blas"
)

// Float is a number that matrices hold.
type Float interface{ float32 | float64 }

// Matrix is a dense matrix in row-major order.
type Matrix[T Float] struct {
	Rows, Cols int
	Data       []T // Rows x Cols
}

// New returns a matrix of zeros.
func New[T Float](rows, cols int) Matrix[T] {
	return Matrix[T]{Rows: rows, Cols: cols, Data: make([]T, rows*cols)}
}

// Of returns the matrix of the rows that data holds, each of so many columns.
func Of[T Float](data []T, cols int) Matrix[T] {
	return Matrix[T]{Rows: len(data) / cols, Cols: cols, Data: data}
}

// Convert returns a copy of a matrix in another precision.
func Convert[To, From Float](m Matrix[From]) Matrix[To] {
	c := New[To](m.Rows, m.Cols)
	for i, v := range m.Data {
		c.Data[i] = To(v)
	}
	return c
}

// Row returns row i, sharing its memory.
func (m Matrix[T]) Row(i int) []T { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// Slice returns the rows from first to end-1, sharing their memory.
func (m Matrix[T]) Slice(first, end int) Matrix[T] {
	return Matrix[T]{Rows: end - first, Cols: m.Cols, Data: m.Data[first*m.Cols : end*m.Cols]}
}

// Gather returns a copy of the given rows.
func (m Matrix[T]) Gather(rows []int) Matrix[T] {
	to := New[T](len(rows), m.Cols)
	to.CopyRows(m, rows)
	return to
}

// CopyRows copies the given rows of x into the first rows of m.
func (m Matrix[T]) CopyRows(x Matrix[T], rows []int) {
	for i, r := range rows {
		copy(m.Row(i), x.Row(r))
	}
}

// AllRows returns the indices of all rows, from 0 to Rows-1.
func (m Matrix[T]) AllRows() []int {
	rows := make([]int, m.Rows)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// View is a part of a matrix in a product, sharing its memory.
type View[T Float] struct {
	rows, cols, stride int
	data               []T
	factor             T
	transposed         bool // rows, cols and stride are those before
}

// Operand is a Matrix or a View.
type Operand[T Float] interface{ operand(T) }

func (m Matrix[T]) operand(T) {}
func (v View[T]) operand(T)   {}

func (m Matrix[T]) view() View[T] { return View[T]{m.Rows, m.Cols, m.Cols, m.Data, 1, false} }

// T returns the transpose.
func (m Matrix[T]) T() View[T] { return m.view().T() }

// Times returns a multiple.
func (m Matrix[T]) Times(factor T) View[T] { return m.view().Times(factor) }

// Columns returns the columns from first to end-1.
func (m Matrix[T]) Columns(first, end int) View[T] {
	v := m.view()
	v.cols, v.data = end-first, m.Data[min(first, len(m.Data)):]
	return v
}

// T returns the transpose.
func (v View[T]) T() View[T] {
	v.transposed = !v.transposed
	return v
}

// Times returns a multiple.
func (v View[T]) Times(factor T) View[T] {
	v.factor *= factor
	return v
}

// size returns the rows and columns after transposition.
func (v View[T]) size() (rows, cols int) {
	if v.transposed {
		return v.cols, v.rows
	}
	return v.rows, v.cols
}

func (v View[T]) transpose() blas.Transpose {
	if v.transposed {
		return blas.Trans
	}
	return blas.NoTrans
}

// Mul writes the product a b into dst, which shares no memory with them. It panics if the
// sizes do not fit, or if dst is a transpose or a multiple.
func Mul[T Float](dst, a, b Operand[T]) { multiply(viewOf(dst), viewOf(a), viewOf(b), 0) }

// AddMul adds the product a b to dst, as Mul writes it.
func AddMul[T Float](dst, a, b Operand[T]) { multiply(viewOf(dst), viewOf(a), viewOf(b), 1) }

// Product returns the product a b.
func Product[T Float](a, b Operand[T]) Matrix[T] {
	x, y := viewOf(a), viewOf(b)
	rows, _ := x.size()
	_, cols := y.size()
	c := New[T](rows, cols)
	multiply(c.view(), x, y, 0)
	return c
}

// viewOf is no method of Operand, so that operands need no memory of the heap.
func viewOf[T Float](o Operand[T]) View[T] {
	switch o := o.(type) {
	case Matrix[T]:
		return o.view()
	case View[T]:
		return o
	}
	panic("matrix: an operand is neither a Matrix nor a View")
}

func multiply[T Float](c, a, b View[T], share T) {
	m, k := a.size()
	inner, n := b.size()
	if k != inner || c.rows != m || c.cols != n || c.transposed || c.factor != 1 {
		panic(fmt.Sprintf("matrix: the product of %d x %d and %d x %d is written into %d x %d", m, k, inner,
			n, c.rows, c.cols))
	}
	blas.Gemm(a.transpose(), b.transpose(), m, n, k, a.factor*b.factor, a.data, a.stride, b.data, b.stride,
		share, c.data, c.stride)
}

// Finite reports whether v is neither NaN nor infinite.
func Finite[T Float](v T) bool { return v-v == 0 }

// NotFinite returns the index of the first value that is not finite, or -1.
func NotFinite[T Float](values []T) int {
	for i, v := range values {
		if !Finite(v) {
			return i
		}
	}
	return -1
}

// CountUp reports whether each value is one above the value before.
func CountUp(values []float32) bool {
	for i, v := range values {
		if float64(v) != float64(values[0])+float64(i) {
			return false
		}
	}
	return true
}

// Float64, and the functions below, return the number in the first bytes.
func Float64(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

// Float32 reads 4 bytes.
func Float32(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

// BFloat16 reads a bfloat16, the upper half of a float32.
func BFloat16(b []byte) float32 {
	return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)
}

// Float16 reads an IEEE 754 binary16: a sign, 5 bits of exponent with bias 15, and 10 bits of fraction.
func Float16(b []byte) float32 {
	const (
		fractionBits = 10
		rebias       = 127 - 15
	)
	bits := uint32(binary.LittleEndian.Uint16(b))
	sign := bits >> 15 << 31
	exponent := bits >> fractionBits & 0x1f
	fraction := bits & (1<<fractionBits - 1)
	switch exponent {
	case 0: // zero or subnormal: fraction x 2^-24
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f: // infinite or NaN
		exponent = 0xff
	default:
		exponent += rebias
	}
	return math.Float32frombits(sign | exponent<<23 | fraction<<(23-fractionBits))
}

// Type is a type of numbers: their width in bytes, and how they are read.
type Type struct {
	Width  int
	Number func(b []byte) float64
}

// Types have the names of NumPy, without the byte order: f4 is a float of 4 bytes, i a signed and u
// an unsigned integer, b1 a boolean.
var Types = map[string]Type{
	"f2": {2, func(b []byte) float64 { return float64(Float16(b)) }},
	"f4": {4, func(b []byte) float64 { return float64(Float32(b)) }},
	"f8": {8, Float64},
	"b1": {1, func(b []byte) float64 { return float64(b[0]) }},
	"i1": {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	"u1": {1, func(b []byte) float64 { return float64(b[0]) }},
	"i2": {2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }},
	"u2": {2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }},
	"i4": {4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }},
	"u4": {4, func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) }},
	"i8": {8, func(b []byte) float64 { return float64(int64(binary.LittleEndian.Uint64(b))) }},
	"u8": {8, func(b []byte) float64 { return float64(binary.LittleEndian.Uint64(b)) }},
}

// Decode fills to with numbers, each read from a width of bytes, and returns it.
func Decode[T any](to []T, b []byte, width int, number func(b []byte) T) []T {
	for i := range to {
		to[i] = number(b[i*width:])
	}
	return to
}

// Count returns the product of the sizes of an array, and false if one is negative or the
// product exceeds most. Sizes come from files, and their product may overflow.
func Count(shape []int, most int) (n int, ok bool) {
	n = 1
	for _, size := range shape {
		if size < 0 || size > 0 && n > most/size {
			return 0, false
		}
		n *= size
	}
	return n, true
}

// LittleEndian says that numbers have the same bytes in memory as in files.
var LittleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Memory returns the bytes of numbers where they lie: to change them is to change the numbers.
func Memory[T Float](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))),
		len(values)*int(unsafe.Sizeof(*new(T))))
}

// Write writes the bytes of numbers.
func Write[T Float](w io.Writer, values []T) error {
	if !LittleEndian {
		return binary.Write(w, binary.LittleEndian, values)
	}
	_, err := w.Write(Memory(values))
	return err
}

// Exp32 is the exponential in float32, for numbers from -87 to 88, of which it has a relative error of
// at most 2e-7 + 1e-7 |x|; it is 0 below, and infinite above. It takes a third of the time of math.Exp.
func Exp32(x float32) float32 {
	switch {
	case x < -87:
		return 0
	case x > 88:
		return float32(math.Inf(1))
	case x != x:
		return x
	}
	t := x * math.Log2E
	n := int32(t + 0.5)
	if t < 0 {
		n = int32(t - 0.5)
	}
	f := t - float32(n) // from -0.5 to 0.5
	p := ((((1.5403530e-4*f+1.3333558e-3)*f+9.6181291e-3)*f+5.5504109e-2)*f+2.4022651e-1)*f + 6.9314718e-1
	return math.Float32frombits(math.Float32bits(p*f+1) + uint32(n)<<23)
}

// LogSumExp returns log sum_z exp(row[z]).
func LogSumExp[T Float](row []T) float64 {
	top := math.Inf(-1)
	for _, v := range row { // max is slower than a branch; NaN makes the sum NaN
		if float64(v) > top {
			top = float64(v)
		}
	}
	var sum float64
	if single, ok := any(row).([]float32); ok {
		for _, v := range single {
			sum += float64(Exp32(v - float32(top)))
		}
		return top + math.Log(sum)
	}
	for _, v := range row {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}
