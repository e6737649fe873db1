package convert_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/convert"
)

func ExampleConvert() {
	root, err := os.MkdirTemp("", "convert")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(root) }()
	dir := filepath.Join(root, "letters")
	if _, err := convert.Convert(context.Background(), "glyphs", catalog.Options{}, dir); err != nil {
		log.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(f.Name())
	}
	// Output:
	// attributes.csv
	// classes.csv
	// features.npy
	// labels.csv
	// splits.csv
}
