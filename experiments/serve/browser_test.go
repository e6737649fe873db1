//go:build chromium

package serve

import (
	"context"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// browser is a tab of headless Chromium on the page.
type browser struct {
	t   *testing.T
	ctx context.Context
}

// opened serves things and opens the page. Errors that the browser reports are those of the test.
func opened(t *testing.T) (*Server, *browser) {
	t.Helper()
	m := identity()
	m.Correction, m.Stored.Detections = model.Correction{Kind: model.Subtract, Omega: 0.5}, dataset.Matrix[float32]{Rows: 1, Cols: 4, Data: []float32{0.8, 0.1, 0.3, 0.6}}
	s := testkit.Must(New(t.Context(), Config{Name: "things", Dir: things(t), Model: m, Features: network}))(t)
	addresses := make(chan string)
	go func() { _ = s.Serve(t.Context(), 0, func(address string) error { addresses <- address; return nil }) }()
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(cancel)
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Error(e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if !strings.Contains(e.Entry.Text, "409 (Conflict)") { // which the page shows
				t.Errorf("%s: %s", e.Entry.Level, e.Entry.Text)
			}
		}
	})
	b := &browser{t, ctx}
	b.run(log.Enable(), chromedp.Navigate(<-addresses), chromedp.WaitVisible(".grid"))
	return s, b
}

func (b *browser) run(actions ...chromedp.Action) {
	b.t.Helper()
	testkit.NoError(b.t, chromedp.Run(b.ctx, actions...))
}

// click clicks the visible button with a text.
func (b *browser) click(text string) {
	b.t.Helper()
	b.run(chromedp.Click(fmt.Sprintf(`//section[not(@hidden)]//button[contains(., %q)] | //header//button[contains(., %[1]q)]`, text), chromedp.BySearch))
}

// waits waits until the page shows a text.
func (b *browser) waits(text string) {
	b.t.Helper()
	b.run(chromedp.Poll(fmt.Sprintf(`document.body.innerText.includes(%q)`, text), nil, chromedp.WithPollingTimeout(5*time.Second)))
}

// choose chooses an option of the list with a label.
func (b *browser) choose(label, value string) {
	b.t.Helper()
	b.run(chromedp.Evaluate(fmt.Sprintf(`{const s = document.querySelector('section:not([hidden]) [aria-label=%q]'); s.value = %q; s.dispatchEvent(new Event("change"));}`, label, value), nil))
}

// looks takes a screenshot, into $LAGO_SCREENSHOTS if it is set, in both colour schemes and in a wide
// and a narrow window. Nothing is wider than the window, each control has a name, and texts have a
// contrast of 4.5 at least.
func (b *browser) looks(name string) {
	b.t.Helper()
	for _, width := range []int64{500, 1600} {
		for _, scheme := range []string{"light", "dark"} {
			var problems []string
			var picture []byte
			b.run(chromedp.EmulateViewport(width, 900), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				chromedp.Sleep(100*time.Millisecond), chromedp.Evaluate(looks, &problems), chromedp.FullScreenshot(&picture, 100))
			if len(problems) > 0 {
				b.t.Errorf("%s, %d pixels, %s: %q", name, width, scheme, problems)
			}
			if dir := os.Getenv("LAGO_SCREENSHOTS"); dir != "" {
				testkit.NoError(b.t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), picture, 0o666))
			}
		}
	}
	b.run(chromedp.EmulateViewport(1200, 900))
}

// addsUp checks that the bars of the groups and of the correction, and the numbers of the sentence, add
// up to the log odds above them, to the digits shown.
func (b *browser) addsUp() {
	b.t.Helper()
	var x struct{ Total, Numbers, Bars, Sentence float64 }
	b.run(chromedp.Evaluate(`(() => {
  const title = [...document.querySelectorAll("#try h2")].find(h => h.textContent.startsWith("Groups: ")), rows = [];
  for (let e = title.nextElementSibling; e?.className === "bar"; e = e.nextElementSibling)
    rows.push({number: parseFloat(e.querySelector(".number").textContent), width: e.querySelector("meter").value * (e.querySelector(".against") ? -1 : 1)});
  const sum = list => list.reduce((s, v) => s + v, 0), widest = rows.reduce((a, r) => Math.abs(r.number) > Math.abs(a.number) ? r : a);
  return {total: parseFloat(title.textContent.split("log odds ")[1]), numbers: sum(rows.map(r => r.number)), bars: sum(rows.map(r => r.width)) * widest.number / widest.width,
    sentence: sum(byId("sentence").textContent.split("Log odds: ")[1].match(/[-+][\d.]+\d/g).slice(0, -1).map(Number))};
})()`, &x))
	for what, v := range map[string]float64{"numbers": x.Numbers, "bars": x.Bars, "sentence": x.Sentence} {
		testkit.Near(b.t, what, v, x.Total, 0.02)
	}
}

