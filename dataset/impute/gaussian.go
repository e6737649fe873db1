package impute

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Gaussian is a normal distribution of standardised descriptions. Its methods are for concurrent use.
type Gaussian struct {
	mean, sd   []float64 // M, of the given entries of each attribute
	mu         []float64 // M, of standardised descriptions
	covariance *mat.SymDense
	weight     float64 // of the covariance: the number of classes and pseudo-classes
}

const (
	// pseudoClasses of unit covariance are added to the classes, whose entries correlate by chance.
	// iterations of EM are enough: more fit the entries of the classes that are given.
	pseudoClasses, iterations = 60, 10
	// leastDeviation is the least standard deviation of an attribute.
	leastDeviation = 1e-3
	// parts are summed one after the other, so that results do not depend on the number of workers.
	parts = 4
)

// Fit estimates the distribution of the descriptions u, Z x M, NaN for missing entries, by EM with missing
// entries (Little and Rubin, Statistical Analysis with Missing Data, section 11.2), with shrinkage. Classes
// without a given entry have no weight.
func Fit(u dataset.Matrix[float64]) *Gaussian {
	m := u.Cols
	u = u.Gather(slices.DeleteFunc(u.AllRows(), func(z int) bool {
		return !slices.ContainsFunc(u.Row(z), func(p float64) bool { return !math.IsNaN(p) })
	}))
	g := &Gaussian{
		mean: dataset.Means(u, overall(u)), sd: make([]float64, m), mu: make([]float64, m),
		covariance: mat.NewSymDense(m, nil), weight: float64(u.Rows + pseudoClasses),
	}
	for a := range m {
		g.covariance.SetSym(a, a, 1)
		squares, n := 1e-6, 0.0
		for z := range u.Rows {
			if d := u.Row(z)[a] - g.mean[a]; !math.IsNaN(d) {
				squares += d * d
				n++
			}
		}
		if g.sd[a] = leastDeviation; n > 0 {
			g.sd[a] = max(math.Sqrt(squares/n), leastDeviation)
		}
	}
	if u.Rows == 0 {
		return g
	}
	scores, patterns := g.standardise(u), patternsOf(u)
	for range iterations {
		g.step(scores, patterns)
	}
	return g
}

func overall(u dataset.Matrix[float64]) float64 {
	return dataset.Means(dataset.Matrix[float64]{Rows: len(u.Data), Cols: 1, Data: u.Data}, 0)[0]
}

func (g *Gaussian) standardise(u dataset.Matrix[float64]) *mat.Dense {
	scores := mat.NewDense(u.Rows, u.Cols, nil)
	for z := range u.Rows {
		for a, p := range u.Row(z) {
			if !math.IsNaN(p) {
				scores.Set(z, a, (p-g.mean[a])/g.sd[a])
			}
		}
	}
	return scores
}

type pattern struct{ classes, given, missing []int }

func patternsOf(u dataset.Matrix[float64]) (list []pattern) {
	index := map[string]int{}
	for z := range u.Rows {
		key := make([]byte, u.Cols)
		for a, p := range u.Row(z) {
			if math.IsNaN(p) {
				key[a] = 1
			}
		}
		i, known := index[string(key)]
		if !known {
			i = len(list)
			index[string(key)] = i
			var p pattern
			for a, missing := range key {
				if missing == 1 {
					p.missing = append(p.missing, a)
				} else {
					p.given = append(p.given, a)
				}
			}
			list = append(list, p)
		}
		list[i].classes = append(list[i].classes, z)
	}
	return list
}

