package baseline_test

import (
	"fmt"
	"log"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/baseline/ranking"
)

// The state of one learner resumes training in another.
func Example() {
	examples := method.Examples{
		X:      dataset.Matrix[float32]{Rows: 4, Cols: 2, Data: []float32{3, 0, 2, 1, 0, 3, 1, 2}},
		Rows:   []int{0, 1, 2, 3},
		Labels: []int{0, 0, 1, 1},
		U:      dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{1, 0, 0, 1}}, // striped, large
	}
	settings := ranking.Default(ranking.SJE)
	learner, err := settings.Learn(examples, 1)
	if err != nil {
		log.Fatal(err)
	}
	if _, _, err := learner.Epoch(1); err != nil {
		log.Fatal(err)
	}

	other, err := settings.Learn(examples, 1)
	if err != nil {
		log.Fatal(err)
	}
	for i, t := range learner.State() {
		copy(other.State()[i].Matrix.Data, t.Matrix.Data)
	}
	for _, l := range []method.Learner{learner, other} {
		if _, _, err := l.Epoch(2); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(slices.Equal(learner.State()[0].Matrix.Data, other.State()[0].Matrix.Data))
	// Output: true
}
