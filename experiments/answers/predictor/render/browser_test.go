//go:build chromium

package render

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

// What the page does: a state and a text select cards, and a click enlarges a photograph.
var does = []string{
	`window.shown = () => cards.filter(c => !c.hidden).map(c => c.querySelector("small").textContent); form.reset(); await new Promise(r => setTimeout(r, 50)); return shown().join() == "c.jpg,a.jpg,b.jpg,d.jpg"`,
	`field.state.value = "unsure"; form.dispatchEvent(new Event("input")); return shown().join() == "c.jpg"`,
	`field.state.value = ""; field.text.value = "WREN"; form.dispatchEvent(new Event("input")); return shown().join() == "d.jpg"`,
	`list.querySelector("li:not([hidden]) img").click(); return dialog.open && dialog.querySelector("img").clientWidth > 0`,
	// The cards are one stop, with arrows; Enter enlarges one, and Escape leads back to it.
	`dialog.close(); form.reset(); await new Promise(r => setTimeout(r, 50)); return list.querySelectorAll("[tabindex='0']").length == 1 && list.querySelectorAll("[tabindex='-1']").length == 3`,
	`window.key = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true})); list.querySelector("button").focus(); key("End"); key("ArrowLeft"); return document.activeElement.textContent.includes("b.jpg")`,
	`document.activeElement.click(); dialog.close(); return document.activeElement.textContent.includes("b.jpg")`,
	// An enlarged card has the sign of its state.
	`const marked = list.querySelector("[class]:not([class=''])"), sign = e => getComputedStyle(e.querySelector("strong"), "::before").content; marked.firstChild.click(); const same = sign(dialog) == sign(marked); dialog.close(); return same && sign(marked) != '""'`,
	// In print, long names make no column wider than the paper.
	`for (const r of document.styleSheets[0].cssRules) if (r.media?.mediaText == "print") r.media.mediaText = "all"; list.querySelector("li:not([hidden]) small").textContent = "x".repeat(300); return list.scrollWidth <= list.clientWidth`,
}

// The sheet fits its window in both colour schemes, nothing is cut off or loaded, and its fields select.
func TestSheetInBrowser(t *testing.T) {
	_, page := sheet(t)
	for _, width := range []int{1200, 390} {
		for _, dark := range []bool{false, true} {
			t.Run(fmt.Sprint(width, " pixels, dark ", dark), func(t *testing.T) {
				if s := testkit.OpenPage(t, page, width, dark, does...); len(s.Scrolled) > 0 {
					t.Errorf("wider than their boxes: %q", s.Scrolled)
				}
			})
		}
	}
}

func TestExplanationInBrowser(t *testing.T) {
	for name, page := range map[string]string{"a result": written(t, mistaken(t), HTML, 3), "with hostile names": hostile(t)} {
		for _, width := range []int{1200, 390} {
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
