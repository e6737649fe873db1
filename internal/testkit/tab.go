//go:build chromium

package testkit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	dialog "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browser is a tab of headless Chromium. Click, Choose and Looks are for the page of lago-train serve.
type Browser struct {
	t   testing.TB
	ctx context.Context
}

// NewBrowser opens a tab for some time. Errors that the browser
// reports are those of the test, but for requests that are refused, which the page shows. Questions
// are answered with yes.
func NewBrowser(t testing.TB, limit time.Duration, options ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	options = append([]chromedp.ExecAllocatorOption{chromedp.NoSandbox}, options...)
	options = append(chromedp.DefaultExecAllocatorOptions[:], options...)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *dialog.EventJavascriptDialogOpening:
			// a test that ends needs no answer
			go func() { _ = chromedp.Run(ctx, dialog.HandleJavaScriptDialog(true)) }()
		case *runtime.EventExceptionThrown:
			t.Error(e.ExceptionDetails.Error())
		case *log.EventEntryAdded: // also what the page's policy does not allow
			if !strings.Contains(e.Entry.Text, "409 (Conflict)") &&
				!strings.Contains(e.Entry.Text, "400 (Bad Request)") {
				t.Errorf("%s: %s", e.Entry.Level, e.Entry.Text)
			}
		}
	})
	NoError(t, chromedp.Run(ctx, log.Enable()))
	return &Browser{t, ctx}
}

// Run runs actions.
func (b *Browser) Run(actions ...chromedp.Action) {
	b.t.Helper()
	NoError(b.t, chromedp.Run(b.ctx, actions...))
}

// Awaited waits for the promise that a script returns.
func Awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// Click clicks the visible button with a text.
func (b *Browser) Click(text string) {
	b.t.Helper()
	path := fmt.Sprintf(`//section[not(@hidden)]//button[contains(., %q)] | `+
		`//header//button[contains(., %[1]q)]`, text)
	b.Run(chromedp.Poll(fmt.Sprintf(`(() => { // in one step, since the page may be drawn anew between two
		const found = document.evaluate(
			%q, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue;
		if (!found || found.disabled || found.getClientRects().length === 0) return false;
		found.click();
		return true;
	})()`, path), nil, chromedp.WithPollingTimeout(2*time.Minute)))
}

// Waits waits until the page shows a text.
func (b *Browser) Waits(text string) {
	b.t.Helper()
	b.Run(chromedp.Poll(fmt.Sprintf(`document.body.innerText.includes(%q)`, text), nil,
		chromedp.WithPollingTimeout(2*time.Minute)))
}

// Choose chooses an option of the list with a label.
func (b *Browser) Choose(label, value string) {
	b.t.Helper()
	b.Run(chromedp.Evaluate(fmt.Sprintf(`{
		const s = document.querySelector('section:not([hidden]) [aria-label=%q]');
		s.value = %q;
		s.dispatchEvent(new Event("change", {bubbles: true}));
	}`, label, value), nil))
}

// window is one of a width in pixels, in a colour scheme.
func window(width int, dark bool) chromedp.Tasks {
	scheme := map[bool]string{true: "dark", false: "light"}[dark]
	media := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	return chromedp.Tasks{
		chromedp.EmulateViewport(int64(width), 900), emulation.SetEmulatedMedia().WithFeatures(media),
	}
}

// screenshot writes a picture of the page into the folder $LAGO_SCREENSHOTS, if it is set.
func (b *Browser) screenshot(name string) {
	if dir := os.Getenv("LAGO_SCREENSHOTS"); dir != "" {
		var picture []byte
		b.Run(chromedp.FullScreenshot(&picture, 100))
		NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o666))
	}
}

// Looks checks the page, and takes screenshots, in both colour schemes and in a wide and a narrow window.
// Nothing is wider than the window, each control has a name, and texts have a contrast of 4.5 at least.
func (b *Browser) Looks(name string) {
	b.t.Helper()
	for _, width := range []int{500, 1200} {
		for _, dark := range []bool{false, true} {
			var problems []string
			b.Run(window(width, dark), chromedp.Sleep(100*time.Millisecond),
				chromedp.Evaluate(looks, &problems))
			if len(problems) > 0 {
				b.t.Errorf("%s, %d pixels, dark %v: %q", name, width, dark, problems)
			}
			b.screenshot(fmt.Sprintf("%s-%d-dark-%v", name, width, dark))
		}
	}
	b.Run(chromedp.EmulateViewport(1200, 900))
}

const looks = `(() => {
  const problems = [], page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) problems.push("wider than the window: " + page.scrollWidth);
  const light = c => c.match(/\d+(\.\d+)?/g).slice(0, 3).map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const paper = e => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (!c.startsWith("rgba(0, 0, 0, 0")) return c;
    }
    return "rgb(255, 255, 255)";
  };
  for (const e of document.querySelectorAll("button, input, select, meter, progress, img")) {
    const name = e.getAttribute("aria-label") || e.textContent || e.alt ||
      (e.labels && e.labels.length && e.labels[0].textContent);
    if (!name) problems.push("no name: " + e.outerHTML.slice(0, 60));
  }
  for (const e of document.querySelectorAll(
    "p, h1, h2, small, span, button:enabled, summary, label, strong, select:enabled")) {
    if (!e.offsetParent || !e.textContent.trim()) continue;
    const a = light(getComputedStyle(e).color), b = light(paper(e)),
      ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) problems.push("contrast " + ratio.toFixed(2) + ": " + e.textContent.slice(0, 30));
  }
  return problems;
})()`
