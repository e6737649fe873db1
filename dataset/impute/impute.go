// Package impute is the one model of class descriptions: a Gaussian of standardised descriptions, whose mean
// and covariance are estimated from all classes together, complete or not. It fills missing entries, finds
// doubtful ones, and says which attribute or group tells most about a class that is not described yet.
//
// It does not know which classes a model is trained on: callers pass their descriptions as the reference.
package impute

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// LeastGiven is the share of the reference's entries from which the reference alone is fitted. Below it,
// incomplete candidates complete each other.
const LeastGiven = 0.4

// Imputer fills missing entries of descriptions by the Gaussian of a reference, the classes that a model was
// trained on.
type Imputer struct {
	reference dataset.Matrix[float64]
	alone     bool // the reference is fitted alone
	fitted    func() Parts

	last      sync.Mutex // of what was filled last: models are asked for the same candidates again
	u, filled dataset.Matrix[float64]
}

// New returns an imputer by the descriptions of the reference classes, Z x M, NaN where an attribute is not
// described.
func New(reference dataset.Matrix[float64]) *Imputer {
	return &Imputer{
		reference: reference,
		alone:     float64(dataset.Described(reference.Data)) >= LeastGiven*float64(len(reference.Data)),
		fitted:    sync.OnceValue(func() Parts { return FitParts(reference) }),
	}
}

// Impute returns descriptions, Z x M in [0, 1], with missing entries (NaN) filled. It does not change u, and
// returns it if nothing is missing; a nil imputer always returns u. Entries stay NaN of attributes that
// neither the reference nor any class of u describes: they cannot distinguish the classes. The error is an
// *invalid.Error.
func (r *Imputer) Impute(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	if r == nil || !slices.ContainsFunc(u.Data, math.IsNaN) {
		return u, nil
	}
	if u.Cols != r.reference.Cols {
		return u, &invalid.Error{
			Field: "descriptions", Want: fmt.Sprintf("%d attributes, as in training", r.reference.Cols),
			Got: fmt.Sprint(u.Cols),
		}
	}
	r.last.Lock()
	defer r.last.Unlock()
	if r.u.Rows != u.Rows || !slices.EqualFunc(r.u.Data, u.Data, sameEntry) {
		r.u, r.filled = dataset.Convert[float64](u), r.fill(u)
	}
	return r.filled, nil
}

func (r *Imputer) fill(u dataset.Matrix[float64]) dataset.Matrix[float64] {
	all := together(r.reference, u)
	table := slices.DeleteFunc(slices.Clone(all.Data), math.IsNaN)
	slices.Sort(table)
	g, described := Parts(nil), dataset.Means(all, math.NaN())
	if r.alone {
		g, described = r.fitted(), dataset.Means(r.reference, math.NaN())
	} else {
		g = FitParts(all)
	}
	full := g.Fill(u)
	for a, mean := range dataset.Means(u, math.NaN()) {
		for z := range u.Rows {
			if math.IsNaN(described[a]) && math.IsNaN(u.Row(z)[a]) {
				full.Row(z)[a] = mean
			}
		}
	}
	for z := range u.Rows {
		limitToGiven(full.Row(z), u.Row(z), table)
	}
	return full
}

// together returns the rows of the reference and those of u that are not among them.
func together(reference, u dataset.Matrix[float64]) dataset.Matrix[float64] {
	known, all := map[string]bool{}, dataset.Matrix[float64]{Cols: u.Cols}
	add := func(row []float64) { all.Data, all.Rows = append(all.Data, row...), all.Rows+1 }
	for z := range reference.Rows {
		known[key(reference.Row(z))] = true
		add(reference.Row(z))
	}
	for z := range u.Rows {
		if !known[key(u.Row(z))] {
			add(u.Row(z))
		}
	}
	return all
}

// sameEntry reports whether two entries are equal, or both missing.
func sameEntry(p, q float64) bool { return p == q || math.IsNaN(p) && math.IsNaN(q) }

// key returns the bits of some entries, in which NaN is NaN.
func key(entries []float64) string {
	bits := make([]byte, 0, 8*len(entries))
	for _, p := range entries {
		if math.IsNaN(p) {
			p = math.NaN()
		}
		bits = binary.LittleEndian.AppendUint64(bits, math.Float64bits(p))
	}
	return string(bits)
}

// leastChance is the probability from which the given entries of a class are taken for a random sample.
const leastChance = 1e-4

// limitToGiven keeps the filled entries of a class that gives its strongest attributes below the least of
// these: the others are weaker. It does so if random entries of the table, ascending, would hardly ever all
// be that high.
func limitToGiven(full, u, table []float64) {
	least, n := math.Inf(1), 0.0
	for _, p := range u {
		if !math.IsNaN(p) {
			least, n = min(least, p), n+1
		}
	}
	below, _ := slices.BinarySearch(table, least)
	if n == 0 || math.Pow(1-float64(below)/float64(len(table)), n) > leastChance {
		return
	}
	for a, p := range u {
		if math.IsNaN(p) {
			full[a] = min(full[a], least)
		}
	}
}
