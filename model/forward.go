package model

import (
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Forward computes log p(z|x) from detections, A -> G -> Z, while nothing trains. All
// evaluation, prediction and explanation go through it. It computes group after group
// for a block of samples, so that group scores stay in the processor's cache.
type Forward[T Float] struct {
	groups     *softOr[T]
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
	f := &Forward[T]{groups: new(softOr[T]), classes: classes, complement: c.Complement, z: z}
	for _, m := range classes.Described {
		f.p = append(f.p, classes.P[m])
	}
	f.gamma = described(all, classes.Described, classes.grouped(k))
	if c.Prior == PerGroup {
		new(perGroupPrior[T]).write(f.p, described(all, classes.Described, allIndices(k)), slices.Clone(f.p))
	}
	ratio := matrix.New[T](u.Cols, z)
	writeRatio(ratio, u, f.p)
	var none *noneOfClasses[T]
	if c.Complement != NoComplement {
		withPrior := matrix.New[T](z+1, u.Cols)
		writeWithPrior(withPrior, u, f.p)
		none = &noneOfClasses[T]{Matrix: matrix.New[T](z+1, f.gamma.Cols)}
		none.write(withPrior, f.gamma)
	}
	f.groups.setFixed(f.gamma, ratio, none)
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

// Scores returns L of samples with the detections a, n x M, as n x Z.
func (f *Forward[T]) Scores(a dataset.Matrix[T]) (dataset.Matrix[float64], error) {
	return f.scorer().scores(a)
}
