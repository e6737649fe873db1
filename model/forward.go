package model

import (
	"fmt"
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Forward computes log p(z|x) from detections, A -> G -> Z, while nothing trains. All
// evaluation, prediction and explanation go through it. It computes group after group
// for a block of samples, so that group scores stay in the processor's cache.
type Forward[T Float] struct {
	groups *fixedGroups[T]
	params *Parameters[T]
	zeta   float64

	block   int       // samples
	scratch sync.Pool // of *forwardScratch[T], one per worker
}

// The size of a block: about blockNumbers samples x classes, at least leastBlock samples
// unless the classes are so many that maxBlockNumbers would be exceeded.
const (
	blockNumbers    = 4096
	leastBlock      = 16
	mostBlock       = 256
	maxBlockNumbers = 1 << 18
)

// forwardScratch is the memory of one worker.
type forwardScratch[T Float] struct {
	packed        []T // n x members, detections group after group
	background, g []T // n x Z
	ac            []T // n x K
	product       *logProduct
}

// NewForward returns the forward computation of the grouping of params for the candidate
// classes. It reads V of params alone.
func NewForward[T Float](c Config, classes *Description, params *Parameters[T]) (*Forward[T], error) {
	k, err := c.check(classes, params.V.Rows)
	if err != nil {
		return nil, err
	}
	f := &Forward[T]{groups: newFixedGroups[T](c, classes, k), params: params, zeta: c.Zeta}
	z := f.groups.z
	f.block = min(max(blockNumbers/z, leastBlock), mostBlock, max(maxBlockNumbers/z, 1))
	f.scratch.New = func() any {
		n := f.block
		return &forwardScratch[T]{background: make([]T, n*z), g: make([]T, n*z), ac: make([]T, n*k), product: newLogProduct(n * z)}
	}
	f.Update()
	return f, nil
}

// Update recomputes the tables of the grouping. Call it after V changed.
func (f *Forward[T]) Update() { f.groups.set(f.params.V, f.zeta) }

// LogP writes log p(z|x) of samples with the detections a, n x M, into logP, n x Z.
func (f *Forward[T]) LogP(a, logP dataset.Matrix[T]) error {
	m, z := f.groups.m, f.groups.z
	if a.Cols != m {
		return &invalid.Error{Field: "detections", Want: fmt.Sprintf("%d, one per attribute of the model", m), Got: fmt.Sprint(a.Cols)}
	}
	if err := checkScores(logP, a.Rows, z); err != nil {
		return err
	}
	blocks := (a.Rows + f.block - 1) / f.block
	parallel.For(blocks, 1, func(lo, hi int) {
		s := f.scratch.Get().(*forwardScratch[T])
		defer f.scratch.Put(s)
		for b := lo; b < hi; b++ {
			from, to := b*f.block, min((b+1)*f.block, a.Rows)
			f.blockLogP(s, a.Data[from*m:to*m], logP.Data[from*z:to*z], nil)
		}
	})
	return nil
}

// groupScores returns G of one sample with the detections a, K x Z, and its log p(z|x).
func (f *Forward[T]) groupScores(a []T) (g dataset.Matrix[T], logP []T) {
	g, logP = dataset.NewMatrix[T](f.groups.k, f.groups.z), make([]T, f.groups.z)
	s := f.scratch.Get().(*forwardScratch[T])
	defer f.scratch.Put(s)
	f.blockLogP(s, a, logP, func(k int, scores []T) { copy(g.Row(k), scores) })
	return g, logP
}

// blockLogP computes a block of at most f.block samples. each, if not nil, gets the
// scores of each group, n x Z.
func (f *Forward[T]) blockLogP(s *forwardScratch[T], a, logP []T, each func(k int, scores []T)) {
	t := f.groups
	n := len(a) / t.m
	size := n * t.z
	var ac []T
	if t.writeNoneOfDetections(s.ac[:n*t.k], a) {
		ac = s.ac[:n*t.k]
	}
	t.writeBackground(s.background[:size], a)
	s.packed = t.pack(s.packed, a)
	g, p := s.g[:size], &logProduct{product: s.product.product[:size], exponent: s.product.exponent[:size]}
	p.reset()
	for k := range t.k {
		t.startGroup(g, ac, s.background[:size], k)
		t.addMembers(g, a, s.packed, k)
		multiply(p, g)
		if each != nil {
			each(k, g)
		}
	}
	for i := range p.product {
		p.product[i] = p.log(i)
	}
	LogNormalise(p.product, t.z)
	for i, l := range p.product {
		logP[i] = T(l)
	}
}

// checkScores returns an error unless scores are samples x classes.
func checkScores[T Float](scores dataset.Matrix[T], samples, classes int) error {
	if scores.Rows != samples || scores.Cols != classes {
		return &invalid.Error{
			Field: "scores", Want: fmt.Sprintf("%d samples and %d classes", samples, classes),
			Got: fmt.Sprintf("%d and %d", scores.Rows, scores.Cols),
		}
	}
	return nil
}
