package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset/fetch"
)

// A folder that is there is not touched.
func ExampleFetch() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Mkdir(filepath.Join(dir, "AWA2"), 0o755); err != nil {
		fmt.Println(err)
		return
	}

	_, err = fetch.Fetch(context.Background(), "awa2", fetch.Options{DataDir: dir})
	var exists *fetch.Exists
	if errors.As(err, &exists) {
		fmt.Println("there is", filepath.Base(exists.Folder), "already")
	}
	// Output: there is AWA2 already
}

func ExampleNames() {
	fmt.Println(fetch.Names())
	// Output: [cub awa2 sun]
}
