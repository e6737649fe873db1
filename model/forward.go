package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Forward computes log p(z|x) from detections, A -> G -> Z, while nothing trains. All
// evaluation, prediction and explanation go through it. It computes group after group
// for a block of samples, so that group scores stay in the processor's cache.
type Forward[T Float] struct {
	groups     *fixedGroups[T]
	classes    *Description
	complement Complement
	gamma      matrix.Matrix[T] // M x K of described attributes
	p          []float64        // p(a_m) of described attributes
	z          int
	block      int // samples
}

// The size of a block: about blockNumbers samples x classes, at least leastBlock samples
// unless the classes are so many that maxBlockNumbers would be exceeded.
const (
	blockNumbers    = 4096
	leastBlock      = 16
	mostBlock       = 256
	maxBlockNumbers = 1 << 18
)

// NewForward returns the forward computation of the grouping of params for the candidate
// classes. It reads V of params alone.
func NewForward[T Float](c Config, classes *Description, params *Parameters[T]) (*Forward[T], error) {
	k, err := c.check(classes, params.V.Rows)
	if err != nil {
		return nil, err
	}
	z, all := classes.U.Rows, params.Groups(c.Zeta)
	u := described(classes.U, classes.U.AllRows(), classes.Described)
	f := &Forward[T]{groups: new(fixedGroups[T]), classes: classes, complement: c.Complement, z: z}
	for _, m := range classes.Described {
		f.p = append(f.p, classes.P[m])
	}
	f.gamma = described(all, classes.Described, classes.grouped(k))
	if c.Prior == PerGroup {
		new(perGroupPrior[T]).write(f.p, described(all, classes.Described, allIndices(k)), slices.Clone(f.p))
	}
	ratio := matrix.New[T](u.Cols, z)
	writeRatio(ratio, u, f.p)
	var none matrix.Matrix[T]
	if c.Complement != NoComplement {
		withPrior := matrix.New[T](z+1, u.Cols)
		writeWithPrior(withPrior, u, f.p)
		none = matrix.New[T](z+2, f.gamma.Cols)
		noneOfClasses[T]{none}.write(withPrior, f.gamma)
	}
	f.groups.set(f.gamma, ratio, none)
	f.block = min(max(blockNumbers/z, leastBlock), mostBlock, max(maxBlockNumbers/z, 1))
	return f, nil
}

// LogP writes log p(z|x) of samples with the detections a, n x M, into logP, n x Z.
func (f *Forward[T]) LogP(a, logP dataset.Matrix[T]) error {
	return f.scorer().write(a, logP, nil, nil, nil)
}

func (f *Forward[T]) scorer() Scorer[T] { return Scorer[T]{Each: f.each, Classes: f.z, Logs: true} }

// each computes L of samples with the detections a, n x M, in blocks on several cores. use
// gets the index of the first sample of each block and its L, which it may change.
func (f *Forward[T]) each(a matrix.Matrix[T], use func(row int, l []float64)) error {
	if m := f.classes.U.Cols; a.Cols != m {
		return expected("detections", a.Cols, "%d, one per attribute of the model", m)
	}
	blocks := (a.Rows + f.block - 1) / f.block
	parallel.For(blocks, 1, func(lo, hi int) {
		s := f.newScratch()
		for b := lo; b < hi; b++ {
			from := b * f.block
			use(from, f.scores(s, a.Slice(from, min(from+f.block, a.Rows)), nil))
		}
	})
	return nil
}

// groupScores returns G of one sample with the detections a, K x Z. The scores of a group that was
// left out are those of the none-of-group term.
func (f *Forward[T]) groupScores(a []T) matrix.Matrix[T] {
	g := matrix.New[T](f.groups.groups(), f.z)
	f.scores(f.newScratch(), matrix.Of(a, len(a)), func(k int, scores []T) { copy(g.Row(k), scores) })
	return g
}

// forwardScratch is the memory of one worker.
type forwardScratch[T Float] struct {
	a             matrix.Matrix[T] // n x M, of described attributes
	packed        []T              // n x members, detections group after group
	background, g matrix.Matrix[T] // n x Z
	ac            []T              // n x K
	product       *logProduct
}

func (f *Forward[T]) newScratch() *forwardScratch[T] {
	return &forwardScratch[T]{
		a:          matrix.New[T](f.block, f.gamma.Rows),
		background: matrix.New[T](f.block, f.z), g: matrix.New[T](f.block, f.z),
		ac: make([]T, f.block*f.gamma.Cols), product: newLogProduct(f.block * f.z),
	}
}

