package glyphs

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestEveryFaceDrawsEveryLetter(t *testing.T) {
	plain := distortion{a: 1, d: 1}
	for z, l := range letters.classes {
		for f, o := range outlines()[z] {
			ink := coverage(o, plain)
			var sum float64
			left, right := side, 0 // columns with ink
			for i, v := range ink {
				sum += v
				if v > 0 {
					left, right = min(left, i%side), max(right, i%side)
				}
			}
			// A thin I has about 40 pixels of ink, a bold M about 560.
			if sum < 30 || sum > 700 {
				t.Errorf("%s in %s: %.0f pixels of ink", l.name, faces[f].name, sum)
			}
			// The middle is that of the points, and curves stay inside of theirs.
			if margins := left - (side - 1 - right); margins < -4 || margins > 4 {
				t.Errorf("%s in %s is off the middle: ink from column %d to %d of %d", l.name, faces[f].name, left, right, side)
			}
		}
	}
}

// At most one sample in a thousand is cut at an edge, and not by much.
func TestLettersStayInTheirPictures(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	samples, cut := 0, 0
	for z, l := range letters.classes {
		for f, o := range outlines()[z] {
			for range 20 {
				d := randomDistortion(rng)
				beyond := float32(0) // pixels
				for q := range o.all {
					x, y := d.place(*q)
					beyond = max(beyond, -x, x-side, -y, y-side)
				}
				samples++
				if beyond > 0 {
					cut++
				}
				if beyond > 4 {
					t.Errorf("%s in %s goes %.1f pixels beyond its picture", l.name, faces[f].name, beyond)
				}
			}
		}
	}
	t.Logf("%d of %d samples are cut", cut, samples)
	if cut > samples/1000 {
		t.Errorf("%d of %d samples are cut, want at most one in a thousand", cut, samples)
	}
}

func TestBlurKeepsInk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sd := rapid.Float64Range(minBlur, maxBlur).Draw(t, "sd")
		// The kernel reaches 4 pixels: a dot farther than that from the edges keeps
		// all of its ink.
		x := rapid.IntRange(4, side-5).Draw(t, "x")
		y := rapid.IntRange(4, side-5).Draw(t, "y")
		dot := make([]float64, side*side)
		dot[y*side+x] = 1
		var sum, peak float64
		for _, v := range blur(dot, sd) {
			sum += v
			peak = max(peak, v)
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("ink after the blur = %v, want 1", sum)
		}
		if got := blur(dot, sd)[y*side+x]; got != peak || got >= 1 {
			t.Errorf("the dot keeps %v, the most of any pixel is %v", got, peak)
		}
	})
}
