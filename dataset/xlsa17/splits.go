package xlsa17

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Splits returns all divisions of the classes of the data set in dir, one to three,
// of which Load gives one. labels are those of the data set. The second and third
// are there where a list of their train classes is.
func Splits(ctx context.Context, dir string, labels []int) ([]dataset.Split, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	mat, err := readAttSplits(ctx, filepath.Join(dir, "att_splits.mat"))
	if err != nil {
		return nil, err
	}
	var divisions []dataset.Split
	for n := 1; n <= 3; n++ {
		list := fmt.Sprintf("trainclasses%d.txt", n)
		path, err := firstFile(dir, list)
		if err != nil {
			return nil, err
		}
		if n > 1 && path == "" {
			continue
		}
		if n > 1+len(divisions) {
			return nil, &invalid.Error{Where: dir, Want: fmt.Sprintf("trainclasses%d.txt before %s", n-1, list), Got: "no such file"}
		}
		f := &folder{dir: dir, devSplit: n, mat: mat}
		s, err := f.split(labels)
		if err != nil {
			return nil, err
		}
		divisions = append(divisions, s)
	}
	return divisions, nil
}
