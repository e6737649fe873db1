package glyphs_test

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset/glyphs"
)

func ExampleMake() {
	ds := glyphs.Make()
	fmt.Println(ds.Source)
	fmt.Println(ds.Features.Rows, "samples of", len(ds.Classes), "classes in", ds.Features.Cols, "dimensions")
	fmt.Println("groups:", ds.Groups)
	fmt.Print("test classes:")
	for _, z := range ds.Split.Test {
		fmt.Print(" ", ds.Classes[z])
	}
	fmt.Println()
	// Output:
	// letters and digits of 25 typefaces, seed 0
	// 3900 samples of 52 classes in 360 dimensions
	// groups: [height width left right top middle foot curve counter slant ends symmetry]
	// test classes: F G J N P T Y d h 3 4 6
}
