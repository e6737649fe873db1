package eszsl

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/bilinear"
)

// Config are the settings of ESZSL.
type Config struct {
	Gamma     float64 `json:"gamma"`     // ridge of the features
	Lambda    float64 `json:"lambda"`    // ridge of the descriptions
	Normalise bool    `json:"normalise"` // scale descriptions to length 1
}

// Default is in the middle of Space. Descriptions are normalised as in the protocol
// of Xian et al. (2018), which the authors of LAGO followed.
func Default() Config { return Config{Gamma: 1e3, Lambda: 1, Normalise: true} }

// Space are the ridges that are worth trying, powers of ten around those that
// Romera-Paredes & Torr (2015, section 5) cross-validate, 1e-3 to 1e3; features of
// deep networks that are not scaled to length 1 need more.
var Space = []baseline.Axis{
	{Setting: "gamma", Values: []any{1., 1e1, 1e2, 1e3, 1e4, 1e5, 1e6}},
	{Setting: "lambda", Values: []any{1e-2, 1e-1, 1., 1e1, 1e2}},
}

// Check implements baseline.Settings.
func (c Config) Check() error {
	for _, r := range []struct {
		name  string
		value float64
	}{{"gamma", c.Gamma}, {"lambda", c.Lambda}} {
		if err := checkRidge(r.name, r.value); err != nil {
			return err
		}
	}
	return nil
}

func checkRidge(field string, value float64) error {
	if !(value > 0) || math.IsInf(value, 0) {
		return &invalid.Error{Field: field, Want: "a finite number above 0", Got: fmt.Sprint(value)}
	}
	return nil
}

// What fits to the same examples have in common, by what it depends on.
type (
	sumsKey       struct{}
	regressionKey struct{ gamma float64 }
)

// Learn implements baseline.Settings. Nothing in it is random.
func (c Config) Learn(e baseline.Examples, _ uint64) (baseline.Learner, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := e.Check(); err != nil {
		return nil, err
	}
	return &learner{c, e, &Model{W: dataset.NewMatrix[float32](e.X.Cols, e.U.Cols), Normalise: c.Normalise}}, nil
}

// learner is done after one epoch.
type learner struct {
	config   Config
	examples baseline.Examples
	model    *Model
}

// Epoch implements baseline.Learner. The loss, which the closed form needs no look at,
// is the mean square of the distance between scores and targets.
func (l *learner) Epoch(int) (loss float64, done bool, err error) {
	e := l.examples
	sums, err := baseline.Cached(e.Cache, sumsKey{}, func() (*Sums, error) {
		return NewSums(e.X, e.Rows, e.Labels, e.U.Rows)
	})
	if err != nil {
		return 0, false, err
	}
	r, err := baseline.Cached(e.Cache, regressionKey{l.config.Gamma}, func() (*Regression, error) {
		return sums.Regress(l.config.Gamma)
	})
	if err != nil {
		return 0, false, err
	}
	m, err := r.Fit(e.U, l.config.Lambda, l.config.Normalise)
	if err != nil {
		return 0, false, err
	}
	copy(l.model.W.Data, m.W.Data)
	loss, err = l.squaredError()
	return loss, true, err
}

func (l *learner) squaredError() (float64, error) {
	scores, err := l.model.Score(l.examples.X, l.examples.Rows, l.examples.U)
	if err != nil {
		return 0, err
	}
	var sum float64
	for i, z := range l.examples.Labels {
		for c, s := range scores.Row(i) {
			d := float64(s)
			if c == z {
				d--
			}
			sum += d * d
		}
	}
	return sum / float64(len(l.examples.Labels)), nil
}

// Model implements baseline.Learner.
func (l *learner) Model() baseline.Model { return l.model }

// State implements baseline.Learner.
func (l *learner) State() baseline.Tensors { return l.model.Tensors() }

// Restore implements baseline.Settings.
func (c Config) Restore(t baseline.Tensors) (baseline.Model, error) {
	m, err := bilinear.Restore(t, c.Normalise, bilinear.None)
	if err != nil {
		return nil, err
	}
	return m, nil
}