const looks = `(() => {
  const problems = [], page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) problems.push("wider than the window: " + page.scrollWidth);
  const light = c => c.match(/\d+(\.\d+)?/g).slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const paper = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!c.startsWith("rgba(0, 0, 0, 0")) return c; } return "rgb(255, 255, 255)"; };
  for (const e of document.querySelectorAll("button, input, select, meter, progress, img")) {
    const name = e.getAttribute("aria-label") || e.textContent || e.alt || (e.labels && e.labels.length && e.labels[0].textContent);
    if (!name) problems.push("no name: " + e.outerHTML.slice(0, 60));
  }
  for (const e of document.querySelectorAll("p, h1, h2, small, span, button:enabled, legend, label, strong, select:enabled")) {
    if (!e.offsetParent || !e.textContent.trim()) continue;
    const a = light(getComputedStyle(e).color), b = light(paper(e)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) problems.push("contrast " + ratio.toFixed(2) + ": " + e.textContent.slice(0, 30));
  }
  return problems;
})()`

// Two classes are described, a photograph is dropped and recognised, a class that does not exist yet
// is added and wins, is kept, and is removed again.
func TestPageInBrowser(t *testing.T) {
	s, b := opened(t)
	classes := func(want ...string) {
		t.Helper()
		testkit.WantText(t, testkit.Read(t, filepath.Join(s.Dir, "classes.csv")), want...)
	}
	b.looks("describe")
	b.click("bare")
	b.click("red")
	b.waits("Saved.")
	b.click("the others: no")
	b.waits("2 of 4 described")
	b.choose("small: strength", "0.5")
	b.waits("3 of 4 described")
	classes("bare,yes,no,,sometimes\n")
	b.looks("class")
	b.click("Undo")
	b.waits("2 of 4 described")
	classes("bare,yes,no,,\n")
	b.click("All classes")
	b.run(chromedp.SendKeys(`[aria-label="Name of a new class"]`, "giant\n"))
	b.waits("giant")
	b.click("giant")
	b.click("blue")
	b.waits("1 of 4 described")
	b.click("small")
	b.waits("2 of 4 described")
	b.choose("large: strength", "0")
	b.waits("3 of 4 described")

	b.click("Try")
	path := testkit.Write(t, t.TempDir(), "blue.jpg", string(photograph(color.RGBA{B: 255, A: 255})))
	b.run(chromedp.SetUploadFiles(`input[type=file]`, []string{path}))
	b.waits("classes: big blue")
	b.waits("correction by seen classes")
	b.addsUp()
	b.looks("try")
	b.run(chromedp.SendKeys(`[aria-label="Name of a class to try"]`, "huge\n"), chromedp.Sleep(100*time.Millisecond))
	b.click("blue")
	b.click("large")
	b.choose("small: strength", "0")
	b.run(chromedp.Evaluate(`document.querySelector('[data-key="candidatebig blue"]').click()`, nil))
	b.waits("classes: huge")
	if strings.Contains(testkit.Read(t, filepath.Join(s.Dir, "classes.csv")), "huge") {
		t.Error("a class that was tried was written")
	}
	b.click("Keep")
	b.waits("huge is in classes.csv.")
	classes("huge,,yes,yes,no\n")
	b.click("Undo")
	b.waits("The last change is undone.")
	if strings.Contains(testkit.Read(t, filepath.Join(s.Dir, "classes.csv")), "huge") {
		t.Error("the change was not undone")
	}

	b.click("Check")
	b.waits("Pairs of classes")
	b.looks("check")
	testkit.Write(t, s.Dir, "classes.csv", "class,colour::red,colour::blue,size::large,size::small\nold,1,0,0,1\n")
	b.click("Describe")
	b.click("All classes")
	b.click("old")
	b.click("red")
	b.waits("it was changed by another program")
	classes("old,1,0,0,1\n")
}
