package kernelalign

import (
	"math"

	"github.com/lago-train/lago-train/model/baseline"
)

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
// the degree and the penalty are ours, chosen on the validation classes of cub127.
func (c Config) Settings() []baseline.Setting {
	all := []Kernel{Linear, Polynomial, Gaussian, Cauchy}
	return []baseline.Setting{
		baseline.OneOf("kernel", c.Kernel, all, all...),
		baseline.Positive("sigma", c.Sigma, 0.5, 0.65, 0.8, 1, 1.3).If(c.kernel().distance),
		baseline.AtLeast("degree", c.Degree, 1, 2, 3).If(c.Kernel == Polynomial),
		baseline.NonNegative("offset", c.Offset).If(c.Kernel == Polynomial),
		baseline.NonNegative("beta", c.Beta, 0.3, 1, 3),
		baseline.Switch("ort", false, true).If(c.kernel().distance),
		baseline.NonNegative("orthogonality", c.Orthogonality, 0, 1e-3),
		baseline.Positive("lr", c.LR, 3e-3, 1e-2, 3e-2, 1e-1),
		baseline.AtLeast("batch", c.Batch, 1),
		baseline.Switch("normalise"),
	}
}

// Restore implements baseline.Hyperparameters.
func (c Config) Restore(t baseline.Tensors) (baseline.Model, error) {
	r := &baseline.Reader{Tensors: t}
	m := &Model{config: c, w: r.Get("W", -1, -1)}
	m.mean = r.Get("mean", 1, m.w.Rows)
	m.centre = r.Get("centre", 1, m.w.Cols)
	return m, r.Err
}

// Kernel names the similarity of a sample and a class.
type Kernel string

// The kernels of two vectors v and w; each is 1 between equal vectors of length 1.
const (
	Linear     Kernel = "linear"     // v'w
	Polynomial Kernel = "polynomial" // ((v'w + offset) / (1 + offset))^degree
	Gaussian   Kernel = "gaussian"   // exp(-|v - w|^2 / (2 sigma^2))
	Cauchy     Kernel = "cauchy"     // 1 / (1 + |v - w|^2 / sigma^2)
)

// kernel is a Kernel with its parameters: a function of the squared distance of two
// vectors or of their inner product.
type kernel struct {
	distance bool                                 // of |v - w|^2, else of v'w
	at       func(number float64) (k, dk float64) // the kernel and its derivative by the number
}

func (c Config) kernel() kernel {
	switch c.Kernel {
	case Polynomial:
		n, scale := float64(c.Degree), 1/(1+c.Offset)
		return kernel{at: func(v float64) (k, dk float64) {
			base := (v + c.Offset) * scale
			power := math.Pow(base, n-1)
			return power * base, n * power * scale
		}}
	case Gaussian:
		rate := 1 / (2 * c.Sigma * c.Sigma)
		return kernel{true, func(d float64) (k, dk float64) {
			k = math.Exp(-d * rate)
			return k, -k * rate
		}}
	case Cauchy:
		rate := 1 / (c.Sigma * c.Sigma)
		return kernel{true, func(d float64) (k, dk float64) {
			k = 1 / (1 + d*rate)
			return k, -k * k * rate
		}}
	}
	return kernel{at: func(v float64) (k, dk float64) { return v, 1 }}
}

// number returns |v - w|^2 or v'w from |v|^2, v'w and |w|^2.
func (k kernel) number(vv, vw, ww float64) float64 {
	if k.distance {
		return max(vv-2*vw+ww, 0) // rounding can make it negative
	}
	return vw
}
