package glyphs

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestBlankPictureHasNoGradients(t *testing.T) {
	got := make([]float32, dims)
	hog(image.NewGray(image.Rect(0, 0, side, side)), got)
	for i, v := range got {
		if v != 0 {
			t.Fatalf("feature %d = %v, want 0", i, v)
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

func TestPoolingKeepsTheVotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		im := randomPicture(t)
		fine := vote(im)
		total := func(cells []histogram) (sum float64) {
			for _, h := range cells {
				for _, v := range h {
					sum += v
				}
			}
			return sum
		}
		for _, size := range cellSizes {
			pixels := float64(size * size * grid * grid)
			got, want := total(pool(fine, size))*pixels, total(fine)
			if math.Abs(got-want) > 1e-9*want {
				t.Errorf("cells of %d squares hold %v, the squares %v", size, got, want)
			}
		}
	})
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
	for z, class := range ds.Classes {
		im, err := Image(class, 1)
		if err != nil {
			t.Fatal(err)
		}
		hog(im, got)
		if !slices.Equal(got, ds.Features.Row(samples*z+1)) {
			t.Errorf("the picture of %s has other features than its row", class)
		}
	}
}
