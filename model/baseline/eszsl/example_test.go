package eszsl_test

import (
	"fmt"
	"log"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/method"
)

// Two features indicate two attributes; the class that has both is unseen.
func Example() {
	e := method.Examples{
		X: dataset.Matrix[float32]{Rows: 5, Cols: 2, Data: []float32{
			3, 0, // striped
			2, 1,
			0, 3, // large
			1, 2,
			2, 2, // unseen
		}},
		Rows: []int{0, 1, 2, 3}, Labels: []int{0, 0, 1, 1},
		U: dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{1, 0, 0, 1}},
	}
	learner, err := method.Learn(&eszsl.Config{Gamma: 1, Lambda: 1}, e, 0)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := learner.Epoch(1); err != nil {
		log.Fatal(err)
	}
	unseen := dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{1, 0, 1, 1}}
	scores, err := model.Score(learner.Model(), e.X, []int{4}, unseen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("striped %.2f, striped and large %.2f\n", scores.Data[0], scores.Data[1])
	// Output: striped 0.32, striped and large 0.63
}
