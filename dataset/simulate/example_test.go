package simulate_test

import (
	"fmt"
	"log"

	"github.com/lago-train/lago-train/dataset/simulate"
)

func ExampleMake() {
	ds, err := simulate.Make(simulate.Spec{
		Name: "tiny", Samples: 50, Dims: 16, Attributes: 6, Groups: 2,
		TrainClasses: 5, ValClasses: 2, TestClasses: 3,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Name)
	for _, a := range ds.Attributes {
		fmt.Println(a.Name)
	}
	// Output:
	// simulated-tiny
	// group01::value01
	// group01::value02
	// group01::value03
	// group02::value01
	// group02::value02
	// group02::value03
}
