package matlab_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/dataset/matlab"
)

func ExampleOpen() {
	ctx := context.Background()
	arrays, err := matlab.Open(ctx, "../xlsa17/testdata/compressed/res101.mat", []string{"features", "labels"})
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range arrays {
		if err := a.Load(ctx); err != nil {
			log.Fatal(err)
		}
	}
	features, labels := arrays["features"], arrays["labels"]
	fmt.Println(features.Class, features.Dims, "labels", labels.Class, labels.Dims)
	fmt.Printf("sample 0 is of class %v and begins %.3f\n", labels.Float32[0], features.Float32[:3])
	// Output:
	// double [24 108] labels uint8 [108 1]
	// sample 0 is of class 5 and begins [0.204 2.810 0.000]
}
