//go:build chromium

package explain

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

func TestPageInBrowser(t *testing.T) {
	for name, page := range map[string]string{"a result": written(t, mistaken(t), HTML, 3), "with hostile names": hostile(t)} {
		for _, width := range []int{1200, 500} {
			for _, dark := range []bool{false, true} {
				t.Run(fmt.Sprint(name, ", ", width, " pixels, dark ", dark), func(t *testing.T) {
					s := testkit.OpenPage(t, page, width, dark)
					if len(s.Scrolled) > 0 && width > 1000 && name == "a result" { // narrow pages scroll tables
						t.Errorf("expected nothing wider than its box, found %q", s.Scrolled)
					}
					if len(s.Bars) == 0 || width > 1000 && slices.Min(s.Bars) < 50 { // narrow pages have none
						t.Errorf("expected bars of at least 50 pixels, found %v", s.Bars)
					}
				})
			}
		}
	}
}
