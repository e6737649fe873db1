package browser

import "math"

// Colour is red, green and blue.
type Colour [3]uint8

// luminance is the relative luminance of WCAG 2.
func (c Colour) luminance() float64 {
	var l float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := float64(c[i]) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		l += weight * v
	}
	return l
}

// Contrast is the contrast ratio of WCAG 2, from 1 to 21.
func Contrast(a, b Colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}
