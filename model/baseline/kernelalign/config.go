package kernelalign

import "github.com/lago-train/lago-train/model/baseline"

// Config has the hyperparameters of kernel alignment.
type Config struct {
	Kernel Kernel  `json:"kernel"`
	Sigma  float64 `json:"sigma"`  // width of the Gaussian and the Cauchy kernel
	Degree int     `json:"degree"` // of the polynomial kernel
	Offset float64 `json:"offset"` // of the polynomial kernel

	Beta          float64 `json:"beta"`          // weight of the other classes
	Ort           bool    `json:"ort"`           // align in the space of the features, too
	Orthogonality float64 `json:"orthogonality"` // weight of |W'W - I|^2

	LR        float64 `json:"lr"`        // learning rate
	Batch     int     `json:"batch"`     // samples per step
	Normalise bool    `json:"normalise"` // centre descriptions and scale them to length 1
}

// Default has the kernel, beta and sigma of the authors' program. Its learning rate,
// 8e-4, is for steps of one sample; ours is for the mean of 64.
func Default() Config {
	return Config{
		Kernel: Gaussian, Sigma: 0.8, Degree: 2, Offset: 1,
		Beta: 1, Ort: true,
		LR: 1e-2, Batch: 64, Normalise: true,
	}
}

// Settings implements baseline.Hyperparameters. The search covers all kernels, and sigma
// and beta around the values of the authors' program. The ranges of the learning rate,
// the degree and the penalty are ours, chosen on the validation classes of CUB.
func (c Config) Settings() []baseline.Setting {
	all := []Kernel{Linear, Polynomial, Gaussian, Cauchy}
	return []baseline.Setting{
		baseline.OneOf("kernel", c.Kernel, all, all...),
		baseline.Positive("sigma", c.Sigma, 0.5, 0.65, 0.8, 1, 1.3),
		baseline.AtLeast("degree", c.Degree, 1, 2, 3),
		baseline.NonNegative("offset", c.Offset),
		baseline.NonNegative("beta", c.Beta, 0.3, 1, 3),
		baseline.Switch("ort", false, true),
		baseline.NonNegative("orthogonality", c.Orthogonality, 0, 1e-3),
		baseline.Positive("lr", c.LR, 3e-3, 1e-2, 3e-2, 1e-1),
		baseline.AtLeast("batch", c.Batch, 1),
		baseline.Switch("normalise"),
	}
}

// Restore implements baseline.Hyperparameters.
func (c Config) Restore(t baseline.Tensors) (baseline.Model, error) {
	m := &Model{config: c}
	var err error
	if m.w, err = t.Get("W", -1, -1); err != nil {
		return nil, err
	}
	if m.mean, err = t.Get("mean", 1, m.w.Rows); err != nil {
		return nil, err
	}
	if m.centre, err = t.Get("centre", 1, m.w.Cols); err != nil {
		return nil, err
	}
	return m, nil
}
