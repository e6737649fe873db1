// Package synclassifier is SynC (Changpinyo, Chao, Gong and Sha, "Synthesized Classifiers
// for Zero-Shot Learning", CVPR 2016). The classifier of a class is a convex combination
// of the classifiers v_r of R phantom classes,
//
//	w_c = sum over r of s_cr v_r,    score(x, c) = w_c' x,
//
// weighted by the similarity of the descriptions a_c of the class and b_r of the phantom,
//
//	s_cr = exp(-d(a_c, b_r)) / sum over r of exp(-d(a_c, b_r)),    d(a, b) = |a - b|^2 / sigma^2.
//
// The phantoms are the training classes. The w_c of these minimise
//
//	mean over samples of 1/C sum over c of max(0, 1 - y_c w_c'x)^2  +  lambda/2 sum over c of |w_c|^2
//
// with y_c = 1 for the class of the sample, else -1: the loss "one versus other", that of SynC in the tables
// of Xian et al. (2018) and of the LAGO paper. The v_r follow by the pseudo-inverse of the similarities.
//
// As in the authors' program, samples are scaled to length 1, descriptions are scaled so
// that the median distance of two classes is 1, and there are no biases. The paper also
// learns the b_r, which hardly helps (the authors' IJCV 2020 paper, note 3).
package synclassifier

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/method"
)

// Settings is SynC with its settings.
type Settings struct {
	// width of the kernel of classes and phantoms, in median distances of classes
	Sigma     float64 `json:"sigma"`
	Lambda    float64 `json:"lambda"`    // weight of |w_c|^2 / 2
	Normalise bool    `json:"normalise"` // scale descriptions to length 1
	Unit      bool    `json:"unit"`      // scale features to length 1
}

// Settings implements method.Method. The searched ranges are those of the authors' program,
// 2^-24 to 2^-9 for lambda and 2^-5 to 2^5 for 1/sigma^2, on a coarser grid with the defaults
// in the middle. The fit does not depend on sigma, so that many widths cost little.
func (c *Settings) Settings() setting.List {
	return setting.List{
		setting.Number("lambda", &c.Lambda, 0x1p-16, setting.BoundedPositive).
			Describe("`WEIGHT` of the squared weights of the classifiers").
			Try(0x1p-24, 0x1p-20, 0x1p-18, 0x1p-16, 0x1p-14, 0x1p-12, 0x1p-9),
		setting.Number("sigma", &c.Sigma, 1, setting.BoundedPositive).
			Describe("`S` width of the kernel of classes, in median distances").
			Try(0.25, 0.5, 0.7, 1, 1.4, 2, 4),
		setting.Switch("normalise", &c.Normalise, true).Describe("scale descriptions to length 1"),
		setting.Switch("unit", &c.Unit, true).Describe("scale features to length 1"),
	}
}

// fitKey has the settings that the w_c depend on.
type fitKey struct {
	lambda float64
	unit   bool
}

type synthesis struct {
	*baseline.Model // whose W are the classifiers of the phantoms, D x R, and whose detections are v_r'x

	phantoms dataset.Matrix[float32] // R x M, the scaled descriptions of the training classes
	mean     []float32               // M, of the training classes, for attributes that no class describes
	distance []float32               // 1, the unit of descriptions: the median distance of training classes
}

func newModel(c Settings, r *method.Reader, s method.Shape, phantoms int) *synthesis {
	m := &synthesis{Model: &baseline.Model{
		Parameters: r, W: r.Get("V", s.Dims, phantoms), Attributes: s.Attributes,
		Gather: dataset.Matrix[float32].CopyRows,
	}}
	m.phantoms = r.Get("phantoms", m.W.Cols, s.Attributes)
	m.mean, m.distance = r.Get("mean", 1, s.Attributes).Data, r.Get("distance", 1, 1).Data
	if c.Unit {
		m.Gather = baseline.CopyUnitRows
	}
	m.Describe = func(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
		y, err := baseline.Describe(u, m.mean, c.Normalise)
		if err == nil {
			floats.Scale(1/float64(m.distance[0]), y.Data)
		}
		return y, err
	}
	m.Score = func(a dataset.Matrix[float32], y dataset.Matrix[float64]) dataset.Matrix[float32] {
		// In float64, since the scores of phantoms can be large and of either sign.
		weights := similarities(y, m.phantoms, c.Sigma)
		return dataset.Convert[float32](matrix.Product(dataset.Convert[float64](a), weights.T()))
	}
	return m
}

