package simulate_test

import (
	"testing"

	"github.com/lago-train/lago-train/dataset/simulate"
)

func BenchmarkMake(b *testing.B) {
	for _, name := range simulate.Presets() {
		b.Run(name, func(b *testing.B) {
			spec, _ := simulate.Preset(name)
			b.ReportAllocs()
			b.SetBytes(int64(spec.Samples) * int64(spec.Dims) * 4)
			for b.Loop() {
				if _, err := simulate.Make(spec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