// writeNoneOfDetections writes the scaled Ac, n x K. It reports false for Ac that needs no memory: 1 or 0.
func (f *Forward[T]) writeNoneOfDetections(ac []T, a matrix.Matrix[T]) bool {
	if f.complement != DeMorgan {
		return false
	}
	writeNoneOf(ac, a, f.gamma, f.groups.detection)
	return true
}

// scores returns L of a block of at most f.block samples in memory of s. each, if not nil, gets the
// scores of each group, n x Z.
func (f *Forward[T]) scores(s *forwardScratch[T], a matrix.Matrix[T],
	each func(k int, scores []T),
) []float64 {
	if t := s.a.Slice(0, a.Rows); t.Cols < a.Cols {
		writeDescribed(t, a, allIndices(a.Rows), f.classes.Described)
		a = t
	}
	t := f.groups
	size := a.Rows * f.z
	var ac []T
	if f.writeNoneOfDetections(s.ac, a) {
		ac = s.ac
	}
	background, g := s.background.Slice(0, a.Rows), s.g.Slice(0, a.Rows)
	t.writeBackground(background, a)
	packed := t.pack(s.packed, a)
	s.packed = packed.Data
	p := &logProduct{product: s.product.product[:size], exponent: s.product.exponent[:size]}
	p.reset()
	for k := range t.groups() {
		t.startGroup(g, ac, background, k)
		t.addMembers(g, a, packed, k)
		multiply(p, g.Data)
		if each != nil {
			each(k, g.Data)
		}
	}
	for i := range p.product {
		p.product[i] = p.log(i)
	}
	return p.product
}

// checkScores returns an error unless scores are samples x classes.
func checkScores[T Float](scores dataset.Matrix[T], samples, classes int) error {
	if scores.Rows != samples || scores.Cols != classes {
		return expected("scores", fmt.Sprintf("%d and %d", scores.Rows, scores.Cols),
			"%d samples and %d classes", samples, classes)
	}
	return nil
}

// CorrectionKind says how scores are corrected.
type CorrectionKind string

// The kinds of correction.
const (
	NoCorrection CorrectionKind = "none"
	Subtract     CorrectionKind = "evidence"    // of logarithms of probabilities
	Standardise  CorrectionKind = "standardise" // of any scores
)

// Correction takes out of the scores of each class what the class gets from samples of seen classes, whatever
// these show: the descriptions of some classes, hubs, score highly on everything. It is an empirical
// correction, no part of the paper and no consequence of the model. If exp L(x,z), L = sum_k log G[k,z],
// estimated p(z|x) / p(z), its mean over x would be 1 for every class. It is far from that, because groups
// are not independent and the prior p(a) is coarse, and differs between classes:
//
//	e[z]   = log of the mean over stored detections x' of exp L(x',z)
//	L(x,z) = L(x,z) - Omega e[z]
//
// With Omega 1 the mean over the stored detections is 1 for every class. Where the samples of
// a class itself are missing among them, as those of unseen classes are, about one half is best.
//
// This is Subtract, for scores that are logarithms of probabilities. Standardise is for any
// scores s, by their mean and standard deviation over x':
//
//	s(x,z) = (s(x,z) - c - Omega (mean[z] - c)) / deviation[z]^Omega
//
// with the mean c of the scores of all seen classes, which keeps an offset that all scores have
// from being scaled differently for each class.
type Correction struct {
	Kind  CorrectionKind `json:"correction"` // none, evidence or standardise
	Omega float64        `json:"omega"`      // from 0, no correction, to 1
}

// Stored is what corrections and explanations need of the samples of seen classes.
type Stored struct {
	Detections dataset.Matrix[float32] // n x M; the means over the samples of each seen class
	// 9 x M, of the detections of the samples; empty for other methods than LAGO
	Deciles dataset.Matrix[float32]
	Centre  float64        // c, see Pipeline.Store
	Kind    CorrectionKind // that suits the scores; "" is Subtract
}

// On reports whether c changes scores.
func (c Correction) On() bool { return c.Omega != 0 && c.Kind != NoCorrection && c.Kind != "" }

// Canonical returns the one form of all corrections that change no scores, or c.
func (c Correction) Canonical() Correction {
	if c.On() {
		return c
	}
	return Correction{Kind: NoCorrection}
}

