package parallel_test

import (
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/parallel"
)

// Every index is visited once, whatever the number of workers and the grain.
func TestForCoversEveryIndexOnce(t *testing.T) {
	t.Cleanup(func() { parallel.SetWorkers(0) })
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		grain := rapid.IntRange(-1, 40).Draw(t, "grain")
		parallel.SetWorkers(rapid.IntRange(0, 9).Draw(t, "workers"))
		visits := make([]atomic.Int32, n)
		parallel.For(n, grain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				visits[i].Add(1)
			}
		})
		for i := range visits {
			if got := visits[i].Load(); got != 1 {
				t.Fatalf("index %d of %d was visited %d times", i, n, got)
			}
		}
	})
}

func TestWorkersDefaultToTheCores(t *testing.T) {
	t.Cleanup(func() { parallel.SetWorkers(0) })
	parallel.SetWorkers(3)
	if got := parallel.Workers(); got != 3 {
		t.Errorf("Workers() = %d after SetWorkers(3)", got)
	}
	parallel.SetWorkers(-1)
	if got := parallel.Workers(); got < 1 {
		t.Errorf("Workers() = %d after SetWorkers(-1), expected the number of cores", got)
	}
}
