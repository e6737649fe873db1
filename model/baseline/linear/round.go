package linear

import (
	"cmp"
	"slices"
)

// round evaluates for all searches that are not done yet, once for each.
type round struct {
	*objective
	size  int // outputs of a search
	asked chan *search
	done  chan struct{}

	waiting             []*search
	outputs             []int
	w, gradient, losses []float64
}

// play waits for each of some searches to ask or to be done, and returns how many are
// left. They are taken in their order, so that nothing depends on who asked first.
func (r *round) play(searches int) (left int) {
	r.waiting = r.waiting[:0]
	for len(r.waiting) < searches {
		select {
		case s := <-r.asked:
			r.waiting = append(r.waiting, s)
		case <-r.done:
			searches--
		}
	}
	if searches == 0 {
		return 0
	}
	slices.SortFunc(r.waiting, func(a, b *search) int { return cmp.Compare(a.first, b.first) })
	r.outputs, r.w = r.outputs[:0], r.w[:0]
	for _, s := range r.waiting {
		for j := range r.size {
			r.outputs = append(r.outputs, s.first+j)
		}
		r.w = append(r.w, s.at...)
	}
	r.gradient = slices.Grow(r.gradient[:0], len(r.w))[:len(r.w)]
	r.losses = slices.Grow(r.losses[:0], len(r.outputs))[:len(r.outputs)]
	r.evaluate(r.outputs, r.w, r.gradient, r.losses)
	for i, s := range r.waiting {
		s.loss = r.losses[i*r.size]
		copy(s.gradient, r.gradient[i*r.size*r.e:])
		s.answered <- struct{}{}
	}
	return searches
}