func (g *Gaussian) step(scores *mat.Dense, patterns []pattern) {
	classes, m := scores.Dims()
	precision := g.precision(patterns)
	sums := make([]*mat.SymDense, min(parts, len(patterns)))
	parallel.For(len(sums), 1, func(lo, hi int) {
		for part := lo; part < hi; part++ {
			for _, p := range patterns[part*len(patterns)/len(sums) : (part+1)*len(patterns)/len(sums)] {
				rest := g.complete(scores, p, precision, true)
				if rest == nil {
					continue
				}
				if sums[part] == nil {
					sums[part] = mat.NewSymDense(m, nil)
				}
				for i, a := range p.missing {
					for j := i; j < len(p.missing); j++ {
						b := p.missing[j]
						sums[part].SetSym(a, b, sums[part].At(a, b)+float64(len(p.classes))*rest.At(i, j))
					}
				}
			}
		}
	})
	for a := range m {
		g.mu[a] = mat.Sum(scores.ColView(a)) / float64(classes+2)
	}
	var s mat.SymDense
	s.SymOuterK(1, g.centred(scores, dataset.Matrix[float64]{Rows: classes}.AllRows(),
		dataset.Matrix[float64]{Rows: m}.AllRows()))
	for _, sum := range sums {
		if sum != nil {
			s.AddSym(&s, sum)
		}
	}
	for a := range m {
		s.SetSym(a, a, s.At(a, a)+pseudoClasses)
	}
	g.covariance.ScaleSym(1/g.weight, &s)
}

func (g *Gaussian) centred(scores *mat.Dense, classes, attributes []int) *mat.Dense {
	d := mat.NewDense(len(attributes), len(classes), nil)
	for i, a := range attributes {
		for j, z := range classes {
			d.Set(i, j, scores.At(z, a)-g.mu[a])
		}
	}
	return d
}

// precision returns the inverse of the covariance, or nil where no pattern needs it.
func (g *Gaussian) precision(patterns []pattern) *mat.SymDense {
	if !slices.ContainsFunc(patterns, pattern.byPrecision) {
		return nil
	}
	return inverse(g.covariance)
}

// byPrecision reports whether the conditional distribution of the missing entries takes fewer operations
// from the inverse of the covariance.
func (p pattern) byPrecision() bool {
	n, m := float64(len(p.given)), float64(len(p.missing))
	return len(p.given) > 0 && len(p.missing) > 0 && m*m*m < n*n*n/3+n*n*m+n*m*m/2
}

// complete sets the missing entries of the classes of a pattern to their mean given the others. With
// covariance, it returns what covariance they have then; nil where all entries or none are given.
func (g *Gaussian) complete(scores *mat.Dense, p pattern, precision *mat.SymDense,
	covariance bool,
) *mat.SymDense {
	if len(p.missing) == 0 {
		return nil
	}
	expected, rest := mat.NewDense(len(p.missing), len(p.classes), nil), (*mat.SymDense)(nil)
	switch {
	case len(p.given) == 0:
	case precision != nil && p.byPrecision(): // -K_mm^-1 K_mg d, and K_mm^-1
		var onto mat.Dense
		onto.Mul(gather(precision, p.missing, p.given), g.centred(scores, p.classes, p.given))
		factor := factorise(gatherSym(precision, p.missing))
		must(factor.SolveTo(expected, &onto))
		expected.Scale(-1, expected)
		if covariance {
			rest = new(mat.SymDense)
			must(factor.InverseTo(rest))
		}
	default: // B' L^-1 d and C_mm - B'B, where C_gg = L L' and B = L^-1 C_gm
		var lower mat.TriDense
		factorise(gatherSym(g.covariance, p.given)).LTo(&lower)
		var b, d mat.Dense
		must(lower.SolveTo(&b, false, gather(g.covariance, p.given, p.missing)))
		must(lower.SolveTo(&d, false, g.centred(scores, p.classes, p.given)))
		expected.Mul(b.T(), &d)
		if covariance {
			rest = gatherSym(g.covariance, p.missing)
			rest.SymRankK(rest, -1, b.T())
		}
	}
	for i, a := range p.missing {
		for j, z := range p.classes {
			scores.Set(z, a, g.mu[a]+expected.At(i, j))
		}
	}
	return rest
}

