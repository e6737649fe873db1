package model

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/parallel"
)

// fixedGroups holds the tables from which group scores are computed while Gamma is
// fixed: while W trains, and wherever nothing trains. They are made once per phase.
//
// The softmax of a one-hot row with zeta 10 is the same small number at every group but
// its own. Gamma is therefore split into a background, one number, and the members of
// each group, the entries that differ from it:
//
//	sum_m Gamma[m,k] (U/p)[m,z] A[n,m] = sum over members of (Gamma - background) (U/p) A
//	                                     + background sum_m (U/p)[m,z] A[n,m]
//
// Hard groups then cost M x Z per sample, not M x K x Z. Where most entries differ, as
// in learned groups, the background is 0 and every attribute is a member of all groups.
type fixedGroups[T Float] struct {
	m, k, z    int
	complement Complement
	classes    *Description
	prior      *groupedPrior[T]  // of PerGroup, otherwise nil
	ratio      dataset.Matrix[T] // M x Z, U/p
	withPrior  dataset.Matrix[T] // (Z+1) x M, U and p
	gamma      dataset.Matrix[T] // M x K, after leaveOut; where V is not stored, its two entries

	background T
	dense      bool   // every attribute is a member of every group
	empty      []bool // K, the groups that leaveOut left out
	members    []int  // attributes, group after group
	start      []int  // K + 1, where the members of each group start
	tables     []T    // one row of Z per member, (Gamma - background) U/p
	none       []T    // (Z+1) x K, scaled Uc and pc
	noneRatio  []T    // K x Z, scaled Uc/pc; zero for Ac = 0
	scale      *noneScale
}

// newFixedGroups returns tables without numbers, for V of the size of v.
func newFixedGroups[T Float](c Config, d *Description, v dataset.Matrix[T]) *fixedGroups[T] {
	z, m, k := d.U.Rows, d.U.Cols, v.Cols
	gamma := dataset.Matrix[T]{Rows: 1, Cols: 2, Data: make([]T, 2)}
	if v.Data != nil {
		gamma = dataset.NewMatrix[T](m, k)
	}
	f := &fixedGroups[T]{
		m: m, k: k, z: z, complement: c.Complement, classes: d,
		ratio: dataset.NewMatrix[T](m, z), withPrior: dataset.NewMatrix[T](z+1, m), gamma: gamma,
		start: make([]int, k+1), none: make([]T, (z+1)*k), noneRatio: make([]T, k*z), scale: newNoneScale(k, z),
	}
	if c.Prior == PerGroup {
		f.prior = newGroupedPrior[T](d, k)
	}
	f.setPrior(d.P)
	return f
}

func (f *fixedGroups[T]) setPrior(p []float64) {
	copy(f.ratio.Data, dataset.Convert[T](f.classes.ratio(p)).Data)
	copy(f.withPrior.Data, dataset.Convert[T](f.classes.withPrior(p)).Data)
}

// set makes the tables of the grouping V.
func (f *fixedGroups[T]) set(v dataset.Matrix[T], zeta float64) {
	if v.Data == nil {
		f.setIdentity(zeta)
		return
	}
	writeGamma(f.gamma.Data, v, zeta)
	if f.prior != nil {
		f.prior.set(f.gamma.Data)
		f.setPrior(f.prior.p)
	}
	f.background, f.dense = backgroundOf(f.gamma.Data)
	f.empty = leaveOut(f.gamma, f.classes.Undescribed)
	f.members, f.tables = f.members[:0], f.tables[:0]
	for k := range f.k {
		f.start[k] = len(f.members)
		for m := range f.m {
			g := f.gamma.Data[m*f.k+k]
			if !f.dense && (equal(g, f.background) || g == 0) {
				continue
			}
			f.members = append(f.members, m)
			for _, r := range f.ratio.Row(m) {
				f.tables = append(f.tables, (g-f.background)*r)
			}
		}
	}
	f.start[f.k] = len(f.members)
	if f.complement != NoComplement {
		writeNoneOfClasses(f.scale, f.none, f.withPrior, f.gamma)
		writeNoneRatio(f.noneRatio, f.none, f.k, f.z)
	}
}

