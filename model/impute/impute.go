// Package impute fills missing entries of class descriptions, as in descriptions that
// people write with a handful of attributes.
//
// A missing entry is predicted by linear regression on the described ones, with the means
// and shrunken correlations of the training classes:
//
//	E[u_m | u_d] = mean_m + c_md C_dd^-1 (u_d - mean_d).
//
// With Neutral, only the attributes of the same group are used: a bird with olive wings hardly has grey ones,
// and nothing follows for its bill. A group without any described entry gets the means, so that it is neither
// evidence for the class nor against it, the paper's "don't care". With Inferred, all described attributes
// are used: birds with olive wings often have an olive back.
package impute

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Kind names the described attributes that a missing one is predicted from.
type Kind string

// The kinds of imputation.
const (
	Neutral  Kind = "neutral"  // those of the same group
	Inferred Kind = "inferred" // all of them
)

// Kinds lists both.
var Kinds = []Kind{Neutral, Inferred}

// Imputer fills missing entries of descriptions by the statistics of reference classes,
// those that a model was trained on.
type Imputer struct {
	kind   Kind
	groups [][]int   // the attributes of each group
	mean   []float64 // M, of the reference; NaN if no class describes the attribute
	sd     []float64 // M, standard deviation

	correlations func() *mat.SymDense // M x M, shrunken
}

// shrinkage is a number of pseudo-classes with zero correlation that are added to the
// reference, whose few classes correlate by chance. Accuracy with partial descriptions
// changes little between half and twice this number.
const shrinkage = 20

// mostCorrelated is the number of attributes up to which their correlations, which are its
// square, fit into memory.
const mostCorrelated = 1 << 15

// New returns a Neutral imputer by the descriptions of the reference classes, Z x M, NaN
// where an attribute is not described. groups is the group of each attribute; without
// groups (nil), or with a negative group, an attribute is the only member of its group.
func New(reference dataset.Matrix[float64], groups []int) (*Imputer, error) {
	m := reference.Cols
	if groups != nil && len(groups) != m {
		return nil, &invalid.Error{Field: "groups", Want: fmt.Sprintf("one for each of the %d attributes", m), Got: fmt.Sprint(len(groups))}
	}
	members := map[int][]int{}
	for i := range m {
		group := -1 - i // alone
		if groups != nil && groups[i] >= 0 {
			group = groups[i]
		}
		members[group] = append(members[group], i)
	}
	r := &Imputer{kind: Neutral, mean: dataset.Means(reference, math.NaN()), sd: make([]float64, m)}
	r.groups = slices.Collect(maps.Values(members)) // in any order
	scores := r.standardise(reference)
	r.correlations = sync.OnceValue(func() *mat.SymDense {
		classes, m := scores.Dims()
		c := mat.NewSymDense(m, nil)
		c.SymOuterK(1/float64(classes+shrinkage), scores.T())
		for i := range m {
			c.SetSym(i, i, 1)
		}
		return c
	})
	return r, nil
}

// WithKind returns the imputer of another kind with the same reference; nil for nil.
func (r *Imputer) WithKind(kind Kind) *Imputer {
	if r == nil {
		return nil
	}
	other := *r
	other.kind = kind
	return &other
}

// standardise sets the standard deviations and returns the standardised reference, with 0
// for missing entries and constant attributes.
func (r *Imputer) standardise(u dataset.Matrix[float64]) *mat.Dense {
	scores := mat.NewDense(max(u.Rows, 1), max(u.Cols, 1), nil)
	for m, mean := range r.mean {
		var squares, n float64
		for z := range u.Rows {
			if d := u.Row(z)[m] - mean; !math.IsNaN(d) {
				scores.Set(z, m, d)
				squares += d * d
				n++
			}
		}
		if sd := math.Sqrt(squares / n); sd > 0 {
			r.sd[m] = sd
			for z := range u.Rows {
				scores.Set(z, m, scores.At(z, m)/sd)
			}
		}
	}
	return scores
}

// Impute returns descriptions, Z x M in [0, 1], with missing entries (NaN) filled. It does
// not change u, and returns it if nothing is missing; a nil imputer always returns u.
//
// Entries stay NaN if they cannot distinguish the classes: with Neutral, in groups that no
// class of u describes, and with either kind, for attributes that neither the reference
// nor any class of u describes. The error is an *invalid.Error.
func (r *Imputer) Impute(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	if r == nil || !slices.ContainsFunc(u.Data, math.IsNaN) {
		return u, nil
	}
	if u.Cols != len(r.mean) {
		return u, &invalid.Error{Field: "descriptions", Want: fmt.Sprintf("%d attributes, as in training", len(r.mean)), Got: fmt.Sprint(u.Cols)}
	}
	full, mean := dataset.Convert[float64](u), dataset.Means(u, math.NaN())
	for m, p := range r.mean {
		if !math.IsNaN(p) {
			mean[m] = p
		}
	}
	blocks := r.groups
	if r.kind == Inferred {
		blocks = [][]int{dataset.Matrix[float64]{Rows: u.Cols}.AllRows()}
	}
	for _, block := range blocks {
		described := r.kind == Inferred
		for z := range u.Rows {
			some, err := r.fill(full.Row(z), u.Row(z), mean, block)
			if err != nil {
				return u, err
			}
			described = described || some
		}
		for z := 0; !described && z < u.Rows; z++ {
			for _, m := range block {
				full.Row(z)[m] = math.NaN()
			}
		}
	}
	return full, nil
}

// fill writes the predictions of the missing attributes of a block of the class u into full: see the package
// comment. It reports whether u describes any attribute of the block.
func (r *Imputer) fill(full, u, mean []float64, block []int) (described bool, err error) {
	var known, missing []int
	for _, m := range block {
		switch {
		case math.IsNaN(u[m]):
			missing = append(missing, m)
		case r.sd[m] > 0: // constant attributes do not correlate
			known = append(known, m)
		}
	}
	var all *mat.SymDense    // is large, and needed by some groups only
	var weights mat.VecDense // C_dd^-1 (u_d - mean_d) of standardised attributes d
	if len(known) > 0 && len(missing) > 0 {
		if len(r.mean) > mostCorrelated {
			return false, &invalid.Error{
				Field: "descriptions", Got: fmt.Sprint(len(r.mean)),
				Want: fmt.Sprintf("at most %d attributes where missing entries are predicted from described ones", mostCorrelated),
				Hint: "Their correlations, attributes x attributes, would be too large. Describe all attributes of a group or none.",
			}
		}
		all = r.correlations()
		c, b := mat.NewSymDense(len(known), nil), mat.NewVecDense(len(known), nil)
		for i, d := range known {
			b.SetVec(i, (u[d]-r.mean[d])/r.sd[d])
			for j := i; j < len(known); j++ {
				c.SetSym(i, j, all.At(d, known[j]))
			}
		}
		var factor mat.Cholesky
		if !factor.Factorize(c) || factor.SolveVecTo(&weights, b) != nil {
			return false, &invalid.Error{Field: "descriptions", Want: "finite probabilities", Got: "correlations that are not positive definite"}
		}
	}
	for _, m := range missing {
		expected := mean[m]
		for i, d := range known {
			expected += r.sd[m] * all.At(m, d) * weights.AtVec(i)
		}
		full[m] = min(max(expected, 0), 1) // NaN stays NaN
	}
	return len(missing) < len(block), nil
}
