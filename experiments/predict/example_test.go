package predict_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/experiments/predict"
)

// nearest scores a class by the distance of the sample to its description.
type nearest struct{ u dataset.Matrix[float64] }

func (n nearest) Score(x, scores dataset.Matrix[float32]) error {
	for i := range x.Rows {
		for z := range n.u.Rows {
			var d float64
			for m, p := range n.u.Row(z) {
				d += (float64(x.Row(i)[m]) - p) * (float64(x.Row(i)[m]) - p)
			}
			scores.Row(i)[z] = float32(-d)
		}
	}
	return nil
}

func ExampleRun() {
	d := &dataset.Dataset{
		Features:     dataset.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{0.9, 0.1, 0.2, 0.8, 0.5, 0.5}},
		Labels:       []int{0, 1, 1},
		Classes:      []string{"zebra", "leopard"},
		Attributes:   []dataset.Attribute{{Name: "stripes"}, {Name: "spots"}},
		Descriptions: dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{1, 0, 0, 1}},
		Split:        dataset.Split{Test: []int{0, 1}},
	}
	classes := candidates.Of(d, candidates.Test)
	o := predict.Options{Top: 2, Temperature: 0.5, Confidence: 0.6, Format: predict.Table}
	count, err := predict.Run(context.Background(), predict.SamplesOf(d, candidates.Test), nearest{classes.U}, classes.Names, o, os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d of %d correct, %d abstained\n", count.Correct, count.Labelled, count.Abstained)
	// Output:
	//   sample  true class  prediction  probability  next
	//        0  zebra       zebra            0.9608  leopard 0.0392
	//        1  leopard     leopard          0.9168  zebra 0.0832
	//        2  leopard     (abstain)        0.5000  zebra 0.5000, leopard 0.5000
	// 2 of 3 correct, 1 abstained
}
