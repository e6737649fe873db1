package synclassifier

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/linear"
)

// Config has the hyperparameters of SynC.
type Config struct {
	Loss      Loss    `json:"loss"`
	Sigma     float64 `json:"sigma"`     // width of the kernel of classes and phantoms, in median distances of classes
	Lambda    float64 `json:"lambda"`    // weight of |w_c|^2 / 2
	Phantoms  float64 `json:"phantoms"`  // number of phantoms as a fraction of the training classes
	Normalise bool    `json:"normalise"` // scale descriptions to length 1
	Unit      bool    `json:"unit"`      // scale features to length 1
}

// Default returns the values in the middle of the search space. The loss is that of SynC
// in the tables of Xian et al. (2018) and of the LAGO paper.
func Default() Config {
	return Config{Loss: OneVersusOther, Sigma: 1, Lambda: 0x1p-16, Phantoms: 1, Normalise: true, Unit: true}
}

// Settings implements baseline.Hyperparameters. The searched ranges are those of the
// authors' program, 2^-24 to 2^-9 for lambda and 2^-5 to 2^5 for 1/sigma^2, on a coarser
// grid. The fit does not depend on sigma, so that many widths cost little.
func (c Config) Settings() []baseline.Setting {
	return []baseline.Setting{
		baseline.OneOf("loss", c.Loss, []Loss{OneVersusOther, CrammerSinger, Structured}),
		baseline.Positive("lambda", c.Lambda, 0x1p-24, 0x1p-20, 0x1p-18, 0x1p-16, 0x1p-14, 0x1p-12, 0x1p-9),
		baseline.Positive("sigma", c.Sigma, 0.25, 0.5, 0.7, 1, 1.4, 2, 4),
		baseline.Fraction("phantoms", c.Phantoms),
		baseline.Switch("normalise"),
		baseline.Switch("unit"),
	}
}

// Learn implements baseline.Hyperparameters. SynC is not random.
func (c Config) Learn(e baseline.Examples, _ uint64) (baseline.Learner, error) {
	m := &Model{Mean: dataset.NewMatrix[float32](1, e.U.Cols), Distance: dataset.NewMatrix[float32](1, 1), config: c}
	for a, v := range baseline.Means(e.U, 0) {
		m.Mean.Data[a] = float32(v)
	}
	m.Distance.Data[0] = 1
	classes, err := m.describe(e.U)
	if err != nil {
		return nil, err
	}
	m.Distance.Data[0] = float32(medianDistance(classes))
	if classes, err = m.describe(e.U); err != nil {
		return nil, err
	}
	count := max(1, int(math.Round(c.Phantoms*float64(classes.Rows))))
	m.Phantoms = baseline.Convert[float32](phantoms(classes, count))
	m.V = dataset.NewMatrix[float32](e.X.Cols, count)
	return baseline.FitOnce(m, func() (float64, error) {
		v, loss, err := c.fit(e, m.similarities(classes), classes)
		if err != nil {
			return 0, err
		}
		for d := range m.V.Rows {
			for r := range m.V.Cols {
				m.V.Row(d)[r] = float32(v.At(r, d))
			}
		}
		return loss, nil
	}), nil
}

// fit returns the classifiers of the phantoms, R x D, given the similarities of the
// training classes to them, C x R, and their scaled descriptions.
//
// The loss depends on the v_r only through the w_c. So the w_c are fitted, and the v_r
// follow from them by the pseudo-inverse of the similarities, as the authors do if the
// phantoms are the classes, which does not constrain the w_c. With fewer phantoms, the w_c
// are fitted within the range of the similarities.
func (c Config) fit(e baseline.Examples, similarities, classes dataset.Matrix[float64]) (v *mat.Dense, loss float64, err error) {
	s := mat.NewDense(similarities.Rows, similarities.Cols, similarities.Data)
	var svd mat.SVD
	if !svd.Factorize(s, mat.SVDThin) {
		return nil, 0, &invalid.Error{Field: "descriptions", Want: "similarities with a singular value decomposition", Got: fmt.Sprintf("none for %d classes and %d phantoms", s.RawMatrix().Rows, s.RawMatrix().Cols)}
	}
	var fitted *linear.Classifiers
	var basis *mat.Dense
	if similarities.Rows == similarities.Cols {
		fitted, err = baseline.Cached(e.Cache, c.key(), c.objective(e, classes, nil).Minimise)
	} else {
		basis = rangeOf(&svd)
		fitted, err = c.objective(e, classes, basis).Minimise()
	}
	if err != nil {
		return nil, 0, err
	}
	w := mat.NewDense(fitted.W.Rows, fitted.W.Cols, fitted.W.Data)
	if basis != nil {
		var of mat.Dense
		of.Mul(basis, w)
		w = &of
	}
	var solution mat.Dense // of S v = w with the least norm
	svd.SolveTo(&solution, w, rank(&svd))
	return &solution, fitted.Loss, nil
}

// fitKey has the hyperparameters that the w_c depend on if the phantoms are the classes.
type fitKey struct {
	loss            Loss
	lambda          float64
	normalise, unit bool
}

func (c Config) key() fitKey {
	return fitKey{c.Loss, c.Lambda, c.Normalise && c.Loss == Structured, c.Unit}
}

// negligible is the size of a singular value, relative to the largest and per class, that
// the precision of a model loses.
const negligible = 0x1p-23

// rank counts the singular values that are not negligible.
func rank(svd *mat.SVD) (n int) {
	values := svd.Values(nil)
	for _, v := range values {
		if v > negligible*float64(len(values))*values[0] {
			n++
		}
	}
	return n
}

// rangeOf returns an orthonormal basis of the columns of the similarities, C x rank.
func rangeOf(svd *mat.SVD) *mat.Dense {
	var u mat.Dense
	svd.UTo(&u)
	classes, _ := u.Dims()
	return mat.DenseCopyOf(u.Slice(0, classes, 0, rank(svd)))
}

// objective is what the w_c minimise or, with an orthonormal basis Q of their range, the
// z in w = Q z, for which |w| = |z|.
func (c Config) objective(e baseline.Examples, classes dataset.Matrix[float64], basis *mat.Dense) linear.Objective {
	o := linear.Objective{X: e.X, Rows: e.Rows, Unit: c.Unit, Outputs: classes.Rows, Penalty: c.Lambda}
	if basis == nil && c.Loss == OneVersusOther {
		o.Each = func(sample, class int, score float64) (float64, float64) {
			return squaredHinge(score, class == e.Labels[sample], classes.Rows)
		}
		return o
	}
	loss := c.lossOf(classes)
	if basis == nil {
		o.Joint = func(sample int, scores []float64) float64 { return loss(scores, e.Labels[sample]) }
		return o
	}
	_, o.Outputs = basis.Dims()
	o.Joint = func(sample int, scores []float64) float64 {
		var all mat.VecDense
		z := mat.NewVecDense(len(scores), scores)
		all.MulVec(basis, z)
		l := loss(all.RawVector().Data, e.Labels[sample])
		z.MulVec(basis.T(), &all)
		return l
	}
	return o
}
