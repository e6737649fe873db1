package version_test

import (
	"fmt"
	"runtime"

	"github.com/lago-train/lago-train/internal/version"
)

func ExampleAll() {
	fmt.Println(version.All()["go"] == runtime.Version())
	// Output: true
}
