// Package parallel splits loops over the processors that this process may use.
//
// It is for loops whose parts write to different memory, so that results do not depend
// on the number of parts. It is not a scheduler: loops that run at the same time share the
// processors, the first to begin takes those that are idle.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var (
	limit atomic.Int64 // 0 means GOMAXPROCS
	busy  atomic.Int64 // goroutines in the bodies of loops
)

// Limit sets how many goroutines all loops together are split over; n < 1 means GOMAXPROCS.
// It is for the start of a program that sets GOMAXPROCS to another number, and for tests.
func Limit(n int) { limit.Store(int64(max(n, 0))) }

// Workers returns the most goroutines that one loop is split over.
func Workers() int {
	if n := int(limit.Load()); n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// For calls body on consecutive ranges that cover [0, n), in parallel where other loops leave
// processors idle. grain is the least length of a range that is worth a goroutine.
func For(n, grain int, body func(lo, hi int)) {
	most := min(Workers(), n/max(grain, 1))
	if most <= 1 {
		if n > 0 {
			body(0, n)
		}
		return
	}
	parts := 1 + reserve(most-1)
	var left atomic.Int64
	var wg sync.WaitGroup
	left.Store(int64(parts - 1))
	for p := range parts - 1 {
		wg.Add(1)
		help(func() {
			defer wg.Done()
			defer left.Add(-1)
			defer busy.Add(-1)
			body(p*n/parts, (p+1)*n/parts)
		})
	}
	// Deferred, so that a panic of body that is recovered leaves nothing reserved.
	defer func() {
		busy.Add(-1)
		for start := time.Now(); left.Load() > 0 && time.Since(start) < patience; {
		}
		wg.Wait()
	}()
	body((parts-1)*n/parts, n)
}

// reserve counts the caller and at most so many helpers as busy, and returns the number of helpers.
func reserve(helpers int) int {
	for {
		now := busy.Load()
		h := min(max(Workers()-int(now)-1, 0), helpers)
		if busy.CompareAndSwap(now, now+1+int64(h)) {
			return h
		}
	}
}

// patience is how long a goroutine that waits keeps its processor. A training step has a dozen short
// loops, and to wake a processor takes about as long as one of them, on a virtual machine 0.1 ms.
const patience = 100 * time.Microsecond

var (
	waiting atomic.Int64               // helpers that wait for a part
	queue   = make(chan func(), 1<<10) // of parts for them
)

// help runs a part on a helper that waits for one, otherwise on a new one.
func help(part func()) {
	if takeWaiting() {
		queue <- part
		return
	}
	go func() {
		for part != nil {
			part()
			part = nextPart()
		}
	}()
}

// nextPart returns nil if there is none for a while.
func nextPart() func() {
	waiting.Add(1)
	for start := time.Now(); time.Since(start) < patience; {
		select {
		case part := <-queue:
			return part
		default:
		}
	}
	if takeWaiting() {
		return nil
	}
	return <-queue // a loop counts on this helper
}

// takeWaiting takes one from the helpers that wait, and reports whether there was one.
func takeWaiting() bool {
	for n := waiting.Load(); n > 0; n = waiting.Load() {
		if waiting.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}
