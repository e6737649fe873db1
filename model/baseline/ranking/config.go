package ranking

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/bilinear"
)

// Config are the settings of a method.
type Config struct {
	Loss      Loss              `json:"loss"`
	LR        float64           `json:"lr"`        // length of a step
	Margin    float64           `json:"margin"`    // by which a class is to score above the others
	Init      float64           `json:"init"`      // W starts normal, with a standard deviation of init / sqrt(D)
	Normalise bool              `json:"normalise"` // scale descriptions to length 1
	Features  bilinear.Features `json:"features"`
}

// Default is in the middle of Space. The margin is the 0/1 loss of Akata et al. and
// Xian et al.; Frome et al. have 0.1. W starts, and features are standardized, as in
// the program that Xian et al. released for LatEm (CVPR 2016), which is SJE with
// several W. Descriptions have length 1 in the data sets of Xian et al.
func Default(l Loss) Config {
	return Config{Loss: l, LR: 0.1, Margin: 1, Init: 1, Normalise: true, Features: bilinear.Standardize}
}

// Space are the settings that are worth trying. The authors choose the rate on classes
// that they hold out. What others report for CUB, with the features of Xian et al., is
// within Space: a rate of 0.3 for ALE and of 1 for DeViSE, with features of length 1,
// and for SJE 0.1 by a margin of 4, with features standardized (github.com/mvp18/
// Popular-ZSL-Algorithms). The margin is not in it: but for the start of W it is a
// scale, and half of it is as good as twice the rate.
func Space(l Loss) []baseline.Axis {
	rates := []any{0.01, 0.03, 0.1, 0.3, 1.}
	if l == DeViSE { // whose steps are the sum over many classes
		rates = []any{0.003, 0.01, 0.03, 0.1, 0.3, 1.}
	}
	return []baseline.Axis{
		{Setting: "lr", Values: rates},
		{Setting: "features", Values: []any{bilinear.Unit, bilinear.Standardize}},
	}
}

// Check implements baseline.Settings.
func (c Config) Check() error {
	if lossOf[float32](c.Loss) == nil {
		return &invalid.Error{Field: "loss", Want: "ale, sje or devise", Got: fmt.Sprint(string(c.Loss))}
	}
	for _, s := range []struct {
		name  string
		value float64
	}{{"lr", c.LR}, {"margin", c.Margin}} {
		if !(s.value > 0) || math.IsInf(s.value, 0) {
			return &invalid.Error{Field: s.name, Want: "a finite number above 0", Got: fmt.Sprint(s.value)}
		}
	}
	if !(c.Init >= 0) || math.IsInf(c.Init, 0) {
		return &invalid.Error{Field: "init", Want: "a finite number, 0 or above", Got: fmt.Sprint(c.Init)}
	}
	return c.Features.Check()
}

// Restore implements baseline.Settings.
func (c Config) Restore(t baseline.Tensors) (baseline.Model, error) {
	m, err := bilinear.Restore(t, c.Normalise, c.Features)
	if err != nil {
		return nil, err
	}
	return m, nil
}
