package preprocess

import "math"

// jacobi returns the elliptic functions sn, cn and dn of u for the parameter
// 0 <= m < 1, by the arithmetic-geometric mean (Abramowitz & Stegun 16.4).
func jacobi(u, m float64) (sn, cn, dn float64) {
	const least = 1e-15
	a, b := 1.0, math.Sqrt(1-m)
	var ratios []float64 // c_i / a_i
	scale := 1.0
	for c := math.Sqrt(m); c > least*a; scale *= 2 {
		a, b, c = (a+b)/2, math.Sqrt(a*b), (a-b)/2
		ratios = append(ratios, c/a)
	}
	phi := scale * a * u
	for i := len(ratios) - 1; i >= 0; i-- {
		phi = (phi + math.Asin(ratios[i]*math.Sin(phi))) / 2
	}
	sn, cn = math.Sincos(phi)
	// 1 - m sn^2, without the cancellation where m is close to 1.
	return sn, cn, math.Sqrt(cn*cn + (1-m)*sn*sn)
}