// backgroundOf returns the background of Gamma. If most entries differ from it, Gamma is
// dense and has none.
func backgroundOf[T Float](gamma []T) (background T, dense bool) {
	background = slices.Min(gamma)
	var differ int
	for _, g := range gamma {
		if !equal(g, background) {
			differ++
		}
	}
	if 2*differ > len(gamma) {
		return 0, true
	}
	return background, false
}

// equal compares in float32: in float64, softmax of rows with equal entries in another order
// can differ by rounding.
func equal[T Float](x, y T) bool { return float32(x) == float32(y) }

// leaveOut sets Gamma, M x K, to 0 for undescribed attributes and for empty groups, those
// without another member. It returns which groups are empty. Soft OR is computed from this
// Gamma wherever there are undescribed attributes: they are evidence for no class.
func leaveOut[T Float](gamma dataset.Matrix[T], undescribed []bool) (empty []bool) {
	empty = make([]bool, gamma.Cols)
	if undescribed == nil {
		return empty
	}
	background, dense := backgroundOf(gamma.Data)
	for k := range empty {
		empty[k] = !dense
		for m, skip := range undescribed {
			if !skip && !equal(gamma.Row(m)[k], background) {
				empty[k] = false
			}
		}
	}
	for m, skip := range undescribed {
		for k, left := range empty {
			if skip || left {
				gamma.Row(m)[k] = 0
			}
		}
	}
	return empty
}

// writeNoneOfDetections writes the scaled Ac, n x K, of the detections A, n x M. It reports false
// for Ac that needs no memory: 1 or 0.
func (f *fixedGroups[T]) writeNoneOfDetections(ac, a []T) bool {
	if f.complement != DeMorgan {
		return false
	}
	writeNoneOf(ac, dataset.Matrix[T]{Rows: len(a) / f.m, Cols: f.m, Data: a}, f.gamma, f.scale.detection)
	return true
}

// writeBackground writes the sum over the background, n x Z, which is the same for all
// groups.
func (f *fixedGroups[T]) writeBackground(sum, a []T) {
	if f.background != 0 {
		blas.Gemm(blas.NoTrans, blas.NoTrans, len(a)/f.m, f.z, f.m, f.background, a, f.m, f.ratio.Data, f.z, 0, sum, f.z)
	}
}

// startGroup writes the none-of-group term and the background of group k into its
// scores g, n x Z. ac is nil for Ac = 1.
func (f *fixedGroups[T]) startGroup(g, ac, background []T, k int) {
	writeNoneTerm(g, f.noneRatio[k*f.z:(k+1)*f.z], ac, k, f.k, f.scale.detection[k])
	if f.background != 0 && !f.empty[k] {
		blas.AddScaled(g, 1, background)
	}
}

// addMembers adds the evidence of the members of group k to its scores.
func (f *fixedGroups[T]) addMembers(g, a, packed []T, k int) {
	n := len(g) / f.z
	if f.dense {
		blas.Gemm(blas.NoTrans, blas.NoTrans, n, f.z, f.m, 1, a, f.m, f.tables[k*f.m*f.z:], f.z, 1, g, f.z)
		return
	}
	if lo, hi := f.start[k], f.start[k+1]; hi > lo {
		blas.Gemm(blas.NoTrans, blas.NoTrans, n, f.z, hi-lo, 1, packed[lo:], len(f.members), f.tables[lo*f.z:], f.z, 1, g, f.z)
	}
}

// pack gathers detections group after group, n x members. Dense groups need no copy.
func (f *fixedGroups[T]) pack(packed, a []T) []T {
	if f.dense {
		return packed[:0]
	}
	n, width := len(a)/f.m, len(f.members)
	packed = slices.Grow(packed[:0], n*width)[:n*width]
	for i := range n {
		row, out := a[i*f.m:(i+1)*f.m], packed[i*width:(i+1)*width]
		for j, m := range f.members {
			out[j] = row[m]
		}
	}
	return packed
}

