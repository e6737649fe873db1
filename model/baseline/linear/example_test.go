package linear_test

import (
	"fmt"
	"log"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline/linear"
)

// Logistic regression: what is above 2 is of the class.
func ExampleObjective_Minimise() {
	x := dataset.Matrix[float32]{Rows: 4, Cols: 1, Data: []float32{0, 1, 3, 4}}
	is := []float64{0, 0, 1, 1}
	p := linear.Objective{
		X: x, Rows: []int{0, 1, 2, 3}, Bias: true, Outputs: 1, Penalty: 0.1, Curvature: 0.25,
		Each: func(sample, _ int, score float64) (loss, slope float64) {
			return math.Log1p(math.Exp(score)) - is[sample]*score, 1/(1+math.Exp(-score)) - is[sample]
		},
	}
	c, err := p.Minimise()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f from %.1f on\n", c.W.Data[0], -c.B[0]/c.W.Data[0])
	// Output: 1.5 from 2.0 on
}
