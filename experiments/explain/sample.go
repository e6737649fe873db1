package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/experiments/predict"
)

// Find returns the row of a sample of a data set by its number, counted from 0 in the
// order of the features.
func Find(d *dataset.Dataset, sample string) (row int, err error) {
	row, err = number(sample)
	if err == nil && row < d.Features.Rows {
		return row, nil
	}
	return 0, fmt.Errorf("explain: sample: expected the number of a sample of %s, 0 to %d, found %s",
		d.Name, d.Features.Rows-1, quote(sample))
}

func number(sample string) (int, error) {
	n, err := strconv.Atoi(sample)
	if err == nil && n < 0 {
		err = strconv.ErrRange
	}
	return n, err
}

// Of is what a data set knows of one of its samples.
func Of(d *dataset.Dataset, row int) Sample {
	return Sample{Index: row, From: d.Name, Label: &d.Classes[d.Labels[row]]}
}

// ReadRow reads the features of one sample, dims of them, from a file that package
// features reads; its class is not known.
func ReadRow(ctx context.Context, path, sample string, dims int) (x dataset.Matrix[float32], s Sample, err error) {
	row, err := number(sample)
	if err != nil {
		return x, s, fmt.Errorf("explain: sample: expected the number of a row of %s, counted from 0, found %s", path, quote(sample))
	}
	r, err := features.Open(ctx, path)
	if err != nil {
		return x, s, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	s = Sample{Index: row, From: path}
	x = dataset.NewMatrix[float32](1, dims)
	for read := 0; ; read++ {
		_, err := r.Read(x)
		if wrong := (*features.RowError)(nil); errors.As(err, &wrong) && read < row {
			continue // not the one that is asked for
		}
		if err == io.EOF {
			return x, s, fmt.Errorf("explain: sample: expected the number of one of the %d rows of %s, 0 to %d, found %s",
				read, path, read-1, quote(sample))
		}
		if err != nil || read == row {
			return x, s, err
		}
	}
}

// PartOf is the part of a split that has a class, the test classes where none has.
func PartOf(s dataset.Split, class int) predict.Part {
	for _, p := range s.Subsets() {
		if slices.Contains(p.Classes, class) {
			return predict.Part(p.Name)
		}
	}
	return predict.Test
}
