//go:build chromium

package report

import (
	"fmt"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

// The page fits its window in both colour schemes, and no text of a figure is cut off.
func TestPageInBrowser(t *testing.T) {
	p := read(t, all(t).Root)
	page, _ := render(t, p)
	for _, width := range []int{1200, 500} {
		for _, dark := range []bool{false, true} {
			t.Run(fmt.Sprint(width, " pixels, dark ", dark), func(t *testing.T) {
				s := testkit.OpenPage(t, page, width, dark)
				if len(s.Pictures) != len(p.Figures()) {
					t.Fatalf("%d pictures, expected %d", len(s.Pictures), len(p.Figures()))
				}
				for i, picture := range s.Pictures {
					if points, _ := p.Figures()[i].Size(); picture.Width < 1.2*points.Points() || picture.Texts == 0 {
						t.Errorf("%s: %g pixels for %g points, %d texts", p.Figures()[i].Name, picture.Width, points.Points(), picture.Texts)
					}
				}
			})
		}
	}
}