// noneOfDetections makes the scaled Ac of the detections A, nil for the constants 1 and 0.
func (f *fixedGroups[T]) noneOfDetections(a, gamma *G.Node) *G.Node {
	if f.complement != DeMorgan {
		return nil
	}
	return noneOf[T](a, gamma, a, f.scale.detection)
}

// softOr makes the group scores (Eq. 5), K x n x Z, from the detections A while the
// grouping is fixed: Gamma and U/p are constants, and the tables made from them are used.
// ac is nil for Ac = 1 or 0.
func (f *fixedGroups[T]) softOr(a, gamma, ratio, ac *G.Node) *G.Node {
	n := a.Shape()[0]
	o := &fixedSoftOr[T]{fixedGroups: f, n: n, sum: make([]T, n*f.z)}
	inputs := G.Nodes{a, gamma, ratio}
	gradients := []gradient[T]{
		by(kernel[T]{name: "soft or by A", shape: tensor.Shape{n, f.m}, forward: func(da []T, in [][]T) {
			o.byA(da, in[len(in)-1])
		}}),
		nil,
		nil,
	}
	if ac != nil {
		inputs, gradients = append(inputs, ac), append(gradients, byNoneOfDetections(f.noneRatio, n, f.k, f.z))
	}
	return kernel[T]{
		name:      "soft or of fixed groups",
		shape:     tensor.Shape{f.k, n, f.z},
		forward:   o.forward,
		gradients: gradients,
	}.apply(inputs...)
}

type fixedSoftOr[T Float] struct {
	*fixedGroups[T]
	n      int
	sum    []T // n x Z, over the background
	packed []T
}

func (o *fixedSoftOr[T]) forward(g []T, in [][]T) {
	a := in[0]
	var ac []T
	if len(in) > 3 {
		ac = in[3]
	}
	size := o.n * o.z
	o.writeBackground(o.sum, a)
	parallel.For(o.k, 1+16384/size, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			o.startGroup(g[k*size:(k+1)*size], ac, o.sum, k)
		}
	})
	o.packed = o.pack(o.packed, a)
	members := func(lo, hi int) {
		for k := lo; k < hi; k++ {
			o.addMembers(g[k*size:(k+1)*size], a, o.packed, k)
		}
	}
	if o.dense {
		parallel.For(o.k, 1, members)
	} else {
		members(0, o.k)
	}
}

// byA is dA[n,m] = sum over k, z of dG[k,n,z] Gamma[m,k] (U/p)[m,z].
func (o *fixedSoftOr[T]) byA(da, dg []T) {
	clear(da)
	if o.dense {
		// The number of parts depends on the sizes alone, so that results do not depend on the
		// number of workers.
		parts := min(2*((o.m+127)/128), o.m)
		parallel.For(parts, 1, func(lo, hi int) {
			for p := lo; p < hi; p++ {
				from, to := p*o.m/parts, (p+1)*o.m/parts
				for k := range o.k {
					blas.Gemm(blas.NoTrans, blas.Trans, o.n, to-from, o.z, 1, dg[k*o.n*o.z:], o.z, o.tables[(k*o.m+from)*o.z:], o.z, 1, da[from:], o.m)
				}
			}
		})
		return
	}
	width := len(o.members)
	for k := range o.k {
		lo, hi := o.start[k], o.start[k+1]
		if hi > lo {
			blas.Gemm(blas.NoTrans, blas.Trans, o.n, hi-lo, o.z, 1, dg[k*o.n*o.z:], o.z, o.tables[lo*o.z:], o.z, 0, o.packed[lo:], width)
		}
	}
	if o.background != 0 {
		clear(o.sum)
		for k, empty := range o.empty {
			if !empty {
				blas.AddScaled(o.sum, 1, dg[k*o.n*o.z:(k+1)*o.n*o.z])
			}
		}
		blas.Gemm(blas.NoTrans, blas.Trans, o.n, o.m, o.z, o.background, o.sum, o.z, o.ratio.Data, o.z, 0, da, o.m)
	}
	for i := range o.n {
		row, evidence := da[i*o.m:(i+1)*o.m], o.packed[i*width:(i+1)*width]
		for j, m := range o.members {
			row[m] += evidence[j]
		}
	}
}

