package dap_test

import (
	"fmt"
	"log"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/baseline/dap"
)

// Two features that show two attributes; the class that has both was never seen.
func Example() {
	e := method.Examples{
		X: dataset.Matrix[float32]{Rows: 5, Cols: 2, Data: []float32{
			3, 0, // striped
			2, 1,
			0, 3, // large
			1, 2,
			2, 3, // what is it?
		}},
		Rows: []int{0, 1, 2, 3}, Labels: []int{0, 0, 1, 1},
		U: dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{1, 0, 0, 1}},
	}
	learner, err := dap.Config{Prediction: dap.Direct, C: 1, Threshold: dap.Mean, Prior: dap.Empirical}.Learn(e, 0)
	if err != nil {
		log.Fatal(err)
	}
	if _, _, err := learner.Epoch(1); err != nil {
		log.Fatal(err)
	}
	unseen := dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{1, 0, 1, 1}}
	scores, err := model.Score(learner.Model(), e.X, []int{0, 4}, unseen)
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range [][]float32{scores.Row(0), scores.Row(1)} {
		fmt.Printf("striped %.2f, striped and large %.2f\n", math.Exp(float64(row[0])), math.Exp(float64(row[1])))
	}
	// Output:
	// striped 0.89, striped and large 0.11
	// striped 0.34, striped and large 0.66
}
