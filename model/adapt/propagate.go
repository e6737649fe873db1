package adapt

import (
	"cmp"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model"
)

// The constants of label propagation.
const (
	Neighbours = 10
	Spread     = 0.9
)

const propagationRounds = 100 // of which the last changes F by less than Spread^100

// Propagate is plain label propagation (Zhou et al., "Learning with local and global
// consistency", NIPS 2003), for comparison with Fit. The graph joins each of the normalised
// samples of b with its Neighbours nearest ones, W[i,j] = max(x_i x_j, 0) if one is among those
// of the other, and the labels are the predictions P = softmax(s/T) of all samples:
//
//	F = (1 - Spread) (I - Spread S)^-1 P,    S = D^(-1/2) W D^(-1/2), D the row sums of W
//
// F is N x Z. The error is an *invalid.Error as that of Fit.
func Propagate(b Block, temperature float64) (dataset.Matrix[float32], error) {
	n, err := check([]Block{b}, Settings{Temperature: temperature})
	if err != nil {
		return dataset.Matrix[float32]{}, err
	}
	p, z := dataset.NewMatrix[float64](n, b.Scores.Cols), b.Scores.Cols
	for i := range n {
		row := p.Row(i)
		for k, s := range b.Scores.Row(i) {
			row[k] = float64(s) / temperature
		}
		model.LogNormalise(row, z)
		for k, v := range row {
			row[k] = math.Exp(v)
		}
	}
	graph, f, next := graphOf(b.X), dataset.NewMatrix[float64](n, z), dataset.NewMatrix[float64](n, z)
	copy(f.Data, p.Data)
	for range propagationRounds {
		parallel.For(n, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row := next.Row(i)
				for k, v := range p.Row(i) {
					row[k] = (1 - Spread) * v
				}
				for _, e := range graph[i] {
					for k, v := range f.Row(e.to) {
						row[k] += Spread * e.weight * v
					}
				}
			}
		})
		f, next = next, f
	}
	return dataset.Convert[float32](f), nil
}

// edge is an entry of S.
type edge struct {
	to     int
	weight float64
}

// graphOf returns the rows of S.
func graphOf(x dataset.Matrix[float32]) [][]edge {
	n := x.Rows
	nearest := make([]map[int]float64, n)
	similarity := dataset.NewMatrix[float32](min(blockRows, n), n)
	for first := 0; first < n; first += blockRows {
		rows := x.Slice(first, min(first+blockRows, n))
		blas.Gemm(blas.NoTrans, blas.Trans, rows.Rows, n, x.Cols, 1, rows.Data, x.Cols, x.Data, x.Cols, 0, similarity.Data, n)
		parallel.For(rows.Rows, 16, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				var list []edge
				for j, s := range similarity.Row(i) {
					if j != first+i && s > 0 {
						list = append(list, edge{j, float64(s)})
					}
				}
				slices.SortFunc(list, func(a, b edge) int { return cmp.Or(cmp.Compare(b.weight, a.weight), a.to-b.to) })
				nearest[first+i] = map[int]float64{}
				for _, e := range list[:min(Neighbours, len(list))] {
					nearest[first+i][e.to] = e.weight
				}
			}
		})
	}
	graph, sum := make([][]edge, n), make([]float64, n)
	for i, list := range nearest {
		for j, w := range list {
			graph[i] = append(graph[i], edge{j, w})
			if _, mutual := nearest[j][i]; !mutual {
				graph[j] = append(graph[j], edge{i, w})
			}
		}
	}
	for i, list := range graph {
		slices.SortFunc(list, func(a, b edge) int { return a.to - b.to })
		for _, e := range list {
			sum[i] += e.weight
		}
	}
	for i, list := range graph {
		for k, e := range list {
			list[k].weight /= math.Sqrt(sum[i] * sum[e.to])
		}
	}
	return graph
}
