package kernelalign_test

import (
	"fmt"
	"log"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/baseline/kernelalign"
)

// Three features that show three attributes; the class that has the first two was
// never seen.
func Example() {
	x := dataset.Matrix[float32]{Rows: 5, Cols: 3, Data: []float32{
		3, 0, 0, // striped
		0, 3, 0, // large
		0, 0, 3, // winged
		0, 0, 2,
		2, 2, 0, // what is it?
	}}
	seen := dataset.Matrix[float64]{Rows: 3, Cols: 3, Data: []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}}
	examples := method.Examples{X: x, Rows: []int{0, 1, 2, 3}, Labels: []int{0, 1, 2, 2}, U: seen}

	config := kernelalign.Default()
	config.Kernel, config.Sigma = kernelalign.Cauchy, 1
	learner, err := config.Learn(examples, 1)
	if err != nil {
		log.Fatal(err)
	}
	for epoch := 1; epoch <= 200; epoch++ {
		if _, _, err := learner.Epoch(epoch); err != nil {
			log.Fatal(err)
		}
	}
	unseen := dataset.Matrix[float64]{Rows: 2, Cols: 3, Data: []float64{1, 1, 0, 0, 1, 1}}
	scores, err := model.Score(learner.Model(), x, []int{4}, unseen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("striped and large before large and winged:", scores.Data[0] > scores.Data[1])
	// Output: striped and large before large and winged: true
}
