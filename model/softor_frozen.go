package model

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
)

// frozenGroups holds what a fixed Gamma makes of the classes at hand, made once a
// phase. softmax of a one-hot row with zeta 10 is the same small number at every
// group but its own, so Gamma is split into a background, one number, and the
// members of each group, the entries that differ from it:
//
//	sum_m Gamma[m,k] (U/p)[m,z] A[n,m] = sum over members of (Gamma - background) (U/p) A
//	                                     + background sum_m (U/p)[m,z] A[n,m]
//
// Hard groups then cost M x Z a sample, not M x K x Z. Where most entries differ,
// as in learned groups, the background is 0 and every attribute a member of all.
type frozenGroups[T Float] struct {
	m, k, z    int
	kind       Complement
	ratio      dataset.Matrix[T] // M x Z, U/p
	withPrior  dataset.Matrix[T] // (Z+1) x M, U and p
	silent     []bool            // M, attributes that are left out where classes are judged; nil for none
	unheard    []bool            // K, groups of silent attributes, which speak for no class
	gamma      dataset.Matrix[T] // M x K
	background T
	dense      bool  // every attribute is a member of every group
	members    []int // attributes, group after group
	start      []int // K + 1, where the members of each group start
	tables     []T   // a row of Z for each member, (Gamma - background) U/p
	complement []T   // K x Z, Uc/pc; zero without a complement
	none       []T   // (Z+1) x K
}

func newFrozenGroups[T Float](d *Description, k int, c Complement) *frozenGroups[T] {
	z, m := d.U.Rows, d.U.Cols
	return &frozenGroups[T]{
		m: m, k: k, z: z, kind: c,
		ratio: cast[T](d.ratio()), withPrior: cast[T](d.withPrior()),
		unheard:    make([]bool, k),
		gamma:      dataset.NewMatrix[T](m, k),
		start:      make([]int, k+1),
		complement: make([]T, k*z), none: make([]T, (z+1)*k),
	}
}

// set makes the tables of the grouping V.
func (f *frozenGroups[T]) set(v dataset.Matrix[T], zeta float64) {
	softGroups(f.gamma.Data, v, zeta)
	f.background = slices.Min(f.gamma.Data)
	var apart int
	for _, g := range f.gamma.Data {
		if g != f.background {
			apart++
		}
	}
	f.dense = 2*apart > len(f.gamma.Data)
	if f.dense {
		f.background = 0
	}
	f.leaveOut()
	f.members, f.tables = f.members[:0], f.tables[:0]
	for k := range f.k {
		f.start[k] = len(f.members)
		for m := range f.m {
			g := f.gamma.Data[m*f.k+k]
			if !f.dense && (g == f.background || g == 0) {
				continue
			}
			f.members = append(f.members, m)
			for _, r := range f.ratio.Row(m) {
				f.tables = append(f.tables, (g-f.background)*r)
			}
		}
	}
	f.start[f.k] = len(f.members)
	if f.kind != NoComplement {
		noneOfRows(f.none, f.withPrior, f.gamma)
		complementRatio(f.complement, f.none, f.k, f.z)
	}
}

// leaveOut takes silent attributes out of Gamma, and with them the groups that have
// no others, so that nothing of either reaches the choice.
func (f *frozenGroups[T]) leaveOut() {
	if f.silent == nil {
		return
	}
	for k := range f.unheard {
		f.unheard[k] = !f.dense
	}
	for m, silent := range f.silent {
		for k, g := range f.gamma.Row(m) {
			if !silent && g != f.background {
				f.unheard[k] = false
			}
		}
	}
	for m, silent := range f.silent {
		for k := range f.unheard {
			if silent || f.unheard[k] {
				f.gamma.Row(m)[k] = 0
			}
		}
	}
}

// scores makes the scores of groups G, K x n x Z, and of classes L, n x Z, from
// the detections A, n x M.
func (f *frozenGroups[T]) scores(a *G.Node) (scores, l *G.Node, err error) {
	var ac *G.Node // Ac = 1
	if f.kind == DeMorgan {
		gamma := input(a.Graph(), "Gamma", f.gamma.Data, f.m, f.k)
		if ac, err = noneOf[T](a, gamma, a); err != nil {
			return nil, nil, err
		}
	}
	if scores, err = f.softOr(a, ac); err != nil {
		return nil, nil, err
	}
	l, err = softAnd[T](scores)
	return scores, l, err
}

