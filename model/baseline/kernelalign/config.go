package kernelalign

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline"
)

// Config are the settings of kernel alignment.
type Config struct {
	Kernel Kernel  `json:"kernel"`
	Sigma  float64 `json:"sigma"`  // width of the Gaussian and of the Cauchy kernel
	Degree int     `json:"degree"` // of the polynomial kernel
	Offset float64 `json:"offset"` // of the polynomial kernel

	Beta          float64 `json:"beta"`          // weight of the classes that a sample is not of
	Ort           bool    `json:"ort"`           // align in the space of the features, too
	Orthogonality float64 `json:"orthogonality"` // weight of |W'W - I|^2

	LR        float64 `json:"lr"`        // length of a step
	Batch     int     `json:"batch"`     // samples a step
	Normalise bool    `json:"normalise"` // centre descriptions and scale them to length 1
}

// Default has the kernel, beta and sigma of the authors' program. Its rate, 8e-4, is
// for steps of one sample; ours is for the mean of 64.
func Default() Config {
	return Config{
		Kernel: Gaussian, Sigma: 0.8, Degree: 2, Offset: 1,
		Beta: 1, Ort: true,
		LR: 1e-2, Batch: 64, Normalise: true,
	}
}

// Space are the settings that are worth trying: all kernels, and steps around the
// sigma and the beta of the authors' program (0.8 and 1). The ranges of the rate, the
// degree and the penalty are ours, by the validation classes of CUB.
var Space = []baseline.Axis{
	{Setting: "kernel", Values: []any{Linear, Polynomial, Gaussian, Cauchy}},
	{Setting: "sigma", Values: []any{0.5, 0.65, 0.8, 1., 1.3}},
	{Setting: "degree", Values: []any{2, 3}},
	{Setting: "beta", Values: []any{0.3, 1., 3.}},
	{Setting: "ort", Values: []any{false, true}},
	{Setting: "orthogonality", Values: []any{0., 1e-3}},
	{Setting: "lr", Values: []any{3e-3, 1e-2, 3e-2, 1e-1}},
}

// Check implements baseline.Settings.
func (c Config) Check() error {
	if _, ok := kernels[c.Kernel]; !ok {
		return &invalid.Error{Field: "kernel", Want: "linear, polynomial, gaussian or cauchy", Got: fmt.Sprint(string(c.Kernel))}
	}
	for _, s := range []struct {
		name  string
		value float64
	}{{"sigma", c.Sigma}, {"lr", c.LR}} {
		if !(s.value > 0) || math.IsInf(s.value, 0) {
			return &invalid.Error{Field: s.name, Want: "a finite number above 0", Got: fmt.Sprint(s.value)}
		}
	}
	for _, s := range []struct {
		name  string
		value float64
	}{{"offset", c.Offset}, {"beta", c.Beta}, {"orthogonality", c.Orthogonality}} {
		if !(s.value >= 0) || math.IsInf(s.value, 0) {
			return &invalid.Error{Field: s.name, Want: "a finite number, 0 or above", Got: fmt.Sprint(s.value)}
		}
	}
	if c.Degree < 1 {
		return &invalid.Error{Field: "degree", Want: "at least 1", Got: fmt.Sprint(c.Degree)}
	}
	if c.Batch < 1 {
		return &invalid.Error{Field: "batch", Want: "at least 1 sample", Got: fmt.Sprint(c.Batch)}
	}
	return nil
}
