//go:build chromium

package testkit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Page is what headless Chromium reports about a page. Lengths are in pixels.
type Page struct {
	Scrolled []string  // starts of the texts of elements that are wider than their box
	Bars     []float64 // widths of the tracks of bars
	Pictures []struct {
		Width float64
		Texts int
		Least float64 // height of the smallest letters
	} // the SVG of figures
	Sortable int // columns of tables
	// Contents is the distance of the table of contents from the top of the window when the page is scrolled.
	Contents float64
}

// script returns the report on an open page. Its problems are anything loaded or not found, another
// colour scheme than the one asked for, a page wider than its window, what is cut off without a way to
// scroll, texts that reach beyond their picture, buttons that do not sort their column of numbers, and
// images without a picture or an alternative text.
const script = `(async () => {
  const problems = [];
  const all = (selector, of) => [...document.querySelectorAll(selector)].map(of);
  const expect = (ok, problem) => ok || problems.push(problem);
  const slack = 3; // pixels: the box of a text is higher than its letters
  const inside = (t, box) => t.left >= box.left - slack && t.right <= box.right + slack &&
    t.top >= box.top - slack && t.bottom <= box.bottom + slack;
  all("details", d => d.open = true);
  dispatchEvent(new Event("beforeprint")); // which loads all pictures
  await Promise.all(all("img", i => (i.loading = "eager", i.decode().catch(() => 0))));
  const report = {
    scrolled: all("body *", e => e).filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1)
      .map(e => e.textContent.trim().slice(0, 40)),
    bars: all(".track", e => e.clientWidth),
    pictures: all("figure svg", svg => {
      const box = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll("text")];
      texts.forEach(t => expect(inside(t.getBoundingClientRect(), box), "clipped: " + t.textContent));
      const sizes = texts.map(t => 
        parseFloat(getComputedStyle(t).fontSize) * box.width / svg.viewBox.baseVal.width);
      return {width: box.width, texts: texts.length, least: Math.min(...sizes)};
    }),
    sortable: all("th button", button => {
      const th = button.parentNode, column = () => [...th.closest("table").tBodies[0].rows]
        .map(r => parseFloat(r.cells[th.cellIndex]?.textContent)).filter(v => !isNaN(v));
      const before = column().toSorted((a, b) => a - b);
      for (const order of ["descending", "ascending"]) {
        if (before.length > 0 && th.ariaSort != order) button.click();
        if (th.ariaSort == order) expect(
          column().join() == (order == "ascending" ? before : before.toReversed()).join(),
          "not sorted: " + button.textContent);
      }
      if (before.length == 0) button.click();
      expect(th.ariaSort, "no order: " + button.textContent);
    }).length,
    contents: Math.max(0, ...all("nav", nav => (scrollTo(0, 3000), nav.getBoundingClientRect().top))),
    problems: problems,
  };
  const dark = matchMedia("(prefers-color-scheme: dark)").matches, page = document.documentElement,
    body = getComputedStyle(document.body);
  expect(dark == DARK && body.color != body.backgroundColor &&
    dark != (body.backgroundColor == "rgb(255, 255, 255)"),
    "dark: " + dark + ", text in " + body.color + " on " + body.backgroundColor);
  all("body *", e => expect(e.scrollWidth <= e.clientWidth + 1 ||
    !["hidden", "clip"].includes(getComputedStyle(e).overflowX),
    "cut off: " + e.textContent.trim().slice(0, 40)));
  expect(page.scrollWidth <= page.clientWidth, "wider than the window: " + page.scrollWidth);
  all("img", i => expect(i.naturalWidth && i.hasAttribute("alt"),
    "no picture or alternative text: " + i.alt));
  performance.getEntriesByType("resource").forEach(e =>
    expect(e.name.startsWith("data:"), "loaded: " + e.name));
  return report;
})()`

// OpenPage opens a page in headless Chromium, in a window of a width in pixels and in the light
// or dark colour scheme. It reports the problems that a page can have.
func OpenPage(t testing.TB, page string, width int, dark bool, checks ...string) (p Page) {
	t.Helper()
	b := NewBrowser(t, time.Minute, chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"))
	r := struct {
		*Page
		Problems []string
	}{Page: &p}
	b.Run(window(width, dark), chromedp.Navigate("file://"+Write(t, t.TempDir(), "page.html", page)),
		chromedp.Evaluate(strings.Replace(script, "DARK", fmt.Sprint(dark), 1), &r, Awaited))
	b.screenshot(strings.ReplaceAll(t.Name(), "/", "-"))
	if r.Problems = append(r.Problems, b.axe()...); len(r.Problems) > 0 {
		t.Errorf("found problems %q, expected none", r.Problems)
	}
	for _, check := range checks {
		var ok bool
		b.Run(chromedp.Evaluate("(async () => {"+check+"})()", &ok, Awaited))
		if !ok {
			t.Errorf("not true on the page: %s", check)
		}
	}
	return p
}
