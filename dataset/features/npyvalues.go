package features

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
)

// npyValues is how the values of an array are stored.
type npyValues struct {
	width   int                             // bytes of a value
	convert func(dst []float32, src []byte) // len(src) is len(dst) x width
}

// npyTypes are the types of values by their name in NumPy, which begins with the
// byte order. Doubles beyond the range of float32 become infinite.
var npyTypes = map[string]npyValues{
	"<f2": {2, halves(binary.LittleEndian)},
	">f2": {2, halves(binary.BigEndian)},
	"<f4": {4, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	}},
	">f4": {4, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = math.Float32frombits(binary.BigEndian.Uint32(src[4*i:]))
		}
	}},
	"<f8": {8, doubles(binary.LittleEndian)},
	">f8": {8, doubles(binary.BigEndian)},
}

// valuesOf returns how the values of an array are stored, if they are floats.
func valuesOf(h npy.Header, file string) (npyValues, error) {
	v, known := npyTypes[h.Type]
	if known {
		return v, nil
	}
	got := strconv.Quote(h.Type)
	if h.Records() {
		got = "records of several fields"
	}
	return v, &invalid.Error{
		Where: file, Field: "header", Got: got,
		Want: "values of float16, float32 or float64 (x.astype(numpy.float32) makes them so)",
	}
}

func halves(order binary.ByteOrder) func([]float32, []byte) {
	return func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = fromHalf(order.Uint16(src[2*i:]))
		}
	}
}

func doubles(order binary.ByteOrder) func([]float32, []byte) {
	return func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(math.Float64frombits(order.Uint64(src[8*i:])))
		}
	}
}

// fromHalf returns the value of a number of IEEE 754's binary16: a sign, 5 bits of
// exponent with a bias of 15, and 10 of fraction.
func fromHalf(bits uint16) float32 {
	const (
		fractionBits = 10
		rebias       = 127 - 15
	)
	sign := uint32(bits>>15) << 31
	exponent := uint32(bits>>fractionBits) & 0x1f
	fraction := uint32(bits & (1<<fractionBits - 1))
	switch exponent {
	case 0: // zero, or below the smallest exponent: fraction x 2^-24
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f: // infinite, or NaN
		exponent = 0xff
	default:
		exponent += rebias
	}
	return math.Float32frombits(sign | exponent<<23 | fraction<<(23-fractionBits))
}
