package matlab

import (
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkRead reads features like those of a pooled ReLU: a quarter are zero, and
// the rest have the digits of a float32 in a double. MB/s are of doubles.
func BenchmarkRead(b *testing.B) {
	const dim, samples = 2048, 1000
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, dim*samples)
	for i := range values {
		values[i] = float64(float32(max(0, math.Abs(random.NormFloat64())-0.32)))
	}
	plain := little.doubles("x", []int{dim, samples}, values...)
	for _, c := range []struct {
		name    string
		element []byte
	}{
		{"plain", plain},
		{"compressed", little.compressed(plain)},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := little.file(c.element)
			b.SetBytes(8 * dim * samples)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := read(data, "x"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
