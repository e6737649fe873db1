package predict

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train"
)

// Source supplies samples. A *features.Reader is one.
type Source interface {
	Cols() int // D
	// Read fills the first rows of a block of D columns and returns their number, which
	// is smaller than the block only at the end. After the last sample the error is io.EOF.
	Read(block dataset.Matrix[float32]) (int, error)
}

// Identified is a Source that knows ids or true classes of its samples.
type Identified interface {
	Source
	// Known returns the length of the longest id, 0 if samples have none, and whether true
	// classes are known.
	Known() (id int, classes bool)
	// Sample returns the index, id and true class of the i-th sample, "" if they are not known.
	Sample(i int) (index int, id, class string)
}

// OpenFeatures opens a file of features for a model; "-" is CSV on standard input.
func OpenFeatures(ctx context.Context, path string, m *train.Saved) (*features.Reader, error) {
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
	if r.Cols() == m.Dims {
		return r, nil
	}
	return nil, errors.Join(&invalid.Error{
		Where: path, Want: fmt.Sprintf("%d features per sample, as the model was trained on", m.Dims), Got: fmt.Sprint(r.Cols()),
	}, r.Close())
}

// Samples is a Source of samples of a data set. Their true classes are known.
type Samples struct {
	d    *dataset.Dataset
	rows []int
	next int
}

// SamplesOf returns the samples of the selected classes.
func SamplesOf(d *dataset.Dataset, s candidates.Selection) *Samples {
	return &Samples{d: d, rows: d.SamplesOf(s.Classes(d))}
}

// Cols implements Source.
func (s *Samples) Cols() int { return s.d.Features.Cols }

// Read implements Source.
func (s *Samples) Read(block dataset.Matrix[float32]) (int, error) {
	if s.next == len(s.rows) {
		return 0, io.EOF
	}
	n := min(block.Rows, len(s.rows)-s.next)
	block.CopyRows(s.d.Features, s.rows[s.next:s.next+n])
	s.next += n
	return n, nil
}

// Known implements Identified.
func (s *Samples) Known() (id int, classes bool) {
	if s.d.IDs != nil {
		for _, row := range s.rows {
			id = max(id, utf8.RuneCountInString(s.d.IDs[row]))
		}
	}
	return id, true
}

// Sample implements Identified. The index is the row in the data set.
func (s *Samples) Sample(i int) (index int, id, class string) {
	index = s.rows[i]
	if s.d.IDs != nil {
		id = s.d.IDs[index]
	}
	return index, id, s.d.Classes[s.d.Labels[index]]
}
