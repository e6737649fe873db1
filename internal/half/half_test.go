package half_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lago-train/lago-train/internal/half"
)

func Example() {
	fmt.Println(half.Float16(0x3c00), half.BFloat16(0x3f80))
	// Output: 1 1
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
		got := float64(half.Float16(uint16(bits)))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != (bits>>15 == 1) {
			t.Fatalf("Float16(%#x) = %g, expected %g", bits, got, want)
		}
	}
}

func TestBFloat16(t *testing.T) {
	for bits, want := range map[uint16]float32{0: 0, 0xc000: -2, 0x3fc0: 1.5, 0x7f80: float32(math.Inf(1)), 0x0001: 0x1p-133} {
		if got := half.BFloat16(bits); got != want {
			t.Errorf("BFloat16(%#x) = %g, expected %g", bits, got, want)
		}
	}
}
