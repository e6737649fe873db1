package ranking_test

import (
	"testing"

	"github.com/lago-train/lago-train/model/baseline/ranking"
)

// BenchmarkEpoch has the sizes of 64 classes of CUB.
func BenchmarkEpoch(b *testing.B) {
	e := examples(3738, 2048, 312, 64, 9)
	for _, name := range names {
		b.Run(string(name), func(b *testing.B) {
			l := learner(b, ranking.Default(name), e, 1)
			number := 0
			for b.Loop() {
				number++
				epoch(b, l, number)
			}
		})
	}
}
