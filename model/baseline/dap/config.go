package dap

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline"
)

// Prediction says how attributes are predicted.
type Prediction string

// The two methods.
const (
	Direct   Prediction = "direct"   // DAP
	Indirect Prediction = "indirect" // IAP
)

// Threshold says above which value of its description a class has an attribute.
type Threshold string

// The thresholds, both of the classes learned from.
const (
	// Mean is the mean of all descriptions, which made the binary table that comes
	// with Animals with Attributes, and which the paper of LAGO takes DAP to use.
	Mean Threshold = "mean"
	// AttributeMean is the mean of the attribute: rare ones tell classes apart, too.
	AttributeMean Threshold = "attribute-mean"
)

// Prior says what p(a_m) is.
type Prior string

// The priors. Lampert et al. (2009) found little between the two; where classifiers are
// unsure and attributes rare, as in CUB, there is much.
const (
	Empirical Prior = "empirical" // the share of the classes learned from that have it
	Half      Prior = "half"      // 1/2
)

// Config are the settings of DAP and IAP.
type Config struct {
	Prediction Prediction `json:"prediction"`
	C          float64    `json:"c"` // weight of the samples, |w|^2 / 2 + c sum of their losses
	Threshold  Threshold  `json:"threshold"`
	Prior      Prior      `json:"prior"`
}

// Default is in the middle of Space.
func Default(p Prediction) Config {
	return Config{Prediction: p, C: 1e-3, Threshold: Mean, Prior: Empirical}
}

// Space are the settings that are worth trying: powers of ten for c, around the 1 that
// programs for logistic regression take where features have a length of about 1. Those of
// deep networks have one of 30 or 40, which is as if c were 1000 times that.
var Space = []baseline.Axis{
	{Setting: "c", Values: []any{1e-5, 1e-4, 1e-3, 1e-2, 1e-1}},
	{Setting: "threshold", Values: []any{Mean, AttributeMean}},
	{Setting: "prior", Values: []any{Empirical, Half}},
}

// Check implements baseline.Settings.
func (c Config) Check() error {
	if c.Prediction != Direct && c.Prediction != Indirect {
		return &invalid.Error{Field: "prediction", Want: "direct or indirect", Got: fmt.Sprint(string(c.Prediction))}
	}
	if !(c.C > 0) || math.IsInf(c.C, 0) {
		return &invalid.Error{Field: "c", Want: "a finite number above 0", Got: fmt.Sprint(c.C)}
	}
	if c.Threshold != Mean && c.Threshold != AttributeMean {
		return &invalid.Error{Field: "threshold", Want: "mean or attribute-mean", Got: fmt.Sprint(string(c.Threshold))}
	}
	if c.Prior != Empirical && c.Prior != Half {
		return &invalid.Error{Field: "prior", Want: "empirical or half", Got: fmt.Sprint(string(c.Prior))}
	}
	return nil
}
