package bilinear_test

import (
	"fmt"
	"log"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline/bilinear"
)

// A W that was found somewhere: the first feature shows stripes, the second size.
func Example() {
	m := &bilinear.Model{
		W:        dataset.Matrix[float32]{Rows: 2, Cols: 2, Data: []float32{1, 0, 0, 1}},
		Features: bilinear.Unit,
	}
	x := dataset.Matrix[float32]{Rows: 1, Cols: 2, Data: []float32{3, 4}}
	u := dataset.Matrix[float64]{Rows: 3, Cols: 2, Data: []float64{
		1, 0, // striped
		0, 1, // large
		1, 1,
	}}
	scores, err := m.Score(x, []int{0}, u)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f\n", scores.Data)
	// Output: [0.6 0.8 1.4]
}
