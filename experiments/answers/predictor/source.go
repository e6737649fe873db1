package predictor

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/lago-train/lago-train/dataset"
)

// Blocks are large enough to be scored fast, and bounded for any number of classes.
const (
	blockNumbers = 1 << 20 // n x D and n x Z
	leastSamples = 64      // unless n x Z would be exceeded
	mostSamples  = 1024
	adaptRows    = 1024 // of a batch to adapt to
)

func blockRows(dims, classes int) int {
	return min(max(blockNumbers/max(dims, 1), leastSamples), mostSamples, max(blockNumbers/classes, 1))
}

// eachBlock calls do with blocks of up to so many samples, and reads the next one meanwhile. A block
// is valid until do returns. It ends when src is no longer read.
func eachBlock(ctx context.Context, src Source, rows int,
	do func(x dataset.Matrix[float32]) error,
) (err error) {
	type block struct {
		all, read dataset.Matrix[float32]
		err       error
	}
	ctx, cancel := context.WithCancel(ctx)
	free, filled := make(chan dataset.Matrix[float32], 2), make(chan block)
	for range cap(free) {
		free <- dataset.NewMatrix[float32](rows, src.Cols())
	}
	go func() {
		defer close(filled)
		for ctx.Err() == nil {
			x := <-free
			n, err := src.Read(x)
			if n == 0 && errors.Is(err, io.EOF) {
				return
			}
			filled <- block{x, x.Slice(0, n), err}
		}
	}()
	defer cancel()
	for b := range filled {
		if err = cmp.Or(err, b.err, ctx.Err()); err == nil {
			err = do(b.read)
		}
		if err != nil {
			cancel()
		}
		free <- b.all
	}
	return cmp.Or(err, ctx.Err())
}

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
	// Sample returns the index, id and true class of the i-th sample, "" if they are not known.
	Sample(i int) (index int, id, class string)
}

// Samples is a Source of samples of a data set. Their true classes are known.
type Samples struct {
	Data *dataset.Dataset
	Rows []int
	next int
}

// Cols implements Source.
func (s *Samples) Cols() int { return s.Data.Features.Cols }

// Read implements Source.
func (s *Samples) Read(block dataset.Matrix[float32]) (int, error) {
	if s.next == len(s.Rows) {
		return 0, io.EOF
	}
	n := min(block.Rows, len(s.Rows)-s.next)
	block.CopyRows(s.Data.Features, s.Rows[s.next:s.next+n])
	s.next += n
	return n, nil
}

// Sample implements Identified. The index is the row in the data set.
func (s *Samples) Sample(i int) (index int, id, class string) {
	index = s.Rows[i]
	if s.Data.IDs != nil {
		id = s.Data.IDs[index]
	}
	return index, id, s.Data.Classes[s.Data.Labels[index]]
}
