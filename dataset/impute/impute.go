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
// incomplete candidates complete each other. On cub127 with random entries, semantic-hard gains 7.8 points by
// that where 20 % of all entries are given, 2.6 with 40 % and 1.1 with 60 %.
const LeastGiven = 0.6

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
	entries := slices.DeleteFunc(slices.Clone(r.reference.Data), math.IsNaN)
	slices.Sort(entries)
	limits, fitted := make([]float64, u.Rows), dataset.Matrix[float64]{Cols: u.Cols}
	for z := range u.Rows {
		least, alone := strongest(u.Row(z), entries)
		if limits[z] = least; alone { // they are no sample of the class
			continue
		}
		limits[z] = 1
		fitted.Data, fitted.Rows = append(fitted.Data, u.Row(z)...), fitted.Rows+1
	}
	g, described := Parts(nil), dataset.Means(r.reference, math.NaN())
	if r.alone {
		g = r.fitted()
	} else {
		all := together(r.reference, fitted)
		g, described = FitParts(all), dataset.Means(all, math.NaN())
	}
	full := g.Fill(u)
	for a, mean := range dataset.Means(u, math.NaN()) {
		for z := range u.Rows {
			if !math.IsNaN(u.Row(z)[a]) {
				continue
			}
			if math.IsNaN(described[a]) {
				full.Row(z)[a] = mean
			}
			full.Row(z)[a] = min(full.Row(z)[a], limits[z])
		}
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

// strongest reports whether a class gives its strongest attributes alone, so that what is filled in of it is no
// higher than its least given entry, which it returns: whether as many of the entries of the reference,
// ascending, would hardly ever all be that high.
func strongest(u, entries []float64) (least float64, yes bool) {
	n := 0.0
	least = 1
	for _, p := range u {
		if !math.IsNaN(p) {
			least, n = min(least, p), n+1
		}
	}
	below, _ := slices.BinarySearch(entries, least)
	return least, n > 0 && math.Pow(1-float64(below)/float64(len(entries)), n) <= leastChance
}
