package eszsl_test

import (
	"fmt"
	"log"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
)

// Two features that show two attributes; the class that has both was never seen.
func Example() {
	x := dataset.Matrix[float32]{Rows: 5, Cols: 2, Data: []float32{
		3, 0, // striped
		2, 1,
		0, 3, // large
		1, 2,
		2, 2, // what is it?
	}}
	seen := dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{1, 0, 0, 1}}
	sums, err := eszsl.NewSums(x, []int{0, 1, 2, 3}, []int{0, 0, 1, 1}, 2)
	if err != nil {
		log.Fatal(err)
	}
	regression, err := sums.Regress(1)
	if err != nil {
		log.Fatal(err)
	}
	m, err := regression.Fit(seen, 1, false)
	if err != nil {
		log.Fatal(err)
	}
	unseen := dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{1, 0, 1, 1}}
	scores, err := m.Score(x, []int{4}, unseen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("striped %.2f, striped and large %.2f\n", scores.Data[0], scores.Data[1])
	// Output: striped 0.32, striped and large 0.63
}
