package glyphs

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/testkit"
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

// TestEdgesVoteForTheirOrientation draws an edge at the angle of each bin.
func TestEdgesVoteForTheirOrientation(t *testing.T) {
	for o := range orientations {
		sin, cos := math.Sincos(math.Pi * float64(o) / orientations)
		im := image.NewGray(image.Rect(0, 0, side, side))
		for y := range side {
			for x := range side {
				// A ramp along the gradient, steep enough to see and never cut off.
				along := (float64(x)-side/2)*cos + (float64(y)-side/2)*sin
				im.SetGray(x, y, color.Gray{uint8(128 + 3*along)})
			}
		}
		middle := vote(im)[squares/2*squares+squares/2]
		var sum float64
		for _, v := range middle {
			sum += v
		}
		// Eight bits of gray leave some of the vote to the bins beside it.
		if middle[o] < 0.7*sum {
			t.Errorf("a gradient at %d/%d of half a turn votes %v, want most in bin %d", o, orientations, middle, o)
		}
	}
}

// randomPicture takes only the seed from rapid, which is slow for thousands of values.
func randomPicture(t *rapid.T) *image.Gray {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	im := image.NewGray(image.Rect(0, 0, side, side))
	for i := range im.Pix {
		im.Pix[i] = uint8(rng.UintN(256))
	}
	return im
}

// White on black has the features of black on white; all are finite and not negative.
func TestFeaturesDoNotDependOnPolarity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		im := randomPicture(t)
		negative := image.NewGray(im.Rect)
		for i, v := range im.Pix {
			negative.Pix[i] = math.MaxUint8 - v
		}
		a, b := make([]float32, dims), make([]float32, dims)
		hog(im, a)
		hog(negative, b)
		for i := range a {
			if math.Abs(float64(a[i]-b[i])) > 1e-5 {
				t.Errorf("feature %d = %v, of the negative %v", i, a[i], b[i])
			}
			if !(a[i] >= 0) || math.IsInf(float64(a[i]), 0) {
				t.Errorf("feature %d = %v", i, a[i])
			}
		}
	})
}

func TestImageHasTheFeaturesOfItsRow(t *testing.T) {
	ds := standard()
	got := make([]float32, dims)
	for row := 1; row < ds.Features.Rows; row += samples + 1 {
		hog(testkit.Must(Image(row))(t), got)
		if !slices.Equal(got, ds.Features.Row(row)) {
			t.Errorf("the picture of row %d has other features", row)
		}
	}
	for _, row := range []int{-1, ds.Features.Rows} {
		_, err := Image(row)
		testkit.WantError(t, err, "glyphs: sample: expected 0 to 3899")
	}
}
