package images

import "math"

// resize returns the image in w x h pixels, by bilinear interpolation that averages over
// all pixels that one of the result covers (antialiasing). Coefficients and intermediate
// pixels are rounded as Pillow does.
func (p *pixels) resize(w, h int) *pixels {
	if w != p.w {
		to := newPixels(w, p.h)
		for x, k := range filters(p.w, w) {
			for y := range p.h {
				k.apply(to.rgb[3*(y*w+x):], p.rgb[3*(y*p.w+k.first):], 3)
			}
		}
		p = to
	}
	if h != p.h {
		to := newPixels(p.w, h)
		for y, k := range filters(p.h, h) {
			for x := range p.w {
				k.apply(to.rgb[3*(y*p.w+x):], p.rgb[3*(k.first*p.w+x):], 3*p.w)
			}
		}
		p = to
	}
	return p
}

// filter is a pixel of the result: the weights of consecutive pixels from the first on.
type filter struct {
	first   int
	weights []int32 // times 2^filterBits
}

const filterBits = 32 - 8 - 2

// filters returns the filters that resize a line of pixels.
func filters(from, to int) []filter {
	scale := float64(from) / float64(to)
	support := max(scale, 1)
	all := make([]filter, to)
	for i := range all {
		centre := (float64(i) + 0.5) * scale
		first, end := max(int(centre-support+0.5), 0), min(int(centre+support+0.5), from)
		weights := make([]float64, end-first)
		var sum float64
		for j := range weights {
			weights[j] = max(1-math.Abs((float64(first+j)-centre+0.5)/support), 0)
			sum += weights[j]
		}
		all[i] = filter{first, make([]int32, len(weights))}
		for j, v := range weights {
			all[i].weights[j] = int32(0.5 + v/sum*(1<<filterBits))
		}
	}
	return all
}

// apply writes one pixel of three channels; step is the distance of the pixels in src.
func (f filter) apply(dst, src []uint8, step int) {
	const half = 1 << (filterBits - 1)
	var r, g, b int32 = half, half, half
	at := 0
	for _, k := range f.weights {
		s := src[at : at+3 : at+3]
		r += int32(s[0]) * k
		g += int32(s[1]) * k
		b += int32(s[2]) * k
		at += step
	}
	dst[0], dst[1], dst[2] = clamp(r>>filterBits), clamp(g>>filterBits), clamp(b>>filterBits)
}

func clamp(v int32) uint8 { return uint8(min(max(v, 0), 255)) }
