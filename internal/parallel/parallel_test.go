package parallel_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/parallel"
)

func ExampleFor() {
	squares := make([]int, 5)
	parallel.For(len(squares), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			squares[i] = i * i
		}
	})
	fmt.Println(squares)
	// Output: [0 1 4 9 16]
}

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

// parts is the number of ranges that a loop is split into, with other loops in each.
func parts(n int, within func()) int {
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
	alone := func(when string) {
		t.Helper()
		if got := parts(9, func() {}); got != 4 {
			t.Errorf("%s: %d parts, expected all 4", when, got)
		}
	}
	alone("alone")
	var begun sync.WaitGroup // no part of the outer loop ends before each has begun
	begun.Add(4)
	outer := parts(4, func() {
		begun.Done()
		begun.Wait()
		if inner := parts(9, func() {}); inner > 4 {
			t.Errorf("%d parts in a loop, expected at most 4", inner)
		}
	})
	if outer != 4 {
		t.Errorf("%d parts, expected 4", outer)
	}
	alone("after loops in a loop")

	// A loop that takes two of four processors leaves two.
	begun.Add(2)
	parts(2, func() {
		begun.Done()
		begun.Wait()
	})
	half := make(chan int)
	end, ready := make(chan bool), make(chan bool)
	go func() {
		half <- parts(2, func() { ready <- true; <-end })
	}()
	<-ready
	<-ready
	if got := parts(9, func() {}); got != 2 {
		t.Errorf("%d parts beside a loop of two, expected 2", got)
	}
	close(end)
	if got := <-half; got != 2 {
		t.Errorf("%d parts, expected 2", got)
	}
	alone("after two loops")

	func() {
		defer func() { _ = recover() }()
		parallel.For(9, 9, func(int, int) { panic("one part") })
	}()
	func() {
		defer func() { _ = recover() }()
		parallel.For(9, 1, func(_, hi int) {
			if hi == 9 { // the caller's part
				panic("of the caller")
			}
		})
	}()
	alone("after a panic")
}

func TestTheDefaultIsTheProcessors(t *testing.T) {
	t.Cleanup(func() { parallel.Limit(0) })
	parallel.Limit(3)
	if got := parallel.Workers(); got != 3 {
		t.Errorf("%d workers at a limit of 3", got)
	}
	parallel.Limit(-1)
	if got := parallel.Workers(); got < 1 {
		t.Errorf("%d workers without a limit", got)
	}
}
