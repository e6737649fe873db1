package published_test

import (
	"fmt"

	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/model"
)

func ExampleFind() {
	r, _ := published.Find("cub", model.SemanticHard, "test")
	fmt.Println(r.LearningRate, r.Epochs, r.Accuracy)
	// Output: 0.0001 55 [58.24 58.21 58.5 58.17 58.69]
}
