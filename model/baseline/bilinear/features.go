package bilinear

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Features says in which form W takes the features of a sample.
type Features string

// The forms. The zero value is None, too.
const (
	None        Features = "none"        // as they are
	Unit        Features = "unit"        // scaled to length 1
	Standardize Features = "standardize" // mean 0 and variance 1/D in each dimension: about length 1
)

// Check returns a *invalid.Error, of the field "features", for what is no form.
func (f Features) Check() error {
	if f != None && f != Unit && f != Standardize {
		return &invalid.Error{Field: "features", Want: "none, unit or standardize", Got: fmt.Sprint(string(f))}
	}
	return nil
}

type standardKey struct{}

// Fit makes m ready to take features in the form f: where that is Standardize, it
// computes the means and variances of the examples, once for all that share them.
func (m *Model) Fit(f Features, e baseline.Examples) error {
	m.Features = f
	if f != Standardize {
		return nil
	}
	fit, err := baseline.Cached(e.Cache, standardKey{}, func() (*preprocess.Transform, error) {
		return preprocess.Fit(preprocess.Standardize, 0, e.X, e.Rows)
	})
	if err != nil {
		return err
	}
	m.shift, m.scale = slices.Clone(fit.Shift), slices.Clone(fit.Scale)
	for d := range m.scale {
		m.scale[d] /= float32(math.Sqrt(float64(e.X.Cols)))
	}
	return nil
}

// Gather copies the given rows of x, n x D, into the first rows of to, in the form
// that W takes.
func (m *Model) Gather(to, x dataset.Matrix[float32], rows []int) {
	b := blas32.Implementation()
	for i, r := range rows {
		row := to.Row(i)
		copy(row, x.Row(r))
		switch m.Features {
		case Unit:
			if length := b.Snrm2(len(row), row, 1); length > 0 { // zeros stay
				b.Sscal(len(row), 1/length, row, 1)
			}
		case Standardize:
			for d := range row {
				row[d] = (row[d] - m.shift[d]) * m.scale[d]
			}
		}
	}
}