// Forward computes log p(z|x) from detections, A -> G -> Z, while nothing trains. All
// evaluation, prediction and explanation go through it. It computes group after group
// for a block of samples, so that group scores stay in the processor's cache.
type Forward[T Float] struct {
	groups *fixedGroups[T]
	block  int         // samples
	adjust *adjustment // of L, by a Correction
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
	if _, err := c.check(classes, params.V.Rows); err != nil {
		return nil, err
	}
	f := &Forward[T]{groups: newFixedGroups(c, classes, params.V)}
	f.groups.set(params.V, c.Zeta)
	z := f.groups.z
	f.block = min(max(blockNumbers/z, leastBlock), mostBlock, max(maxBlockNumbers/z, 1))
	return f, nil
}

// LogP writes log p(z|x) of samples with the detections a, n x M, into logP, n x Z.
func (f *Forward[T]) LogP(a, logP dataset.Matrix[T]) error {
	z := f.groups.z
	if err := checkScores(logP, a.Rows, z); err != nil {
		return err
	}
	return f.each(a, func(row int, l []float64) {
		LogNormalise(l, z)
		for i, v := range l {
			logP.Data[row*z+i] = T(v)
		}
	})
}

// each computes L of samples with the detections a, n x M, in blocks on several cores. use
// gets the index of the first sample of each block and its L, which it may change.
func (f *Forward[T]) each(a dataset.Matrix[T], use func(row int, l []float64)) error {
	m := f.groups.m
	if a.Cols != m {
		return expected("detections", a.Cols, "%d, one per attribute of the model", m)
	}
	blocks := (a.Rows + f.block - 1) / f.block
	parallel.For(blocks, 1, func(lo, hi int) {
		s := f.newScratch()
		for b := lo; b < hi; b++ {
			from, to := b*f.block, min((b+1)*f.block, a.Rows)
			use(from, f.evidence(s, a.Data[from*m:to*m], nil))
		}
	})
	return nil
}

// groupScores returns G of one sample with the detections a, K x Z.
func (f *Forward[T]) groupScores(a []T) dataset.Matrix[T] {
	g := dataset.NewMatrix[T](f.groups.k, f.groups.z)
	f.evidence(f.newScratch(), a, func(k int, scores []T) { copy(g.Row(k), scores) })
	return g
}

// forwardScratch is the memory of one worker.
type forwardScratch[T Float] struct {
	packed        []T // n x members, detections group after group
	background, g []T // n x Z
	ac            []T // n x K
	product       *logProduct
}

func (f *Forward[T]) newScratch() *forwardScratch[T] {
	size := f.block * f.groups.z
	return &forwardScratch[T]{background: make([]T, size), g: make([]T, size), ac: make([]T, f.block*f.groups.k), product: newLogProduct(size)}
}

// evidence returns L of a block of at most f.block samples, corrected, in memory of s. each, if
// not nil, gets the scores of each group, n x Z.
func (f *Forward[T]) evidence(s *forwardScratch[T], a []T, each func(k int, scores []T)) []float64 {
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
		p.product[i] = f.adjust.at(i%t.z, p.log(i))
	}
	return p.product
}

// checkScores returns an error unless scores are samples x classes.
func checkScores[T Float](scores dataset.Matrix[T], samples, classes int) error {
	if scores.Rows != samples || scores.Cols != classes {
		return expected("scores", fmt.Sprintf("%d and %d", scores.Rows, scores.Cols), "%d samples and %d classes", samples, classes)
	}
	return nil
}
