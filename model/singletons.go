package model

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
)

// The V of singletons is the identity, and their Gamma has two different entries: one on the
// diagonal and one elsewhere. With many attributes neither matrix is stored: Parameters.V has
// its size but no data, and the tables of fixedGroups are computed from the two numbers, in
// another order of products.

// identityFrom is the number of attributes from which singletons do not store V, whose size is
// the square of it. Below, results stay bit-identical to those of earlier versions.
const identityFrom = 4096

// IdentityV reports whether V, attributes x attributes, is the identity and not stored.
func (c Config) IdentityV(attributes int) bool {
	return c.Variant == Singletons && attributes >= identityFrom
}

// CheckGroups returns an *invalid.Error if V is not stored: Gamma is then too large to compute.
func (p *Parameters[T]) CheckGroups() error {
	if p.V.Data != nil {
		return nil
	}
	return &invalid.Error{
		Field: "model", Want: fmt.Sprintf("at most %d groups", identityFrom-1), Got: fmt.Sprintf("singletons of %d attributes", p.V.Rows),
		Hint: "Groups are analysed and predictions explained by a matrix of attributes x groups, " +
			"which would be too large. Use a model of k-soft.",
	}
}

// identityGamma returns the entries of Gamma for V = I, M x M, as writeGamma computes them:
// Gamma[m,m] and all others.
func identityGamma[T Float](m int, zeta float64) (own, background T) {
	e := math.Exp(-zeta)
	sum := 1 + float64(m-1)*e
	return T(1 / sum), T(float64(T(e)) / sum)
}

// setIdentity makes the tables of V = I.
func (f *fixedGroups[T]) setIdentity(zeta float64) {
	own, background := identityGamma[T](f.m, zeta)
	f.gamma.Data[0], f.gamma.Data[1] = own, background
	if f.prior != nil {
		f.prior.setIdentity(float64(own), float64(background))
		f.setPrior(f.prior.p)
	}
	f.background, f.empty = background, make([]bool, f.k)
	f.members, f.tables = f.members[:0], f.tables[:0]
	for k := range f.k {
		f.start[k] = len(f.members)
		// As leaveOut has it: the only attribute that differs from the background is k.
		f.empty[k] = f.classes.undescribed(k) || f.classes.Undescribed != nil && equal(own, background)
		if f.empty[k] {
			continue
		}
		f.members = append(f.members, k)
		for _, r := range f.ratio.Row(k) {
			f.tables = append(f.tables, (own-background)*r)
		}
	}
	f.start[f.k] = len(f.members)
	if f.complement != NoComplement {
		writeNoneOfIdentity(f.scale.products, f.withPrior, own, background, f.empty)
		scaleNoneOfClasses(f.scale, f.none)
		writeNoneRatio(f.noneRatio, f.none, f.k, f.z)
	}
}

// writeNoneOfIdentity writes Q of r for V = I, rows x M. The background of all attributes but
// one is the product of those before it and of those after it: no division, which fails where
// the attribute's factor is 0. Undescribed attributes are 0 in r, which leaves them out.
func writeNoneOfIdentity[T Float](q []float64, r dataset.Matrix[T], own, background T, empty []bool) {
	m := r.Cols
	parallel.For(r.Rows, 1+20000/m, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, out := r.Row(i), q[i*m:(i+1)*m]
			before, after := 1.0, 1.0
			for k, p := range row {
				out[k] = before * (1 - float64(own)*float64(p))
				before *= 1 - float64(background)*float64(p)
			}
			for k := m - 1; k >= 0; k-- {
				out[k] *= after
				after *= 1 - float64(background)*float64(row[k])
				if empty[k] {
					out[k] = 1
				}
			}
		}
	})
}

// setIdentity computes p from the Gamma of V = I.
func (g *groupedPrior[T]) setIdentity(own, background float64) {
	var means, described, groups float64 // sums
	for m, mean := range g.classes.P {
		if !g.classes.undescribed(m) {
			means += mean
			described++
		}
	}
	for k, mean := range g.classes.P {
		g.q[k], g.size[k] = background*means, background*described
		if !g.classes.undescribed(k) {
			g.q[k] += (own - background) * mean
			g.size[k] += own - background
		}
		if g.size[k] > 0 {
			g.q[k] /= g.size[k]
		}
		groups += g.q[k]
	}
	for m := range g.p {
		g.p[m] = 0
		if !g.classes.undescribed(m) {
			g.p[m] = background*groups + (own-background)*g.q[m]
		}
	}
}
