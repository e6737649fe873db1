// Package numeric finds numbers that are NaN or infinite, and converts numbers between their
// bytes in files, which are little-endian, and memory.
package numeric

import (
	"encoding/binary"
	"io"
	"math"
	"unsafe"
)

// Float is a floating-point number.
type Float interface{ ~float32 | ~float64 }

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
func Memory[T float32 | float64](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))),
		len(values)*int(unsafe.Sizeof(*new(T))))
}

// Write writes the bytes of numbers.
func Write[T float32 | float64](w io.Writer, values []T) error {
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
