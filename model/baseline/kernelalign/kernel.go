package kernelalign

import "math"

// Kernel names how a sample is compared with a class.
type Kernel string

// The kernels of two vectors v and w. Between equal vectors of length 1, each is 1.
const (
	Linear     Kernel = "linear"     // v'w
	Polynomial Kernel = "polynomial" // ((v'w + offset) / (1 + offset))^degree
	Gaussian   Kernel = "gaussian"   // exp(-|v - w|^2 / (2 sigma^2))
	Cauchy     Kernel = "cauchy"     // 1 / (1 + |v - w|^2 / sigma^2)
)

// kernel is a Kernel with its parameters. It depends on the two vectors by a single
// number.
type kernel struct {
	shift bool // the number is |v - w|^2, so that the kernel is shift-invariant; else v'w
	at    func(number float64) (k, slope float64)
}

// kernels makes each kernel of checked settings.
var kernels = map[Kernel]func(Config) kernel{
	Linear:     func(Config) kernel { return kernel{at: linear} },
	Polynomial: func(c Config) kernel { return kernel{at: polynomial(c.Degree, c.Offset)} },
	Gaussian:   func(c Config) kernel { return kernel{true, gaussian(c.Sigma)} },
	Cauchy:     func(c Config) kernel { return kernel{true, cauchy(c.Sigma)} },
}

func (c Config) kernel() kernel { return kernels[c.Kernel](c) }

// number is what the kernel of v and w depends on, from |v|^2, v'w and |w|^2.
func (k kernel) number(vv, vw, ww float64) float64 {
	if k.shift {
		return max(vv-2*vw+ww, 0) // rounding could take it below
	}
	return vw
}

func linear(v float64) (k, slope float64) { return v, 1 }

func polynomial(degree int, offset float64) func(float64) (k, slope float64) {
	n, scale := float64(degree), 1/(1+offset)
	return func(v float64) (k, slope float64) {
		base := (v + offset) * scale
		power := math.Pow(base, n-1)
		return power * base, n * power * scale
	}
}

func gaussian(sigma float64) func(float64) (k, slope float64) {
	rate := 1 / (2 * sigma * sigma)
	return func(d float64) (k, slope float64) {
		k = math.Exp(-d * rate)
		return k, -k * rate
	}
}

func cauchy(sigma float64) func(float64) (k, slope float64) {
	rate := 1 / (sigma * sigma)
	return func(d float64) (k, slope float64) {
		k = 1 / (1 + d*rate)
		return k, -k * k * rate
	}
}
