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
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	dialog "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// browser is a tab of headless Chromium on the page.
type browser struct {
	t   *testing.T
	ctx context.Context
}

// opened serves things and opens the page. Errors that the browser reports are those of the test.
func opened(t *testing.T) (*Server, *browser) { return openedAt(t, things(t)) }

func openedAt(t *testing.T, dir string) (*Server, *browser) {
	t.Helper()
	m := identity()
	m.Correction, m.Stored.Detections = model.Correction{Kind: model.Subtract, Omega: 0.5}, dataset.Matrix[float32]{Rows: 1, Cols: 4, Data: []float32{0.8, 0.1, 0.3, 0.6}}
	s := testkit.Must(New(t.Context(), Config{Name: "things", Dir: dir, Model: m, Features: network}))(t)
	addresses := make(chan string)
	go func() { _ = s.Serve(t.Context(), 0, func(address string) error { addresses <- address; return nil }) }()
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *dialog.EventJavascriptDialogOpening:
			go func() { _ = chromedp.Run(ctx, dialog.HandleJavaScriptDialog(true)) }() // a test that ends needs no answer
		case *runtime.EventExceptionThrown:
			t.Error(e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if !strings.Contains(e.Entry.Text, "409 (Conflict)") && !strings.Contains(e.Entry.Text, "400 (Bad Request)") { // which the page shows
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

// brush chooses what a click on a chip means.
func (b *browser) brush(key string) {
	b.t.Helper()
	b.run(chromedp.Click(fmt.Sprintf(`section:not([hidden]) [data-key="brush%s"]`, key)))
}

// waits waits until the page shows a text.
func (b *browser) waits(text string) {
	b.t.Helper()
	b.run(chromedp.Poll(fmt.Sprintf(`document.body.innerText.includes(%q)`, text), nil, chromedp.WithPollingTimeout(10*time.Second)))
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
	for _, width := range []int64{500, 1200} {
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
  for (let e = title.nextElementSibling; e?.matches(".bar"); e = e.nextElementSibling)
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

// A class is described, a photograph is dropped and recognised, a class that does not exist yet is
// added and wins, is kept, and all is undone.
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
	b.brush("s")
	b.click("small")
	b.waits("3 of 4 described")
	classes("bare,yes,no,,sometimes\n")
	b.looks("class")
	b.run(chromedp.Click(".zoom"), chromedp.WaitVisible("#large img"), chromedp.Click("#large"), chromedp.WaitNotVisible("#large"))
	b.run(chromedp.Evaluate(`scrollTo(0, 0)`, nil), chromedp.KeyEvent("z", chromedp.KeyModifiers(input.ModifierCtrl)))
	b.waits("2 of 4 described")
	classes("bare,yes,no,,\n")
	b.click("All classes")
	b.run(chromedp.SendKeys(`[aria-label="Name of a new class"]`, "002.Bare\n"))
	b.waits("There is bare.")
	b.run(chromedp.Evaluate(`document.querySelector('[aria-label="Name of a new class"]').value = ""`, nil), chromedp.SendKeys(`[aria-label="Name of a new class"]`, "gaint\n"))
	b.waits("Class added.")
	b.click("gaint")
	b.waits("Rename")
	b.run(chromedp.Evaluate(`document.querySelector('[aria-label="Name of the class"]').value = "giant"`, nil))
	b.click("Rename")
	b.waits("giant: 0 of 4 described")
	b.brush("y")
	b.click("blue")
	b.waits("1 of 4 described")
	b.run(chromedp.Focus(`[data-key="giantsize::large"]`), chromedp.KeyEvent("n"))
	b.waits("2 of 4 described")
	b.run(chromedp.KeyEvent("y"))
	b.waits("3 of 4 described")
	classes("giant,,yes,no,yes\n")
	b.choose("Copy the description of", "old")
	b.click("to giant")
	b.waits("Copied from old to giant.")
	classes("giant,yes,no,no,yes\n")
	b.click("Undo")
	b.waits("The last change is undone.")
	classes("giant,,yes,no,yes\n")
	b.run(chromedp.NavigateBack(), chromedp.WaitVisible(".grid"))

	b.click("Try")
	path := testkit.Write(t, t.TempDir(), "blue.jpg", string(photograph(color.RGBA{B: 255, A: 255})))
	b.run(chromedp.SetUploadFiles(`input[type=file]`, []string{path}))
	b.waits("classes: big blue")
	b.waits("correction by seen classes")
	b.addsUp()
	b.looks("try")
	b.run(chromedp.SendKeys(`[aria-label="Name of a class to try"]`, "huge\n"), chromedp.Sleep(100*time.Millisecond))
	b.brush("y")
	b.click("blue")
	b.click("large")
	b.brush("n")
	b.click("small")
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
	b.click("By class")
	b.click("old")
	b.click("red")
	b.waits("it was changed by another program")
	classes("old,1,0,0,1\n")
}

// All classes are described by attribute: from nothing, with clicks and keys, and a draft is checked.
func TestByAttributeInBrowser(t *testing.T) {
	dir := things(t)
	testkit.Write(t, dir, "classes.csv", "class\n")
	s, b := openedAt(t, dir)
	csv := func() string { return testkit.Read(t, filepath.Join(s.Dir, "classes.csv")) }
	b.click("Check")
	b.waits("Nothing is described yet.")
	b.click("by attribute")
	b.waits("colour: which classes have it?")
	b.waits("3 pairs of classes are still alike, and 3 lack this group.")
	b.looks("attributes")
	b.run(chromedp.Click(`[aria-label="old: red: not known"]`), chromedp.Click(`[aria-label="bare: blue: not known"]`))
	b.waits("2 of 12 entries")
	b.run(chromedp.Focus(`[aria-label="big blue: blue: not known"]`), chromedp.KeyEvent("o"))
	b.waits("3 of 12 entries")
	b.run(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent("n"))
	b.waits("4 of 12 entries")
	b.choose("Classes shown", "open")
	b.waits("2 classes")
	b.click("the others: no")
	b.waits("6 of 12 entries")
	testkit.WantText(t, csv(), "old,yes,no,,\n", "big blue,no,often,,\n", "bare,no,yes,,\n")
	b.click("Next: size")
	b.waits("size: which classes have it?")
	b.run(chromedp.NavigateBack())
	b.waits("colour: which classes have it?")

	d := testkit.Must(openlayout.ReadDescriptions(t.Context(), dir))(t) // as dataset describe --from does
	testkit.Must(d.AddTraits(t.Context(), testkit.Write(t, t.TempDir(), "answer.csv", "class,size\nold,small\nbare,large (often)\n")))(t)
	testkit.NoError(t, d.Save())
	b.choose("Classes shown", "all")
	b.run(chromedp.Click(`[aria-label="old: red: yes"]`))
	b.waits("it was changed by another program")
	b.run(chromedp.Evaluate(`location.hash = "attributes/size"`, nil))
	b.waits("draft")
	b.looks("drafts")
	b.click("checked: 2 drafts")
	b.waits("Checked.")
	if _, err := os.Stat(filepath.Join(dir, "drafts.csv")); err == nil {
		t.Error("drafts.csv is still there")
	}
	testkit.WantText(t, csv(), "bare,no,yes,often,no\n")
	b.click("Undo (1)")
	b.waits("checked: 2 drafts")
}
