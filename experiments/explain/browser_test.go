//go:build chromium

package explain

import (
	"testing"

	"github.com/lago-train/lago-train/internal/webpage/webpagetest"
)

func TestPageInBrowser(t *testing.T) {
	for name, page := range map[string]string{"a result": written(t, mistaken(t), HTML, 3), "with hostile names": hostile(t)} {
		for _, dark := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				s := webpagetest.Open(t, page, 1200, dark)
				s.Check(t, dark)
				for _, i := range s.Images {
					if i.Natural == 0 || i.Alt == "" {
						t.Errorf("%+v: expected a picture with an alternative text", i)
					}
				}
			})
		}
	}
}
