// Package half converts numbers of 16 bits, as files of arrays and of weights hold them,
// to float32, without loss.
package half

import "math"

// Float16 returns the value of an IEEE 754 binary16: a sign, 5 bits of exponent with
// bias 15, and 10 bits of fraction.
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
