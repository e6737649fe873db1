package safetensors

import "fmt"

// Tensor is a named array, row by row. One of F32 and F64 holds its numbers.
type Tensor struct {
	Name  string
	Shape []int
	F32   []float32
	F64   []float64
}

// The types of tensors that this package knows, as headers name them.
const (
	float32Type = "F32"
	float64Type = "F64"
)

func (t Tensor) dtype() string {
	if t.F64 != nil {
		return float64Type
	}
	return float32Type
}

func (t Tensor) bytes() int {
	if t.F64 != nil {
		return 8 * len(t.F64)
	}
	return 4 * len(t.F32)
}

// check returns an error where the shape does not hold the numbers.
func (t Tensor) check() error {
	size, err := sizeOf(t.Shape)
	if err != nil {
		return fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	if t.F32 != nil && t.F64 != nil {
		return fmt.Errorf("tensor %q: expected F32 or F64, found both", t.Name)
	}
	if n := len(t.F32) + len(t.F64); n != size {
		return fmt.Errorf("tensor %q: expected %d numbers for shape %v, found %d", t.Name, size, t.Shape, n)
	}
	return nil
}

// maxNumbers bounds a tensor, so that no product of sizes overflows.
const maxNumbers = 1 << 40

// sizeOf is the product of a shape.
func sizeOf(shape []int) (int, error) {
	size := 1
	for _, n := range shape {
		if n < 0 || (n > 0 && size > maxNumbers/n) {
			return 0, fmt.Errorf("shape: expected sizes of at most %d numbers together, found %v", maxNumbers, shape)
		}
		size *= n
	}
	return size, nil
}
