package integers_test

import (
	"fmt"

	"github.com/lago-train/lago-train/internal/integers"
)

func ExampleParse() {
	fmt.Println(integers.Parse("--unseen", "3, 5, 11"))
	_, err := integers.Parse("--unseen", "3, 5, wren")
	fmt.Println(err)
	// Output:
	// [3 5 11] <nil>
	// --unseen: line 1: expected whole numbers, found "wren"
}
