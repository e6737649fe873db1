package parallel_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/testkit"
)

// Every index is visited once, whatever the limit, the grain and other loops.
func TestForCoversEveryIndexOnce(t *testing.T) {
	t.Cleanup(func() { parallel.Limit(0) })
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		grain := rapid.IntRange(-1, 40).Draw(t, "grain")
		loops := rapid.IntRange(1, 4).Draw(t, "loops")
		parallel.Limit(rapid.IntRange(0, 9).Draw(t, "limit"))
		visits := make([]atomic.Int32, n)
		var wg sync.WaitGroup
		for range loops {
			wg.Go(func() {
				parallel.For(n, grain, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						visits[i].Add(1)
					}
				})
			})
		}
		wg.Wait()
		for i := range visits {
			if got := int(visits[i].Load()); got != loops {
				t.Fatalf("index %d of %d was visited %d times in %d loops", i, n, got, loops)
			}
		}
	})
}

// split returns the number of ranges that a loop is split into, and calls within in each.
func split(n int, within func()) int {
	var parts atomic.Int32
	parallel.For(n, 1, func(int, int) {
		parts.Add(1)
		within()
	})
	return int(parts.Load())
}

func TestLoopsShareTheProcessors(t *testing.T) {
	t.Cleanup(func() { parallel.Limit(0) })
	parallel.Limit(4)
	want := func(when string, parts int) {
		t.Helper()
		testkit.Equal(t, when, split(9, func() {}), parts)
	}
	want("alone", 4)
	end, ready, over := make(chan bool), make(chan bool), make(chan bool)
	go func() {
		split(2, func() {
			ready <- true
			<-end
		})
		close(over)
	}()
	<-ready
	<-ready
	want("beside a loop of two", 2)
	close(end)
	<-over
	want("after it", 4)
	func() {
		defer func() { _ = recover() }()
		parallel.For(9, 1, func(_, hi int) {
			if hi == 9 { // the caller's part
				panic("recovered")
			}
		})
	}()
	want("after a panic", 4)
}
