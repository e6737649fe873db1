// Package eszsl is ESZSL (Romera-Paredes and Torr, "An embarrassingly simple approach to
// zero-shot learning", ICML 2015): a bilinear compatibility in closed form,
//
//	W = (X'X + gamma I)^-1 X'Y U (U'U + lambda I)^-1,    score(x, z) = x' W u_z,
//
// with the features X (samples x D), the one-hot classes Y (samples x Z) and their
// descriptions U (Z x M). The LAGO paper compares itself with ESZSL in most detail: K = 1
// approximates it (section 3.4), and supplement C measures noise against it. Y is as in the
// programs of both papers; the ESZSL paper has -1 in place of 0.
package eszsl

import (
	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Settings is ESZSL with its settings.
type Settings struct {
	Gamma     float64 `json:"gamma"`     // ridge of the features
	Lambda    float64 `json:"lambda"`    // ridge of the descriptions
	Normalise bool    `json:"normalise"` // scale descriptions to length 1
}

// Settings implements method.Method. The searched ridges are powers of ten around those
// that Romera-Paredes and Torr (2015, section 5) cross-validate, 1e-3 to 1e3; unnormalised
// features of deep networks need larger ones. The defaults are in the middle. Descriptions
// are normalised as in the protocol of Xian et al. (2018), which the authors of LAGO follow.
func (c *Settings) Settings() setting.List {
	return setting.List{
		setting.Number("gamma", &c.Gamma, 1e3, setting.BoundedPositive).
			Describe("`G` ridge of the features").Try(1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6),
		setting.Number("lambda", &c.Lambda, 1, setting.BoundedPositive).
			Describe("`L` ridge of the descriptions").Try(1e-2, 1e-1, 1, 1e1, 1e2),
		setting.Switch("normalise", &c.Normalise, true).Describe("scale descriptions to length 1"),
	}
}

func (c *Settings) Restore(r *method.Reader, s method.Shape) (method.Model, error) {
	return baseline.NewBilinear(r, s, c.Normalise), r.Err
}

// Learn implements method.Method. ESZSL is not random.
func (c *Settings) Learn(e method.Examples, _ uint64) (method.Learner, error) {
	fixed, m := *c, baseline.NewBilinear(&method.Reader{New: true}, e.Shape(), c.Normalise)
	return baseline.FitOnce(m, func() (float64, error) {
		if err := fixed.fit(m.W, e); err != nil {
			return 0, err
		}
		return squaredError(m, e)
	}), nil
}

// errorRows is the number of samples whose scores are in memory together.
const errorRows = 1024

// squaredError is the mean over samples of |scores - one-hot class|^2.
func squaredError(m *baseline.Model, e method.Examples) (float64, error) {
	var sum float64
	for from := 0; from < len(e.Rows); from += errorRows {
		to := min(from+errorRows, len(e.Rows))
		scores, err := model.Score(m, e.X, e.Rows[from:to], e.U)
		if err != nil {
			return 0, err
		}
		for i, z := range e.Labels[from:to] {
			for c, s := range scores.Row(i) {
				d := float64(s)
				if c == z {
					d--
				}
				sum += d * d
			}
		}
	}
	return sum / float64(len(e.Labels)), nil
}

// regressionKey is that of fits to the same examples with the same gamma, productsKey with any.
type (
	productsKey   struct{}
	regressionKey struct{ gamma float64 }
)

func (c *Settings) fit(w dataset.Matrix[float32], e method.Examples) error {
	// (X'X + gamma I)^-1 X'Y, where X'Y is the sum of the features of each class
	regression, err := method.Cached(e.Cache, regressionKey{c.Gamma}, func() (*mat.Dense, error) {
		if len(e.Rows) < e.X.Cols {
			return c.wide(e)
		}
		xx, _ := method.Cached(e.Cache, productsKey{}, func() (*mat.SymDense, error) {
			return preprocess.Gram(e.X, e.Rows), nil
		})
		xy := mat.NewDense(e.X.Cols, e.U.Rows, nil)
		for i, r := range e.Rows {
			z := e.Labels[i]
			for d, v := range e.X.Row(r) {
				xy.Set(d, z, xy.At(d, z)+float64(v))
			}
		}
		return solve(xx, "gamma", c.Gamma, xy)
	})
	if err != nil {
		return err
	}
	d, err := baseline.Describe(e.U, nil, c.Normalise)
	if err != nil {
		return err
	}
	u := mat.NewDense(d.Rows, d.Cols, d.Data)
	uu := mat.NewSymDense(d.Cols, nil)
	uu.SymRankK(uu, 1, u.T())
	var left mat.Dense // of (U'U + lambda I)^-1
	left.Mul(regression, u)
	transposed, err := solve(uu, "lambda", c.Lambda, left.T())
	if err != nil {
		return err
	}
	baseline.SetTransposed(w, transposed)
	return nil
}

// wide returns the regression by its form for fewer samples than dimensions, X' (XX' + gamma I)^-1 Y.
func (c *Settings) wide(e method.Examples) (*mat.Dense, error) {
	xx, _ := method.Cached(e.Cache, productsKey{}, func() (*mat.SymDense, error) {
		return preprocess.SamplesGram(e.X, e.Rows), nil
	})
	y := mat.NewDense(len(e.Rows), e.U.Rows, nil)
	for i, z := range e.Labels {
		y.Set(i, z, 1)
	}
	weights, err := solve(xx, "gamma", c.Gamma, y)
	if err != nil {
		return nil, err
	}
	return preprocess.Combine(e.X, e.Rows, weights), nil
}

// solve returns (A + ridge I)^-1 B. The setting is the name of the ridge.
func solve(a *mat.SymDense, setting string, ridge float64, b mat.Matrix) (*mat.Dense, error) {
	ridged := mat.NewSymDense(a.SymmetricDim(), nil)
	ridged.CopySym(a)
	for i := range a.SymmetricDim() {
		ridged.SetSym(i, i, a.At(i, i)+ridge)
	}
	var factor mat.Cholesky
	var x mat.Dense
	if !factor.Factorize(ridged) || factor.SolveTo(&x, b) != nil {
		return nil, invalid.Expected(setting, ridge, "a ridge large enough for finite features")
	}
	return &x, nil
}