// softOr makes the scores of groups, K x n x Z, from the detections (see softOr)
// while the grouping is fixed; ac is nil for any complement but De Morgan's.
func (f *frozenGroups[T]) softOr(a, ac *G.Node) (*G.Node, error) {
	o := &frozenOr[T]{frozenGroups: f, n: a.Shape()[0], mul: newGemm[T]()}
	o.sum = make([]T, o.n*o.z)
	inputs := G.Nodes{a}
	gradients := []gradient[T]{
		by(kernel[T]{name: "soft or by A", shape: tensor.Shape{o.n, o.m}, forward: func(da []T, in [][]T) {
			o.byA(da, in[len(in)-1])
		}}),
	}
	if ac != nil {
		inputs, gradients = append(inputs, ac), append(gradients, byDetectedComplement(o.complement, o.n, o.k, o.z))
	}
	return kernel[T]{
		name:      "soft or of frozen groups",
		shape:     tensor.Shape{o.k, o.n, o.z},
		forward:   o.forward,
		gradients: gradients,
	}.apply(inputs...)
}

type frozenOr[T Float] struct {
	*frozenGroups[T]
	n      int
	sum    []T // n x Z, a sum over the background
	packed []T // n x members, the detections group after group
	mul    gemm[T]
}

func (o *frozenOr[T]) forward(g []T, in [][]T) {
	a := in[0]
	var ac []T
	if len(in) > 1 {
		ac = in[1]
	}
	startWithComplement(g, o.complement, ac, o.n, o.k, o.z)
	if o.background != 0 {
		o.mul(blas.NoTrans, blas.NoTrans, o.n, o.z, o.m, o.background, a, o.m, o.ratio.Data, o.z, 0, o.sum, o.z)
		parallel.For(o.k, 1+16384/(o.n*o.z), func(lo, hi int) {
			for k := lo; k < hi; k++ {
				if o.unheard[k] {
					continue
				}
				for i, s := range o.sum {
					g[k*o.n*o.z+i] += s
				}
			}
		})
	}
	if o.dense {
		parallel.For(o.k, 1, func(lo, hi int) {
			for k := lo; k < hi; k++ {
				o.mul(blas.NoTrans, blas.NoTrans, o.n, o.z, o.m, 1, a, o.m, o.tables[k*o.m*o.z:], o.z, 1, g[k*o.n*o.z:], o.z)
			}
		})
		return
	}
	o.pack(a)
	width := len(o.members)
	for k := range o.k {
		lo, hi := o.start[k], o.start[k+1]
		if hi > lo {
			o.mul(blas.NoTrans, blas.NoTrans, o.n, o.z, hi-lo, 1, o.packed[lo:], width, o.tables[lo*o.z:], o.z, 1, g[k*o.n*o.z:], o.z)
		}
	}
}

// pack gathers the detections in the order of the members.
func (o *frozenOr[T]) pack(a []T) {
	width := len(o.members)
	o.packed = slices.Grow(o.packed[:0], o.n*width)[:o.n*width]
	pack(o.packed, a, o.members, o.n, o.m)
}

// byA is dA[n,m] = sum over k, z of dG[k,n,z] Gamma[m,k] (U/p)[m,z].
func (o *frozenOr[T]) byA(da, dg []T) {
	clear(da)
	if o.dense {
		for k := range o.k {
			o.mul(blas.NoTrans, blas.Trans, o.n, o.m, o.z, 1, dg[k*o.n*o.z:], o.z, o.tables[k*o.m*o.z:], o.z, 1, da, o.m)
		}
		return
	}
	width := len(o.members)
	for k := range o.k {
		lo, hi := o.start[k], o.start[k+1]
		if hi > lo {
			o.mul(blas.NoTrans, blas.Trans, o.n, hi-lo, o.z, 1, dg[k*o.n*o.z:], o.z, o.tables[lo*o.z:], o.z, 0, o.packed[lo:], width)
		}
	}
	if o.background != 0 {
		clear(o.sum)
		for k := range o.k {
			if o.unheard[k] {
				continue
			}
			for i, d := range dg[k*o.n*o.z : (k+1)*o.n*o.z] {
				o.sum[i] += d
			}
		}
		o.mul(blas.NoTrans, blas.Trans, o.n, o.m, o.z, o.background, o.sum, o.z, o.ratio.Data, o.z, 0, da, o.m)
	}
	for i := range o.n {
		row, evidence := da[i*o.m:(i+1)*o.m], o.packed[i*width:(i+1)*width]
		for j, m := range o.members {
			row[m] += evidence[j]
		}
	}
}
