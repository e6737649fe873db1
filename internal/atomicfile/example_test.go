package atomicfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/internal/atomicfile"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	path := filepath.Join(dir, "result.json")
	fmt.Println(atomicfile.WriteJSON(path, map[string]float64{"accuracy": 0.62}))
	content, _ := os.ReadFile(path)
	fmt.Print(string(content))
	// Output:
	// <nil>
	// {
	//   "accuracy": 0.62
	// }
}
