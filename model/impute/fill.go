package impute

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
)

// Impute returns descriptions, Z x M in [0, 1], with what stands for the attributes
// that they leave out (NaN). u itself is not changed; without gaps it is returned as
// it is, and by a nil rule always.
//
// What stays NaN is to be left out of the choice between the classes: with Neutral,
// the groups of which no class says anything, and with either kind an attribute that
// neither the reference nor any class describes.
func (r *Imputer) Impute(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	if r == nil || !hasMissing(u) {
		return u, nil
	}
	if u.Cols != len(r.mean) {
		return u, fmt.Errorf("impute: descriptions: expected %d attributes, as in the reference, found %d", len(r.mean), u.Cols)
	}
	full := dataset.NewMatrix[float64](u.Rows, u.Cols)
	copy(full.Data, u.Data)
	mean := r.meanWith(u)
	for z := range u.Rows {
		for _, block := range r.blocks {
			if err := r.expect(full.Row(z), u.Row(z), mean, block); err != nil {
				return u, err
			}
		}
	}
	if r.kind == Neutral {
		r.leaveOut(full, u)
	}
	return full, nil
}

func hasMissing(u dataset.Matrix[float64]) bool {
	for _, p := range u.Data {
		if math.IsNaN(p) {
			return true
		}
	}
	return false
}

// meanWith is the mean of each attribute over the reference or, where that does not
// describe it, over the classes of u that do.
func (r *Imputer) meanWith(u dataset.Matrix[float64]) []float64 {
	mean := make([]float64, len(r.mean))
	for m, p := range r.mean {
		if mean[m] = p; !math.IsNaN(p) {
			continue
		}
		var sum, n float64
		for z := range u.Rows {
			if p := u.Row(z)[m]; !math.IsNaN(p) {
				sum += p
				n++
			}
		}
		mean[m] = sum / n
	}
	return mean
}

// expect writes into full what is to be expected of the attributes of a block that a
// class u leaves out: the linear regression on those that it describes,
//
//	E[u_m | u_d] = mean_m + c_md C_dd^-1 (u_d - mean_d)
//
// in the covariances C of the reference, within [0, 1]. Where it describes none of
// them, that is the mean.
func (r *Imputer) expect(full, u, mean []float64, block []int) error {
	var said, left []int
	for _, m := range block {
		switch {
		case math.IsNaN(u[m]):
			left = append(left, m)
		case r.spread[m] > 0: // others correlate with nothing
			said = append(said, m)
		}
	}
	if len(left) == 0 {
		return nil
	}
	weights, err := r.weights(u, said)
	if err != nil {
		return err
	}
	c := r.correlate()
	for _, m := range left {
		expected := mean[m]
		for i, d := range said {
			expected += r.spread[m] * c.At(m, d) * weights.AtVec(i)
		}
		full[m] = min(max(expected, 0), 1) // NaN stays NaN
	}
	return nil
}

// weights is C_dd^-1 (u_d - mean_d) in units of the spread.
func (r *Imputer) weights(u []float64, said []int) (*mat.VecDense, error) {
	if len(said) == 0 {
		return nil, nil
	}
	all := r.correlate()
	c, b := mat.NewSymDense(len(said), nil), mat.NewVecDense(len(said), nil)
	for i, d := range said {
		b.SetVec(i, (u[d]-r.mean[d])/r.spread[d])
		for j := i; j < len(said); j++ {
			c.SetSym(i, j, all.At(d, said[j]))
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(c) {
		return nil, fmt.Errorf("impute: expected correlations that are positive definite, found others: are the descriptions finite?")
	}
	w := new(mat.VecDense)
	return w, factor.SolveVecTo(w, b)
}

// leaveOut takes back what was written of groups that no class says anything of.
func (r *Imputer) leaveOut(full, u dataset.Matrix[float64]) {
	for _, group := range r.groups {
		if anySays(u, group) {
			continue
		}
		for z := range u.Rows {
			for _, m := range group {
				full.Row(z)[m] = math.NaN()
			}
		}
	}
}

// anySays reports whether any class describes any attribute of a group.
func anySays(u dataset.Matrix[float64], group []int) bool {
	for z := range u.Rows {
		for _, m := range group {
			if !math.IsNaN(u.Row(z)[m]) {
				return true
			}
		}
	}
	return false
}
