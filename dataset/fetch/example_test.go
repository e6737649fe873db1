package fetch_test

import (
	"context"
	"fmt"

	"github.com/lago-train/lago-train/dataset/fetch"
)

func Example() {
	fmt.Println(fetch.DataSets)
	_, err := fetch.Fetch(context.Background(), "awa", fetch.Options{DataDir: "data"})
	fmt.Println(err)
	// Output:
	// [cub awa2 sun]
	// data set: expected one of cub, awa2, sun, resnet101, resnet50, found "awa". Did you mean awa2?
}
