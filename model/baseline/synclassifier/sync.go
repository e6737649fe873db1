package synclassifier

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/linear"
)

// Config has the hyperparameters of SynC.
type Config struct {
	Sigma     float64 `json:"sigma"`     // width of the kernel of classes and phantoms, in median distances of classes
	Lambda    float64 `json:"lambda"`    // weight of |w_c|^2 / 2
	Normalise bool    `json:"normalise"` // scale descriptions to length 1
	Unit      bool    `json:"unit"`      // scale features to length 1
}

// Default returns the values in the middle of the search space.
func Default() Config { return Config{Sigma: 1, Lambda: 0x1p-16, Normalise: true, Unit: true} }

// Settings implements baseline.Hyperparameters. The searched ranges are those of the
// authors' program, 2^-24 to 2^-9 for lambda and 2^-5 to 2^5 for 1/sigma^2, on a coarser
// grid. The fit does not depend on sigma, so that many widths cost little.
func (c Config) Settings() []baseline.Setting {
	return []baseline.Setting{
		baseline.Positive("lambda", c.Lambda, 0x1p-24, 0x1p-20, 0x1p-18, 0x1p-16, 0x1p-14, 0x1p-12, 0x1p-9),
		baseline.Positive("sigma", c.Sigma, 0.25, 0.5, 0.7, 1, 1.4, 2, 4),
		baseline.Switch("normalise"),
		baseline.Switch("unit"),
	}
}

// fitKey has the hyperparameters that the w_c depend on.
type fitKey struct {
	lambda float64
	unit   bool
}

// Learn implements baseline.Hyperparameters. SynC is not random.
func (c Config) Learn(e baseline.Examples, _ uint64) (baseline.Learner, error) {
	m := &Model{
		V:        dataset.NewMatrix[float32](e.X.Cols, e.U.Rows),
		Mean:     dataset.NewMatrix[float32](1, e.U.Cols),
		Distance: dataset.Matrix[float32]{Rows: 1, Cols: 1, Data: []float32{1}},
		config:   c,
	}
	for a, v := range dataset.Means(e.U, 0) {
		m.Mean.Data[a] = float32(v)
	}
	classes, err := m.describe(e.U)
	if err != nil {
		return nil, err
	}
	m.Distance.Data[0] = float32(medianDistance(classes))
	if classes, err = m.describe(e.U); err != nil {
		return nil, err
	}
	m.Phantoms = dataset.Convert[float32](classes)
	return baseline.FitOnce(m, func() (float64, error) {
		fitted, err := baseline.Cached(e.Cache, fitKey{c.Lambda, c.Unit}, c.objective(e).Minimise)
		if err != nil {
			return 0, err
		}
		return fitted.Loss, m.solve(m.similarities(classes), fitted.W)
	}), nil
}

// objective is what the w_c minimise.
func (c Config) objective(e baseline.Examples) linear.Objective {
	return linear.Objective{
		X: e.X, Rows: e.Rows, Unit: c.Unit, Outputs: e.U.Rows, Penalty: c.Lambda, Curvature: 2 / float64(e.U.Rows),
		Each: func(sample, class int, score float64) (loss, slope float64) {
			return squaredHinge(score, class == e.Labels[sample], e.U.Rows)
		},
	}
}

// squaredHinge is the loss of one class against all others, with its derivative.
func squaredHinge(score float64, is bool, classes int) (loss, slope float64) {
	y := -1.0
	if is {
		y = 1
	}
	violation := max(0, 1-y*score)
	return violation * violation / float64(classes), -2 * y * violation / float64(classes)
}

// negligible is the size of a singular value, relative to the largest and per class, that
// the precision of a model loses.
const negligible = 0x1p-23

// solve sets V to the solution of w = S v with the least norm, for the classifiers w of the
// training classes, C x D, and the similarities S of classes and phantoms, C x C.
func (m *Model) solve(similarities, w dataset.Matrix[float64]) error {
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(similarities.Rows, similarities.Cols, similarities.Data), mat.SVDThin) {
		return fmt.Errorf("the similarities of the %d training classes have no singular value decomposition", similarities.Rows)
	}
	rank, values := 0, svd.Values(nil)
	for _, v := range values {
		if v > negligible*float64(len(values))*values[0] {
			rank++
		}
	}
	var v mat.Dense
	svd.SolveTo(&v, mat.NewDense(w.Rows, w.Cols, w.Data), rank)
	for d := range m.V.Rows {
		for r := range m.V.Cols {
			m.V.Row(d)[r] = float32(v.At(r, d))
		}
	}
	return nil
}
