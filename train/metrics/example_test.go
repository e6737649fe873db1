package metrics_test

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/train/metrics"
)

// Class 2 is unseen and predicted too rarely, since its scores are lower.
func Example() {
	scores := dataset.Matrix[float32]{Rows: 4, Cols: 3, Data: []float32{
		4, 1, 0,
		1, 5, 2,
		1, 4, 3,
		3, 1, 2,
	}}
	labels := []int{0, 1, 2, 2}
	if err := metrics.CheckScores(scores); err != nil {
		fmt.Println(err)
		return
	}
	sides, err := metrics.NewSides(scores.Cols, []int{2})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := metrics.NewStacking(scores, labels, sides)
	gamma := s.Best()
	fmt.Printf("gamma 0:    %+v\n", s.At(0))
	fmt.Printf("gamma %.1f:  %+v\n", gamma, s.At(gamma))
	fmt.Println("area under the seen-unseen curve:", metrics.AUSUC(s.Curve()))
	// Output:
	// gamma 0:    {Seen:1 Unseen:0 Mean:0}
	// gamma 2.0:  {Seen:1 Unseen:1 Mean:1}
	// area under the seen-unseen curve: 1
}
