package predict

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train"
)

// Source gives samples, as a *features.Reader does.
type Source interface {
	Cols() int // D
	// Read fills the first rows of a block of D columns, and returns how many; fewer
	// than the block has only at the end, where the error is io.EOF once there are
	// none.
	Read(block dataset.Matrix[float32]) (int, error)
}

// labelled is a source that knows where its samples are from.
type labelled interface {
	// sample returns the row in the data set of the i-th sample, and its class.
	sample(i int) (row int, class string)
}

// OpenFeatures opens a file of features for a model; "-" is CSV on stdin.
func OpenFeatures(ctx context.Context, path string, s *train.Saved) (*features.Reader, error) {
	var r *features.Reader
	var err error
	if path == "-" {
		r, err = features.Stdin(ctx)
	} else {
		r, err = features.Open(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	if r.Cols() == s.Dims {
		return r, nil
	}
	return nil, errors.Join(&invalid.Error{
		Where: path, Field: "features", Want: fmt.Sprintf("%d of each sample, as the model of %s was trained on", s.Dims, s.Method),
		Got: fmt.Sprint(r.Cols()),
	}, r.Close())
}

// Samples are those of a data set whose class is in a part of its split.
type Samples struct {
	d    *dataset.Dataset
	rows []int
	next int
}

// OpenSamples returns the samples of the classes of a part.
func OpenSamples(d *dataset.Dataset, part Part) *Samples {
	return &Samples{d: d, rows: d.SamplesOf(part.Of(d.Split, len(d.Classes)))}
}

// Cols implements Source.
func (s *Samples) Cols() int { return s.d.Features.Cols }

// Read implements Source.
func (s *Samples) Read(block dataset.Matrix[float32]) (int, error) {
	if s.next == len(s.rows) {
		return 0, io.EOF
	}
	n := min(block.Rows, len(s.rows)-s.next)
	for i := range n {
		copy(block.Row(i), s.d.Features.Row(s.rows[s.next+i]))
	}
	s.next += n
	return n, nil
}

func (s *Samples) sample(i int) (int, string) {
	row := s.rows[i]
	return row, s.d.Classes[s.d.Labels[row]]
}
