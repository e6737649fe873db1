//go:build chromium

package predict

import (
	"fmt"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

// The sheet fits its window in both colour schemes, nothing is cut off or loaded, and its contents
// stay in sight.
func TestSheetInBrowser(t *testing.T) {
	_, page := sheet(t)
	for _, width := range []int{1200, 500} {
		for _, dark := range []bool{false, true} {
			t.Run(fmt.Sprint(width, " pixels, dark ", dark), func(t *testing.T) {
				if s := testkit.OpenPage(t, page, width, dark); len(s.Scrolled) > 0 || s.Contents > 100 {
					t.Errorf("wider than their boxes: %q; contents at %g pixels", s.Scrolled, s.Contents)
				}
			})
		}
	}
}
