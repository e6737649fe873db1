package kernelalign

import "math"

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
