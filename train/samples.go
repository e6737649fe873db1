package train

import (
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// Samples are some rows of a matrix of features with the class of each.
type Samples struct {
	X      dataset.Matrix[float32] // features; shared, never written
	Rows   []int                   // the rows of X that are meant
	Labels []int                   // for each of them, an index into the classes at hand
}

// Select returns the samples of the given classes, labelled by their place in
// that list. x holds the features of all samples of d, preprocessed or not.
func Select(d *dataset.Dataset, x dataset.Matrix[float32], classes []int) Samples {
	place := make(map[int]int, len(classes))
	for i, z := range classes {
		place[z] = i
	}
	s := Samples{X: x, Rows: d.SamplesOf(classes)}
	s.Labels = make([]int, len(s.Rows))
	for i, row := range s.Rows {
		s.Labels[i] = place[d.Labels[row]]
	}
	return s
}

// without returns the samples but those of some rows, which are in ascending order.
func (s Samples) without(rows []int) Samples {
	left := Samples{X: s.X}
	for i, row := range s.Rows {
		if _, out := slices.BinarySearch(rows, row); !out {
			left.Rows, left.Labels = append(left.Rows, row), append(left.Labels, s.Labels[i])
		}
	}
	return left
}

// Len returns the number of samples.
func (s Samples) Len() int { return len(s.Rows) }

// gather copies samples, by their place in s, into the first rows of to.
func (s Samples) gather(to dataset.Matrix[float32], places []int) {
	for i, p := range places {
		copy(to.Row(i), s.X.Row(s.Rows[p]))
	}
}

// batches calls f on consecutive parts of places of at most size.
func batches(places []int, size int, f func(part []int) error) error {
	for len(places) > 0 {
		n := min(size, len(places))
		if err := f(places[:n]); err != nil {
			return err
		}
		places = places[n:]
	}
	return nil
}

// inOrder returns 0..n-1.
func inOrder(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// shuffled returns 0..n-1 in an order that follows from the seed, the epoch and
// the phase alone, so that a run goes on after a kill as if there had been none.
func shuffled(n int, seed uint64, epoch, phase int) []int {
	return rand.New(rand.NewPCG(seed, uint64(epoch)<<8|uint64(phase))).Perm(n)
}

// labels returns the labels of samples by their place.
func (s Samples) labels(places []int) []int {
	l := make([]int, len(places))
	for i, p := range places {
		l[i] = s.Labels[p]
	}
	return l
}
