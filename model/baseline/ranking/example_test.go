package ranking_test

import (
	"fmt"
	"log"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/baseline/ranking"
)

// Three features that show three attributes; no class that has two of them was seen.
func Example() {
	x := dataset.Matrix[float32]{Rows: 7, Cols: 3, Data: []float32{
		3, 0, 0, // striped
		2, 1, 0,
		0, 3, 0, // large
		0, 2, 1,
		0, 0, 3, // red
		1, 0, 2,
		2, 2, 0, // what is it?
	}}
	settings := ranking.Default(ranking.ALE)
	settings.Features = baseline.Unit
	learner, err := settings.Learn(method.Examples{
		X: x, Rows: []int{0, 1, 2, 3, 4, 5}, Labels: []int{0, 0, 1, 1, 2, 2},
		U: dataset.Matrix[float64]{Rows: 3, Cols: 3, Data: []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}},
	}, 1)
	if err != nil {
		log.Fatal(err)
	}
	for epoch := 1; epoch <= 30; epoch++ {
		if _, _, err := learner.Epoch(epoch); err != nil {
			log.Fatal(err)
		}
	}
	unseen := dataset.Matrix[float64]{Rows: 3, Cols: 3, Data: []float64{
		1, 1, 0, // striped and large
		0, 1, 1, // large and red
		1, 0, 1, // striped and red
	}}
	scores, err := model.Score(learner.Model(), x, []int{6}, unseen)
	if err != nil {
		log.Fatal(err)
	}
	s := scores.Data
	fmt.Println("striped and large comes first:", s[0] > s[1] && s[0] > s[2])
	// Output: striped and large comes first: true
}
