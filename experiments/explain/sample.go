package explain

import (
	"context"
	"fmt"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/internal/invalid"
)

// FindSample returns a sample of a data set by its index, counted from 0 in the order of
// the features.
func FindSample(d *dataset.Dataset, index string) (Sample, error) {
	row, err := strconv.Atoi(index)
	if err != nil || row < 0 || row >= d.Features.Rows {
		return Sample{}, sampleError(fmt.Sprintf("the index of a sample of %s, 0 to %d", d.Name, d.Features.Rows-1), index)
	}
	return Sample{Index: row, From: d.Name, Label: &d.Classes[d.Labels[row]]}, nil
}

// ReadSample reads the features of one sample, dims of them, from a file. Its true class
// is not known.
func ReadSample(ctx context.Context, path, index string, dims int) (x dataset.Matrix[float32], s Sample, err error) {
	row, err := strconv.Atoi(index)
	if err != nil || row < 0 {
		return x, s, sampleError("the index of a row of "+path+", from 0", index)
	}
	x, err = features.ReadRow(ctx, path, row, dims)
	return x, Sample{Index: row, From: path}, err
}

func sampleError(want, got string) error {
	return &invalid.Error{Where: "--sample", Want: want, Got: strconv.Quote(got)}
}
