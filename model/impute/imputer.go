package impute

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
)

// Imputer completes descriptions by what a reference, the classes that a model learned
// from, says of attributes and of how they go together.
type Imputer struct {
	kind   Kind
	blocks [][]int   // attributes of which the described tell about the others
	groups [][]int   // attributes by their group
	mean   []float64 // M, of the reference; NaN where it does not describe an attribute
	spread []float64 // M, the standard deviation

	correlate func() *mat.SymDense // M x M, shrunk towards none
}

// chance is how many classes without any correlation are counted in with those of
// the reference: the correlations of few classes are mostly chance. Accuracy by a
// part of the descriptions changes little between half and twice as many.
const chance = 20

// New makes the neutral rule from the descriptions of the reference, classes x M,
// NaN where an attribute is not described. groups is the group of each of the M
// attributes; where it is nil, or the group negative, an attribute is a group of its
// own.
func New(reference dataset.Matrix[float64], groups []int) (*Imputer, error) {
	m := reference.Cols
	if groups != nil && len(groups) != m {
		return nil, fmt.Errorf("impute: groups: expected one for each of the %d attributes, found %d", m, len(groups))
	}
	r := &Imputer{groups: blocksOf(groups, m), mean: make([]float64, m), spread: make([]float64, m)}
	scores := r.standardise(reference)
	r.correlate = sync.OnceValue(func() *mat.SymDense { return correlations(scores) })
	return r.WithKind(Neutral), nil
}

// WithKind returns the rule of another kind by the same reference; that of nil is nil.
func (r *Imputer) WithKind(kind Kind) *Imputer {
	if r == nil {
		return nil
	}
	other := *r
	other.kind, other.blocks = kind, r.groups
	if kind == Inferred {
		other.blocks = [][]int{everything(len(r.mean))}
	}
	return &other
}

// Equal reports whether two rules fill the same gaps alike.
func (r *Imputer) Equal(other *Imputer) bool {
	if r == nil || other == nil {
		return r == other
	}
	same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	return r.kind == other.kind && slices.EqualFunc(r.groups, other.groups, slices.Equal[[]int]) &&
		slices.EqualFunc(r.mean, other.mean, same) && slices.EqualFunc(r.spread, other.spread, same) &&
		slices.EqualFunc(r.correlate().RawSymmetric().Data, other.correlate().RawSymmetric().Data, same)
}

// Kind returns the kind of the rule.
func (r *Imputer) Kind() Kind { return r.kind }

func everything(m int) []int {
	all := make([]int, m)
	for i := range all {
		all[i] = i
	}
	return all
}

// blocksOf lists the attributes of each group.
func blocksOf(groups []int, m int) [][]int {
	var blocks [][]int
	place := map[int]int{}
	for i := range m {
		if groups == nil || groups[i] < 0 {
			blocks = append(blocks, []int{i})
			continue
		}
		b, known := place[groups[i]]
		if !known {
			b = len(blocks)
			place[groups[i]] = b
			blocks = append(blocks, nil)
		}
		blocks[b] = append(blocks[b], i)
	}
	return blocks
}

// standardise sets mean and spread, and returns the reference in units of them,
// zero where it does not describe an attribute.
func (r *Imputer) standardise(u dataset.Matrix[float64]) *mat.Dense {
	scores := mat.NewDense(max(u.Rows, 1), max(u.Cols, 1), nil)
	for m := range r.mean {
		var sum, squares, n float64
		for z := range u.Rows {
			if p := u.Row(z)[m]; !math.IsNaN(p) {
				sum += p
				n++
			}
		}
		r.mean[m] = sum / n // NaN for none
		for z := range u.Rows {
			if p := u.Row(z)[m]; !math.IsNaN(p) {
				squares += (p - r.mean[m]) * (p - r.mean[m])
			}
		}
		if n > 0 {
			r.spread[m] = math.Sqrt(squares / n)
		}
		if !(r.spread[m] > 0) {
			continue // always the same: it tells nothing
		}
		for z := range u.Rows {
			if p := u.Row(z)[m]; !math.IsNaN(p) {
				scores.Set(z, m, (p-r.mean[m])/r.spread[m])
			}
		}
	}
	return scores
}

// correlations returns those of standardised classes, with chance counted in; the
// diagonal is 1.
func correlations(scores *mat.Dense) *mat.SymDense {
	classes, m := scores.Dims()
	c := mat.NewSymDense(m, nil)
	c.SymOuterK(1/float64(classes+chance), scores.T())
	for i := range m {
		c.SetSym(i, i, 1)
	}
	return c
}
