//go:build chromium

package explain

import (
	"testing"

	"github.com/lago-train/lago-train/experiments/webpage/browser"
)

// The page with hostile names is laid out as any, runs no script and shows its picture.
func TestPageInBrowser(t *testing.T) {
	for name, page := range map[string]string{"as it is": written(t, mistaken(t), HTML, 3), "with hostile names": hostile(t)} {
		for _, dark := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				s := browser.Look(t, page, dark)
				s.Check(t, dark)
				if name == "as it is" && s.Beyond > 0 {
					t.Errorf("expected a page within its window, found %g pixels beyond", s.Beyond)
				}
				for _, i := range s.Images {
					if i.Natural == 0 || i.Alt == "" {
						t.Errorf("%+v, expected a picture with a text for it", i)
					}
				}
			})
		}
	}
}
