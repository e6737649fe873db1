//go:build chromium

package results_test

import (
	"fmt"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

// The page fits its window in both colour schemes, nothing is cut off, texts of figures can be read,
// tables can be sorted, and the contents stay in sight.
func TestReportInBrowser(t *testing.T) {
	l, _ := all(t)
	p := read(t, l.Root)
	page, _ := render(t, p)
	for _, width := range []int{1200, 390} {
		for _, dark := range []bool{false, true} {
			t.Run(fmt.Sprint(width, " pixels, dark ", dark), func(t *testing.T) {
				s := testkit.OpenPage(t, page, width, dark, // lists of settings leave room for their accuracy
					`return innerWidth < 1024 || [...document.querySelectorAll(".wide")].every(e => e.scrollWidth <= e.clientWidth)`)
				if len(s.Pictures) != len(p.Figures()) {
					t.Fatalf("%d pictures, expected %d", len(s.Pictures), len(p.Figures()))
				}
				for i, picture := range s.Pictures {
					if picture.Least < 11 || picture.Texts == 0 {
						t.Errorf("%s: %d texts of at least %g pixels, expected 11", p.Figures()[i].Name, picture.Texts, picture.Least)
					}
				}
				if s.Sortable < 20 || s.Contents > 20 {
					t.Errorf("%d sortable columns, contents %g pixels below the top of a scrolled page", s.Sortable, s.Contents)
				}
			})
		}
	}
}