// check returns an *invalid.Error unless c, with what is stored, corrects detections of so many
// columns, if any.
func (c Correction) check(stored Stored, columns int) error {
	switch {
	case !c.On():
		return nil
	case c.Kind != Subtract && c.Kind != Standardise:
		return expected("correction", c.Kind, "%s, %s or %s", NoCorrection, Subtract, Standardise)
	case !(c.Omega > 0 && c.Omega <= 1):
		return expected("omega", c.Omega, "a number from 0 to 1")
	case stored.Detections.Rows < 1 || columns > 0 && stored.Detections.Cols != columns:
		got := fmt.Sprintf("%d x %d", stored.Detections.Rows, stored.Detections.Cols)
		return expected("stored detections", got, "at least one row, as wide as the detections of the model")
	}
	return nil
}

// adjustment of a score s of class z is (s - shift[z]) factor[z].
type adjustment struct{ shift, factor []float64 }

// adjustment returns that of c, from the scores of the stored detections, n x Z, and their centre.
func (c Correction) adjustment(scores dataset.Matrix[float64], centre float64) *adjustment {
	a := &adjustment{make([]float64, scores.Cols), make([]float64, scores.Cols)}
	for z := range scores.Cols {
		column := make([]float64, scores.Rows)
		for i := range column {
			column[i] = scores.Row(i)[z]
		}
		a.shift[z], a.factor[z] = c.Omega*(LogSumExp(column)-math.Log(float64(len(column)))), 1
		if c.Kind == Standardise {
			mean, variance := stat.PopMeanVariance(column, nil)
			a.shift[z] = centre + c.Omega*(mean-centre)
			if variance > 0 { // else the class has the same score everywhere
				a.factor[z] = math.Pow(variance, -c.Omega/2)
			}
		}
	}
	return a
}

// stacked returns a with a number subtracted from the corrected scores of each class, unless gamma is nil.
func (a *adjustment) stacked(gamma []float64) *adjustment {
	if gamma == nil {
		return a
	}
	if a == nil {
		a = &adjustment{make([]float64, len(gamma)), slices.Repeat([]float64{1}, len(gamma))}
	}
	for z, g := range gamma {
		a.shift[z] += g / a.factor[z]
	}
	return a
}

// best returns the highest corrected score of a sample.
func (a *adjustment) best(scores []float64) float64 {
	best := math.Inf(-1)
	for z, s := range scores {
		best = max(best, a.at(z, s))
	}
	return best
}

// at returns the corrected score of a class. A nil adjustment is none.
func (a *adjustment) at(z int, score float64) float64 {
	if a == nil {
		return score
	}
	return (score - a.shift[z]) * a.factor[z]
}

// adjustments returns what p does to the scores of the classes of a scorer, nil for nothing, and if asked
// for the correction in full, see BestFit. The stored detections have so many columns, 0 for any.
func adjustments[T Float](p *Pipeline, of Scorer[T], columns int, fits bool) (
	own, full *adjustment, err error,
) {
	if p.Stacking != nil && len(p.Stacking) != of.Classes {
		return nil, nil, expected("descriptions", of.Classes, "those of the %d candidates of stacking",
			len(p.Stacking))
	}
	if err = p.Correction.check(p.Stored, columns); err == nil && fits {
		err = p.inFull().check(p.Stored, columns)
	}
	if err != nil || !p.Correction.On() && !fits {
		return own.stacked(p.Stacking), nil, err
	}
	stored, err := of.scores(dataset.Convert[T](p.Stored.Detections))
	if err != nil {
		return nil, nil, err
	}
	if p.Correction.On() {
		own = p.Correction.adjustment(stored, p.Stored.Centre)
	}
	return own.stacked(p.Stacking), p.inFull().adjustment(stored, p.Stored.Centre), nil
}

// CorrectionKind returns the kind of the correction of the scores or, without one, the kind that suits them.
func (p *Pipeline) CorrectionKind() CorrectionKind {
	if p.Correction.On() {
		return p.Correction.Kind
	}
	return cmp.Or(p.Stored.Kind, Subtract)
}

// inFull is the correction of the scores with Omega 1.
func (p *Pipeline) inFull() Correction { return Correction{p.CorrectionKind(), 1} }

// Scores returns L of samples with the detections a, n x M, as n x Z.
func (f *Forward[T]) Scores(a dataset.Matrix[T]) (dataset.Matrix[float64], error) {
	return f.scorer().scores(a)
}