func gather(c *mat.SymDense, rows, cols []int) *mat.Dense {
	from, data := c.RawSymmetric(), make([]float64, 0, len(rows)*len(cols))
	for _, a := range rows {
		for _, b := range cols {
			data = append(data, from.Data[min(a, b)*from.Stride+max(a, b)])
		}
	}
	return mat.NewDense(len(rows), len(cols), data)
}

// gatherSym takes ascending rows.
func gatherSym(c *mat.SymDense, rows []int) *mat.SymDense {
	n := len(rows)
	from, data := c.RawSymmetric(), make([]float64, n*n)
	for i, a := range rows {
		for j, b := range rows[i:] {
			data[i*n+i+j] = from.Data[a*from.Stride+b]
		}
	}
	return mat.NewSymDense(n, data)
}

// factorise panics where a matrix is not positive definite: covariances with pseudo-classes and their
// inverses are.
func factorise(c *mat.SymDense) *mat.Cholesky {
	var factor mat.Cholesky
	if !factor.Factorize(c) {
		panic("impute: a covariance that is not positive definite")
	}
	return &factor
}

func inverse(c *mat.SymDense) *mat.SymDense {
	var inverted mat.SymDense
	must(factorise(c).InverseTo(&inverted))
	return &inverted
}

func must(err error) {
	if err != nil {
		panic("impute: " + err.Error())
	}
}

// Fill returns the descriptions u with missing entries at their conditional means, within 0 and 1.
func (g *Gaussian) Fill(u dataset.Matrix[float64]) dataset.Matrix[float64] {
	full, scores, patterns := dataset.Convert[float64](u), g.standardise(u), patternsOf(u)
	precision := g.precision(patterns)
	parallel.For(len(patterns), 1, func(lo, hi int) {
		for _, p := range patterns[lo:hi] {
			g.complete(scores, p, precision, false)
			for _, z := range p.classes {
				for _, a := range p.missing {
					full.Row(z)[a] = min(max(g.mean[a]+g.sd[a]*scores.At(z, a), 0), 1)
				}
			}
		}
	})
	return full
}

// ownDeviation is part of each standard deviation of Expected: an attribute that hardly any class has makes
// no other entry of it doubtful.
const ownDeviation = 0.2

// Expected returns what each given entry of the descriptions u, to which g was fitted, is expected to be by
// the other entries of its class and by the other classes, within 0 and 1, and the standard deviation; NaN
// for missing entries. With its class in the covariance, an entry would be expected as it is: of the most
// doubtful entries of cub127 83 % were the 1 % that were made wrong (80 to 86 in ten draws), and are 92 %
// without it (90 to 94).
func (g *Gaussian) Expected(u dataset.Matrix[float64]) (mean, sd dataset.Matrix[float64]) {
	mean, sd = dataset.Convert[float64](u), dataset.Convert[float64](u)
	scores, patterns := g.standardise(u), patternsOf(u)
	parallel.For(len(patterns), 1, func(lo, hi int) {
		for _, p := range patterns[lo:hi] {
			if len(p.given) == 0 {
				continue
			}
			precision := inverse(gatherSym(g.covariance, p.given))
			var product mat.Dense
			d := g.centred(scores, p.classes, p.given)
			product.Mul(precision, d)
			for j, z := range p.classes { // Sherman-Morrison, for the covariance without the class
				others := g.weight - mat.Dot(d.ColView(j), product.ColView(j))
				for i, a := range p.given {
					k := product.At(i, j)
					variance := 1 / (precision.At(i, i) + k*k/others)
					left := scores.At(z, a) - variance*k*g.weight/others
					mean.Row(z)[a] = min(max(g.mean[a]+g.sd[a]*left, 0), 1)
					sd.Row(z)[a] = math.Hypot(g.sd[a]*math.Sqrt(variance), ownDeviation)
				}
			}
		}
	})
	return mean, sd
}
