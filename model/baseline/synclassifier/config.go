package synclassifier

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline"
)

// Config are the settings of SynC.
type Config struct {
	Loss      Loss    `json:"loss"`
	Sigma     float64 `json:"sigma"`     // width of the kernel between classes and phantoms, in median distances between classes
	Lambda    float64 `json:"lambda"`    // weight of |w_c|^2 / 2
	Phantoms  float64 `json:"phantoms"`  // how many there are, as a share of the classes learned from
	Normalise bool    `json:"normalise"` // scale descriptions to length 1
	Unit      bool    `json:"unit"`      // scale features to length 1
}

// Default is in the middle of Space. The loss is the one by which the tables of Xian et
// al. (2018) and of the LAGO paper have SynC.
func Default() Config {
	return Config{Loss: OneVersusOther, Sigma: 1, Lambda: 0x1p-16, Phantoms: 1, Normalise: true, Unit: true}
}

// Space are the settings that are worth trying: the ranges of the authors' program,
// 2^-24 to 2^-9 for lambda and 2^-5 to 2^5 for 1/sigma^2, thinned. The kernel has no part
// in the fit, so that trying many widths costs little.
var Space = []baseline.Axis{
	{Setting: "lambda", Values: []any{0x1p-24, 0x1p-20, 0x1p-18, 0x1p-16, 0x1p-14, 0x1p-12, 0x1p-9}},
	{Setting: "sigma", Values: []any{0.25, 0.5, 0.7, 1., 1.4, 2., 4.}},
}

// Check implements baseline.Settings.
func (c Config) Check() error {
	switch c.Loss {
	case OneVersusOther, CrammerSinger, Structured:
	default:
		return &invalid.Error{Field: "loss", Want: "one-versus-other, crammer-singer or structured", Got: fmt.Sprint(string(c.Loss))}
	}
	for _, s := range []struct {
		name  string
		value float64
	}{{"sigma", c.Sigma}, {"lambda", c.Lambda}} {
		if !(s.value > 0) || math.IsInf(s.value, 0) {
			return &invalid.Error{Field: s.name, Want: "a finite number above 0", Got: fmt.Sprint(s.value)}
		}
	}
	if !(c.Phantoms > 0 && c.Phantoms <= 1) {
		return &invalid.Error{Field: "phantoms", Want: "a share of the classes learned from, above 0 and at most 1", Got: fmt.Sprint(c.Phantoms)}
	}
	return nil
}
