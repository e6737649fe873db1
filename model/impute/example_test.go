package impute_test

import (
	"fmt"
	"log"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/impute"
)

// Wings and backs are olive or grey, and usually alike. Only the wing of a new class is
// described.
func Example() {
	reference := dataset.NewMatrix[float64](100, 4) // wing olive, wing grey, back olive, back grey
	for z := range reference.Rows {
		olive := float64(z % 2)
		copy(reference.Row(z), []float64{olive, 1 - olive, olive, 1 - olive})
	}
	imputer, err := impute.New(reference, []int{0, 0, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	nan := math.NaN()
	u := dataset.Matrix[float64]{Rows: 2, Cols: 4, Data: []float64{
		1, nan, nan, nan,
		nan, nan, 0, 1,
	}}
	for _, kind := range impute.Kinds {
		full, err := imputer.WithKind(kind).Impute(u)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-8s %.2f\n", kind, full.Row(0))
	}
	// Output:
	// neutral  [1.00 0.08 0.50 0.50]
	// inferred [1.00 0.08 0.92 0.08]
}
