//go:build chromium

package report

import (
	"fmt"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

func TestPageInBrowser(t *testing.T) {
	root := t.TempDir()
	writeAll(t, root)
	p := read(t, root)
	page := render(t, p)
	for _, width := range []int{1200, 500} {
		for _, dark := range []bool{false, true} {
			t.Run(fmt.Sprint(width, " pixels, dark ", dark), func(t *testing.T) {
				s := testkit.OpenPage(t, page, width, dark)
				s.Check(t, dark)
				checkPictures(t, p.Figures(), s.Pictures)
			})
		}
	}
}

// checkPictures fails unless all pictures are enlarged, so that their small print is
// readable, with no text cut off.
func checkPictures(t *testing.T, figures []Figure, pictures []testkit.Picture) {
	t.Helper()
	if len(pictures) != len(figures) {
		t.Fatalf("expected %d pictures, found %d", len(figures), len(pictures))
	}
	for i, p := range pictures {
		if width := figures[i].Width(); p.Width < 1.2*width {
			t.Errorf("%s: expected at least 1.2 pixels for each of %g points, found %g pixels", figures[i].Name, width, p.Width)
		}
		if p.Texts == 0 || len(p.Clipped) > 0 {
			t.Errorf("%s: expected texts within the picture, found %d, clipped %q", figures[i].Name, p.Texts, p.Clipped)
		}
	}
}
