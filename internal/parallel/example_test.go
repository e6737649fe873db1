package parallel_test

import (
	"fmt"

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
