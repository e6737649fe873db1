package adapt_test

import (
	"fmt"
	"log"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/adapt"
)

func ExampleFit() {
	// Four samples in two clusters. The classifier is unsure of the second and the fourth.
	batch := []adapt.Block{{
		X:      dataset.Matrix[float32]{Rows: 4, Cols: 2, Data: []float32{5, 1, 5, 2, 1, 5, 2, 5}},
		Scores: dataset.Matrix[float32]{Rows: 4, Cols: 2, Data: []float32{2, 0, 0, 0.1, 0, 2, 0.1, 0}},
	}}
	adapt.Normalise(batch)
	r, err := adapt.Fit(batch, adapt.Settings{Temperature: 1, Tau: 60})
	if err != nil {
		log.Fatal(err)
	}
	for i := range r.P.Rows {
		fmt.Printf("%.2f\n", r.P.Row(i))
	}
	fmt.Printf("shares %.2f\n", r.Shares)
	// Output:
	// [1.00 0.00]
	// [1.00 0.00]
	// [0.00 1.00]
	// [0.00 1.00]
	// shares [0.50 0.50]
}
