package durable_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset/fetch/internal/durable"
)

func ExampleRename() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	part := filepath.Join(dir, "archive.zip.part")
	if err := os.WriteFile(part, []byte("all of it"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(durable.Rename(part, filepath.Join(dir, "archive.zip")))
	// Output: <nil>
}
