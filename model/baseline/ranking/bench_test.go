package ranking

import (
	"testing"
)

// BenchmarkEpoch has the sizes of 64 classes of CUB.
func BenchmarkEpoch(b *testing.B) {
	e := examples(3738, 2048, 312, 64, 9)
	for _, name := range names {
		b.Run(string(name), func(b *testing.B) {
			l := newLearner(b, Default(name), e, 1)
			number := 0
			for b.Loop() {
				number++
				epoch(b, l, number)
			}
		})
	}
}
