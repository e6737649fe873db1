// Package tiny has the data sets on which tests train in milliseconds.
package tiny

import (
	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/simulate"
)

// Small has 160 samples of 16 classes, 8, 4 and 4 of which are train, validation and test
// classes, with 9 attributes in 3 groups. A trial of 4 epochs takes milliseconds.
func Small() *dataset.Dataset {
	return simulate.Make(simulate.Spec{
		Name: "simulated-small", Samples: 160, Dims: 16, Attributes: 9, Groups: 3,
		TrainClasses: 8, ValClasses: 4, TestClasses: 4,
	})
}

// Learnable has 605 samples of 60 classes, 40, 10 and 10 of which are train, validation and
// test classes, with 20 attributes in 5 groups: enough for an accuracy well above chance
// after 6 epochs.
func Learnable() *dataset.Dataset {
	return simulate.Make(simulate.Spec{
		Name: "simulated-tiny", Samples: 605, Dims: 64, Attributes: 20, Groups: 5,
		TrainClasses: 40, ValClasses: 10, TestClasses: 10,
	})
}
