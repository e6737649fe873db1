package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

var workers atomic.Int64 // 0 means GOMAXPROCS

// SetWorkers bounds the goroutines that one loop is split over; n < 1 means the number
// of cores.
func SetWorkers(n int) { workers.Store(int64(max(n, 0))) }

// Workers returns how many goroutines one loop is split over.
func Workers() int {
	if n := int(workers.Load()); n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// For calls body on consecutive ranges that cover [0, n), in parallel. grain is the least
// length of a range that is worth a goroutine.
func For(n, grain int, body func(lo, hi int)) {
	parts := min(Workers(), n/max(grain, 1))
	if parts <= 1 {
		if n > 0 {
			body(0, n)
		}
		return
	}
	var wg sync.WaitGroup
	for p := range parts - 1 {
		wg.Go(func() { body(p*n/parts, (p+1)*n/parts) })
	}
	body((parts-1)*n/parts, n)
	wg.Wait()
}
