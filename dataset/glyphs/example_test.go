package glyphs_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset/glyphs"
)

func ExampleMake() {
	ds, err := glyphs.Make(glyphs.Options{Seed: 1, SamplesPerClass: 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Source)
	fmt.Println(ds.Features.Rows, "samples of", len(ds.Classes), "classes in", ds.Features.Cols, "dimensions")
	fmt.Println("groups:", ds.Groups)
	fmt.Print("to be named unseen:")
	for _, z := range ds.Split.Test {
		fmt.Print(" ", ds.Classes[z])
	}
	fmt.Println()
	// Output:
	// letters and digits drawn from 25 typefaces, seed 1
	// 520 samples of 52 classes in 360 dimensions
	// groups: [height width left right top middle foot curve counter slant ends symmetry]
	// to be named unseen: F G J N P T Y d h 3 4 6
}

// Pictures are there to be looked at.
func ExampleContactSheet() {
	name := filepath.Join(os.TempDir(), "glyphs.png")
	f, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	if err := glyphs.ContactSheet(f, glyphs.Options{SamplesPerClass: 25}); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
