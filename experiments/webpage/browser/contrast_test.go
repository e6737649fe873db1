package browser_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lago-train/lago-train/experiments/webpage/browser"
)

// The ratios of white with black and with the grey that WCAG's level AA just takes.
func TestContrast(t *testing.T) {
	white := browser.Colour{255, 255, 255}
	for _, c := range []struct {
		colour browser.Colour
		want   float64
	}{{browser.Colour{}, 21}, {white, 1}, {browser.Colour{118, 118, 118}, 4.54}} {
		for _, got := range []float64{browser.Contrast(white, c.colour), browser.Contrast(c.colour, white)} {
			if math.Abs(got-c.want) > 0.005 {
				t.Errorf("contrast of %v is %.3f, expected %.2f", c.colour, got, c.want)
			}
		}
	}
}

func ExampleContrast() {
	fmt.Printf("%.0f\n", browser.Contrast(browser.Colour{0, 0, 0}, browser.Colour{255, 255, 255}))
	// Output: 21
}