func (c *Settings) Restore(r *method.Reader, s method.Shape) (method.Model, error) {
	return newModel(*c, r, s, -1).Model, r.Err
}

// Learn implements method.Method. SynC is not random.
func (c *Settings) Learn(e method.Examples, _ uint64) (method.Learner, error) {
	m, fixed := newModel(*c, &method.Reader{New: true}, e.Shape(), e.U.Rows), *c
	for a, v := range dataset.Means(e.U, 0) {
		m.mean[a] = float32(v)
	}
	classes, err := baseline.Describe(e.U, m.mean, c.Normalise)
	if err != nil {
		return nil, err
	}
	m.distance[0] = float32(medianDistance(classes))
	floats.Scale(1/float64(m.distance[0]), classes.Data)
	copy(m.phantoms.Data, dataset.Convert[float32](classes).Data)
	objective := baseline.Objective{ // of the w_c
		X: e.X, Rows: e.Rows, Unit: c.Unit, Outputs: e.U.Rows, Penalty: c.Lambda,
		Curvature: 2 / float64(e.U.Rows),
		Loss: func(sample, class int, score float64) (loss, slope float64) {
			return squaredHinge(score, class == e.Labels[sample], e.U.Rows)
		},
	}
	return baseline.FitOnce(m.Model, func() (float64, error) {
		fitted, err := method.Cached(e.Fits, fitKey{fixed.Lambda, fixed.Unit}, objective.Minimise)
		if err != nil {
			return 0, err
		}
		return fitted.Loss, solve(m.W, similarities(classes, m.phantoms, fixed.Sigma), fitted.W)
	}), nil
}

// squaredHinge is the loss of one class against all others, with its derivative.
func squaredHinge(score float64, is bool, classes int) (loss, slope float64) {
	y, n := -1.0, float64(classes)
	if is {
		y = 1
	}
	violation := max(0, 1-y*score)
	return violation * violation / n, -2 * y * violation / n
}

// negligible is the size of a singular value, relative to the largest and per class, that
// the precision of a model loses.
const negligible = 0x1p-23

// solve sets v to the solution of w = S v with the least norm, transposed, for the classifiers w of the
// training classes, C x D, and the similarities S of classes and phantoms, C x C.
func solve(v dataset.Matrix[float32], similarities, w dataset.Matrix[float64]) error {
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(similarities.Rows, similarities.Cols, similarities.Data), mat.SVDThin) {
		return fmt.Errorf("the similarities of the %d training classes have no singular value decomposition",
			similarities.Rows)
	}
	rank, values := 0, svd.Values(nil)
	for _, value := range values {
		if value > negligible*float64(len(values))*values[0] {
			rank++
		}
	}
	var solution mat.Dense
	svd.SolveTo(&solution, mat.NewDense(w.Rows, w.Cols, w.Data), rank)
	baseline.SetTransposed(v, &solution)
	return nil
}

func squaredDistance(a, b []float64) (sum float64) {
	for m, v := range a {
		sum += (v - b[m]) * (v - b[m])
	}
	return sum
}

// medianDistance returns the median distance of two different classes, 1 without any.
func medianDistance(classes dataset.Matrix[float64]) float64 {
	var all []float64
	for z := range classes.Rows {
		for other := range z {
			if d := squaredDistance(classes.Row(z), classes.Row(other)); d > 0 {
				all = append(all, math.Sqrt(d))
			}
		}
	}
	if len(all) == 0 {
		return 1
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

func similarities(classes dataset.Matrix[float64], phantoms dataset.Matrix[float32],
	sigma float64,
) dataset.Matrix[float64] {
	b, s := dataset.Convert[float64](phantoms), dataset.NewMatrix[float64](classes.Rows, phantoms.Rows)
	for z := range s.Rows {
		row := s.Row(z)
		for r := range row {
			row[r] = squaredDistance(classes.Row(z), b.Row(r))
		}
		closest := slices.Min(row) // its exponential is 1, so that the sum is not 0
		for r, d := range row {
			row[r] = math.Exp(-(d - closest) / sigma / sigma)
		}
		floats.Scale(1/floats.Sum(row), row)
	}
	return s
}
