//go:build chromium

package browser_test

import (
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/webpage/browser"
)

// What tests rely on: a page that does what a page must not is seen to do it.
func TestBrowserTellsOfRequestsAndErrors(t *testing.T) {
	s := browser.Look(t, `<!DOCTYPE html><html><head></head><body><img src="http://example.invalid/a.png" alt="none">
<div style="width: 3000px">wide</div>
<script>console.error("a complaint"); undefinedFunction()</script></body></html>`, false)
	all := strings.Join(append(s.Errors, s.Requests...), "\n")
	for _, want := range []string{"a complaint", "undefinedFunction", "http://example.invalid/a.png"} {
		if !strings.Contains(all, want) {
			t.Errorf("expected to be told of %q, found %q", want, all)
		}
	}
	if s.Beyond < 1000 || len(s.Images) != 1 || s.Images[0].Natural != 0 || s.Images[0].Alt != "none" {
		t.Errorf("expected a page beyond its window and an image that is not there, found %+v", s)
	}
}
