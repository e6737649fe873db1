package safetensors_test

import (
	"bytes"
	"fmt"

	"github.com/lago-train/lago-train/internal/safetensors"
)

func Example() {
	var file bytes.Buffer
	err := safetensors.Write(&file, []safetensors.Tensor{
		{Name: "W", Shape: []int{2, 3}, F32: []float32{1, 2, 3, 4, 5, 6}},
		{Name: "b", Shape: []int{3}, F32: []float32{0, 0.5, 1}},
	}, map[string]string{"made by": "an example"})
	if err != nil {
		fmt.Println(err)
		return
	}

	f, err := safetensors.Read(&file, "weights.safetensors")
	if err != nil {
		fmt.Println(err)
		return
	}
	b, ok := f.Tensor("b")
	fmt.Println(b.Shape, b.F32, ok)
	fmt.Println(f.Metadata["made by"])
	// Output:
	// [3] [0 0.5 1] true
	// an example
}
