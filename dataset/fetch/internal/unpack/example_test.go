package unpack_test

import (
	"archive/zip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/dataset/fetch/internal/unpack"
)

func ExampleFiles() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	archive := filepath.Join(dir, "archive.zip")
	if err := makeArchive(archive, "release/CUB/testclasses.txt", "release/SUN/testclasses.txt"); err != nil {
		fmt.Println(err)
		return
	}

	files, err := unpack.Files(context.Background(), archive, dir, func(name string) (string, bool) {
		return strings.CutPrefix(name, "release/CUB/")
	}, unpack.Options{})
	fmt.Println(files, err)
	// Output: [{testclasses.txt 5}] <nil>
}

func makeArchive(path string, names ...string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	for _, name := range names {
		to, err := w.Create(name)
		if err != nil {
			return err
		}
		if _, err := to.Write([]byte("names")); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}
