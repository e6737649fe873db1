// Package numeric finds numbers that are NaN or infinite, and converts numbers between their
// bytes in files, which are little-endian, and memory.
package numeric

import (
	"encoding/binary"
	"math"
)

// Float is a floating-point number.
type Float interface{ ~float32 | ~float64 }

// Finite reports whether v is neither NaN nor infinite.
func Finite[T Float](v T) bool { return v-v == 0 }

// AllFinite reports whether all values are finite. It multiplies by zero, which leaves NaN of
// whatever is not finite, and so needs no branch per value.
func AllFinite[T Float](values []T) bool {
	var s T
	for _, v := range values {
		s += v * 0
	}
	return s == 0
}

// NotFinite returns the index of the first value that is not finite, or -1.
func NotFinite[T Float](values []T) int {
	for i, v := range values {
		if !Finite(v) {
			return i
		}
	}
	return -1
}

// Float16 returns the value of an IEEE 754 binary16: a sign, 5 bits of exponent with bias 15,
// and 10 bits of fraction.
func Float16(bits uint16) float32 {
	const (
		fractionBits = 10
		rebias       = 127 - 15
	)
	sign := uint32(bits>>15) << 31
	exponent := uint32(bits>>fractionBits) & 0x1f
	fraction := uint32(bits & (1<<fractionBits - 1))
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

// BFloat16 returns the value of a bfloat16, the upper half of a float32.
func BFloat16(bits uint16) float32 { return math.Float32frombits(uint32(bits) << 16) }

// Append appends the bytes of numbers.
func Append[T float32 | float64](b []byte, values []T) []byte {
	switch values := any(values).(type) {
	case []float32:
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	case []float64:
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}
