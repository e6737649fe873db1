//go:build chromium

package report

import (
	"testing"

	"github.com/lago-train/lago-train/internal/webpage/webpagetest"
)

func TestPageInBrowser(t *testing.T) {
	root := t.TempDir()
	writeAll(t, root)
	p := read(t, root)
	page := render(t, p)
	for name, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(name, func(t *testing.T) {
			s := webpagetest.Open(t, page, dark)
			s.Check(t, dark)
			checkPictures(t, p.Figures(), s.Pictures)
		})
	}
}

func checkPictures(t *testing.T, figures []Figure, pictures []webpagetest.Picture) {
	t.Helper()
	if len(pictures) != len(figures) {
		t.Fatalf("expected %d pictures, found %d", len(figures), len(pictures))
	}
	for i, p := range pictures {
		// All are narrower than the window, so that none needs to shrink.
		width, height := figures[i].Picture.Size()
		if inPixels := 4. / 3; p.Width < width.Points()*inPixels-1 || p.Height < height.Points()*inPixels-1 {
			t.Errorf("%s: expected %v x %v points, found %g x %g pixels", figures[i].Name, width, height, p.Width, p.Height)
		}
		if p.Texts == 0 || len(p.Clipped) > 0 {
			t.Errorf("%s: expected texts within the picture, found %d, clipped %q", figures[i].Name, p.Texts, p.Clipped)
		}
		if p.Paper != "rgba(0, 0, 0, 0)" {
			t.Errorf("%s: expected the background of the page, found %s", figures[i].Name, p.Paper)
		}
	}
}
