package numeric_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/lago-train/lago-train/internal/numeric"
	"github.com/lago-train/lago-train/internal/testkit"
)

// Numbers are written with the same bytes whatever their bytes in memory are.
func TestWrite(t *testing.T) {
	defer func(was bool) { numeric.LittleEndian = was }(numeric.LittleEndian)
	for _, numeric.LittleEndian = range []bool{false, numeric.LittleEndian} {
		var b bytes.Buffer
		if err := errors.Join(numeric.Write(&b, []float32{1}), numeric.Write(&b, []float64{-2})); err != nil || b.String() != "\x00\x00\x80\x3f\x00\x00\x00\x00\x00\x00\x00\xc0" {
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
		if numeric.Finite(v) != want || numeric.NotFinite(list) != index {
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
		got := float64(numeric.Float16(binary.LittleEndian.AppendUint16(nil, uint16(bits))))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != (bits>>15 == 1) {
			t.Fatalf("Float16(%#x) = %g, expected %g", bits, got, want)
		}
	}
	for bits, want := range map[uint16]float32{0: 0, 0xc000: -2, 0x3fc0: 1.5, 0x7f80: float32(math.Inf(1)), 0x0001: 0x1p-133} {
		testkit.Equal(t, fmt.Sprintf("BFloat16(%#x)", bits), numeric.BFloat16(binary.LittleEndian.AppendUint16(nil, bits)), want)
	}
}

func TestExp32(t *testing.T) {
	for i := range 35000 {
		x := float32(i)/200 - 87
		want := math.Exp(float64(x))
		if got := float64(numeric.Exp32(x)); math.Abs(got-want) > (2e-7+1e-7*math.Abs(float64(x)))*want {
			t.Fatalf("exp(%g) is %g, expected %g", x, got, want)
		}
	}
	nan := float32(math.NaN())
	if low, high, not := numeric.Exp32(-88), numeric.Exp32(89), numeric.Exp32(nan); low != 0 || !math.IsInf(float64(high), 1) || not == not {
		t.Errorf("found %g, %g and %g, expected 0, infinity and NaN", low, high, not)
	}
}
