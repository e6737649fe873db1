package bytesize_test

import (
	"fmt"

	"github.com/lago-train/lago-train/internal/bytesize"
)

func ExampleText() {
	fmt.Println(bytesize.Text(32_772_118))
	// Output: 32.8 MB
}
