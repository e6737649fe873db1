package preprocess_test

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/preprocess"
)

func ExampleFit() {
	x := dataset.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{
		1, 10,
		3, 30,
		100, 0, // not a training sample
	}}
	m, err := preprocess.Fit(preprocess.Standardize, 0, x, []int{0, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	y, err := m.Apply(x, []int{0, 1})
	fmt.Println(y.Data, err)
	// Output: [-1 -1 1 1] <nil>
}
