package dataset_test

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
)

func ExampleCheck() {
	d := &dataset.Dataset{
		Name:         "shapes",
		Features:     dataset.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{0, 1, 1, 0, 1, 1}},
		Labels:       []int{0, 1, 2},
		Classes:      []string{"circle", "square", "star"},
		Attributes:   []dataset.Attribute{{Name: "outline::round", Group: 0}, {Name: "outline::angular", Group: 0}},
		Groups:       []string{"outline"},
		Descriptions: dataset.Matrix[float64]{Rows: 3, Cols: 2, Data: []float64{1, 0, 0, 1, 0, 100}},
		Split:        dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{1}},
	}
	fmt.Println(dataset.Check(d))
	// Output:
	// shapes: class "square": expected one place in train, val or test, found it in val and in test
	// shapes: description of class "star", attribute "outline::angular": expected a probability from 0 to 1, or NaN if it is not described, found 100
}
