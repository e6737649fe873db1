package dataset

import (
	"fmt"
	"iter"
	"math"
	"runtime"
	"sync"

	"github.com/lago-train/lago-train/internal/invalid"
)

// featuresFinite reports each sample that has values that are NaN or infinite.
// It reads every feature, hence one goroutine a core, each on its own run of
// samples.
func featuresFinite(d *Dataset) iter.Seq[invalid.Error] {
	x := d.Features
	workers := min(runtime.GOMAXPROCS(0), x.Rows)
	bad := make([][]int, workers) // samples
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w * x.Rows / workers; i < (w+1)*x.Rows/workers; i++ {
				if !AllFinite(x.Row(i)) {
					bad[w] = append(bad[w], i)
				}
			}
		})
	}
	wg.Wait()
	return func(yield func(invalid.Error) bool) {
		for _, samples := range bad {
			for _, i := range samples {
				if !yield(notFinite(i, x.Row(i))) {
					return
				}
			}
		}
	}
}

// AllFinite reports whether the values of a sample are numbers that are not infinite.
// It multiplies by zero, which leaves NaN of whatever is not finite, and so needs no
// branch for each value.
func AllFinite(row []float32) bool {
	var s float32
	for _, v := range row {
		s += v * 0
	}
	return s == 0
}

// NotFinite returns the place of the first value of a sample that is not finite, or
// -1, and how many such there are.
func NotFinite(row []float32) (first, n int) {
	first = -1
	for j, v := range row {
		if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			continue
		}
		if n == 0 {
			first = j
		}
		n++
	}
	return first, n
}

// notFinite names the first value of a sample that is not finite.
func notFinite(sample int, row []float32) invalid.Error {
	j, n := NotFinite(row)
	e := invalid.Error{Field: fmt.Sprintf("feature %d of sample %d", j, sample), Want: "a finite number", Got: fmt.Sprint(row[j])}
	if n > 1 {
		e.Got = fmt.Sprintf("%s, and %d more such in this sample", e.Got, n-1)
	}
	return e
}
