// Package finite finds numbers that are NaN or infinite.
package finite

// Float is a floating-point number.
type Float interface{ ~float32 | ~float64 }

// Is reports whether v is neither NaN nor infinite.
func Is[T Float](v T) bool { return v-v == 0 }

// All reports whether all values are finite. It multiplies by zero, which leaves NaN of
// whatever is not finite, and so needs no branch per value.
func All[T Float](values []T) bool {
	var s T
	for _, v := range values {
		s += v * 0
	}
	return s == 0
}

// Index returns the index of the first value that is not finite, or -1.
func Index[T Float](values []T) int {
	for i, v := range values {
		if !Is(v) {
			return i
		}
	}
	return -1
}
