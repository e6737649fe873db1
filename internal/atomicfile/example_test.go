package atomicfile_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/internal/atomicfile"
)

func ExampleWrite() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	path := filepath.Join(dir, "result.json")
	err = atomicfile.Write(path, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(map[string]float64{"accuracy": 0.62})
	})
	fmt.Println(err)

	content, _ := os.ReadFile(path)
	fmt.Print(string(content))
	// Output:
	// <nil>
	// {"accuracy":0.62}
}
