package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	r, err := features.Open(ctx, path)
	if err != nil {
		return x, s, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.Cols() != dims {
		return x, s, &invalid.Error{Where: path, Want: fmt.Sprintf("%d features per sample, as the model was trained on", dims), Got: strconv.Itoa(r.Cols())}
	}
	s = Sample{Index: row, From: path}
	x = dataset.NewMatrix[float32](1, dims)
	for read := 0; ; read++ {
		_, err := r.Read(x)
		if bad := (*features.RowError)(nil); errors.As(err, &bad) && read < row {
			continue // the rows before it need not be valid
		}
		if err == io.EOF {
			return x, s, sampleError(fmt.Sprintf("the index of one of the %d rows of %s, 0 to %d", read, path, read-1), index)
		}
		if err != nil || read == row {
			return x, s, err
		}
	}
}

func sampleError(want, got string) error {
	return &invalid.Error{Where: "--sample", Want: want, Got: strconv.Quote(got)}
}
