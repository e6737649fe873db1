package model

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
)

// frozenJudge judges detections by the tables of a grouping that learns no more. It
// makes what the graph of Judge makes, group by group on a few samples at a time, so
// that the scores of groups never leave the processor's cache.
type frozenJudge struct {
	*frozenGroups[float32]
	mul     gemm[float32]
	samples int       // that are judged at a time
	scratch sync.Pool // of *judgeScratch, one for each worker
}

// judgedAtATime is about how many scores of one group are worked on at a time: they
// and their products fit the cache of a core.
const judgedAtATime = 4096 // samples x classes

// judgeScratch is the memory of one worker.
type judgeScratch struct {
	packed   []float32 // n x members, the detections group after group
	sum, g   []float32 // n x Z, over the background, and the scores of a group
	ac       []float32 // n x K
	product  []float64 // n x Z, of the scores of groups, with
	exponent []int     // its exponent of 2
}

func (l *LAGO) frozenJudge(u dataset.Matrix[float64]) (*frozenJudge, error) {
	d, err := l.describe(u)
	if err != nil {
		return nil, err
	}
	k, err := Problem{Config: l.Config, Classes: d, Semantic: l.Semantic, Batch: 1}.check(l.Params.V.Rows)
	if err != nil {
		return nil, err
	}
	f := newFrozenGroups[float32](d, k, l.Config.Complement)
	f.silent = d.Silent
	f.set(l.Params.V, l.Config.Zeta)
	j := &frozenJudge{frozenGroups: f, mul: newGemm[float32](), samples: min(max(judgedAtATime/f.z, 16), 256)}
	j.scratch.New = func() any {
		n, width := j.samples, len(f.members)
		if f.dense {
			width = 0
		}
		return &judgeScratch{
			packed: make([]float32, n*width), sum: make([]float32, n*f.z), g: make([]float32, n*f.z),
			ac: make([]float32, n*k), product: make([]float64, n*f.z), exponent: make([]int, n*f.z),
		}
	}
	return j, nil
}

// judge writes log p(z|x) of samples with the detections a, n x M, into scores, n x Z.
func (j *frozenJudge) judge(a, scores dataset.Matrix[float32]) {
	parts := (a.Rows + j.samples - 1) / j.samples
	parallel.For(parts, 1, func(lo, hi int) {
		s := j.scratch.Get().(*judgeScratch)
		defer j.scratch.Put(s)
		for part := lo; part < hi; part++ {
			from, to := part*j.samples, min((part+1)*j.samples, a.Rows)
			j.some(s, a.Data[from*j.m:to*j.m], scores.Data[from*j.z:to*j.z], to-from)
		}
	})
}

// some judges n samples, at most j.samples.
func (j *frozenJudge) some(s *judgeScratch, a, l []float32, n int) {
	if j.background != 0 {
		j.mul(blas.NoTrans, blas.NoTrans, n, j.z, j.m, j.background, a, j.m, j.ratio.Data, j.z, 0, s.sum, j.z)
	}
	if j.kind == DeMorgan {
		noneOfRows(s.ac[:n*j.k], dataset.Matrix[float32]{Rows: n, Cols: j.m, Data: a}, j.gamma)
	}
	if !j.dense {
		pack(s.packed, a, j.members, n, j.m)
	}
	product, exponent := s.product[:n*j.z], s.exponent[:n*j.z]
	for i := range product {
		product[i], exponent[i] = 1, 0
	}
	for k := range j.k {
		j.group(s, a, k, n)
		for i, g := range s.g[:n*j.z] {
			product[i] *= min(max(float64(g), leastScore), mostScore)
		}
		if k%run == run-1 {
			for i, p := range product {
				mantissa, e := math.Frexp(p)
				product[i], exponent[i] = mantissa, exponent[i]+e
			}
		}
	}
	for i, p := range product {
		product[i] = math.Log(p) + float64(exponent[i])*math.Ln2
	}
	LogNormalise(product, j.z)
	for i, p := range product {
		l[i] = float32(p)
	}
}

// group writes the scores of group k for n samples into s.g, n x Z.
func (j *frozenJudge) group(s *judgeScratch, a []float32, k, n int) {
	g, complement := s.g[:n*j.z], j.complement[k*j.z:(k+1)*j.z]
	for i := range n {
		row := g[i*j.z : (i+1)*j.z]
		copy(row, complement)
		if j.kind == DeMorgan {
			for z := range row {
				row[z] *= s.ac[i*j.k+k]
			}
		}
	}
	if j.background != 0 && !j.unheard[k] {
		for i, v := range s.sum[:n*j.z] {
			g[i] += v
		}
	}
	if j.dense {
		j.mul(blas.NoTrans, blas.NoTrans, n, j.z, j.m, 1, a, j.m, j.tables[k*j.m*j.z:], j.z, 1, g, j.z)
		return
	}
	if lo, hi := j.start[k], j.start[k+1]; hi > lo {
		j.mul(blas.NoTrans, blas.NoTrans, n, j.z, hi-lo, 1, s.packed[lo:], len(j.members), j.tables[lo*j.z:], j.z, 1, g, j.z)
	}
}

// pack gathers the detections of n samples in the order of the members.
func pack[T Float](packed, a []T, members []int, n, m int) {
	width := len(members)
	for i := range n {
		row, out := a[i*m:(i+1)*m], packed[i*width:(i+1)*width]
		for j, m := range members {
			out[j] = row[m]
		}
	}
}
