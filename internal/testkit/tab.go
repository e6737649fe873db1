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
// Nothing is wider than the window, and axe finds nothing.
func (b *Browser) Looks(name string) {
	b.t.Helper()
	for _, width := range []int{390, 1200} {
		for _, dark := range []bool{false, true} {
			var wider bool
			b.Run(window(width, dark), chromedp.Sleep(100*time.Millisecond), chromedp.Evaluate(
				`document.documentElement.scrollWidth > document.documentElement.clientWidth`, &wider))
			if problems := b.axe(); wider || len(problems) > 0 {
				b.t.Errorf("%s, %d pixels, dark %v: wider than the window %v, %q", name, width, dark, wider,
					problems)
			}
			b.screenshot(fmt.Sprintf("%s-%d-dark-%v", name, width, dark))
		}
	}
	b.Run(chromedp.EmulateViewport(1200, 900))
}

// axe returns what axe-core finds on the page by the rules of WCAG 2.2, levels A and AA, and best practices,
// and controls that are small. Its file is $LAGO_AXE, which the Makefile sets; "none" leaves it out.
func (b *Browser) axe() (problems []string) {
	b.t.Helper()
	path := os.Getenv("LAGO_AXE")
	if path == "none" {
		return nil
	}
	source, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatalf("LAGO_AXE: expected the file of axe-core, found none (%v). "+
			"make axe downloads it, and make page-check and make report-check set the variable.", err)
	}
	var loaded bool
	if b.Run(chromedp.Evaluate(`"axe" in window`, &loaded)); !loaded {
		b.Run(chromedp.Evaluate(string(source), nil))
	}
	b.Run(chromedp.Evaluate(`axe.run({rules: {"target-size": {enabled: true}}}).then(r => r.violations.flatMap(
		v => v.nodes.map(n => v.id + ": " + n.html.slice(0, 150) + ": " + n.failureSummary)).concat(
		[...document.querySelectorAll("button, input, select, summary, a, [tabindex='0']")].filter(e => {
			const {width, height} = e.getBoundingClientRect();
			return width > 0 && (width < 24 || height < 24);
		}).map(e => "smaller than 24 pixels: " + e.outerHTML.slice(0, 150))))`, &problems, Awaited))
	return problems
}
