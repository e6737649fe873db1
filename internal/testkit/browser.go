//go:build chromium

package testkit

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"os/exec"
	"regexp"
	"strings"
	"testing"
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
	Sortable int     // columns of tables
	Contents float64 // of the table of contents, the distance from the top of the window when the page is scrolled
}

// script collects the report in the copy of the page that the browser opens. Its problems are
// errors of scripts, anything loaded, blocked or not found, another colour scheme than the one
// asked for, a page wider than its window, what is cut off without a way to scroll, texts that
// reach beyond their picture, buttons that do not sort their column of numbers, and images without
// a picture or an alternative text.
const script = `<script>
const problems = [];
addEventListener("error", e => problems.push(e.message || "not loaded: " + (e.target.src || e.target.href)), true);
addEventListener("securitypolicyviolation", e => problems.push("not allowed: " + e.blockedURI));
addEventListener("load", () => {
  const all = (selector, of) => [...document.querySelectorAll(selector)].map(of);
  const expect = (ok, problem) => ok || problems.push(problem);
  const slack = 3; // pixels: the box of a text is higher than its letters
  const inside = (t, box) => t.left >= box.left - slack && t.right <= box.right + slack && t.top >= box.top - slack && t.bottom <= box.bottom + slack;
  all("details", d => d.open = true);
  const report = {
    scrolled: all("body *", e => e).filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.trim().slice(0, 40)),
    bars: all(".track", e => e.clientWidth),
    pictures: all("figure svg", svg => {
      const box = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll("text")];
      texts.forEach(t => expect(inside(t.getBoundingClientRect(), box), "clipped: " + t.textContent));
      const sizes = texts.map(t => parseFloat(getComputedStyle(t).fontSize) * box.width / svg.viewBox.baseVal.width);
      return {width: box.width, texts: texts.length, least: Math.min(...sizes)};
    }),
    sortable: all("th button", button => {
      const th = button.parentNode, column = () => [...th.closest("table").tBodies[0].rows].map(r => parseFloat(r.cells[th.cellIndex]?.textContent)).filter(v => !isNaN(v));
      const before = column().toSorted((a, b) => a - b);
      for (const order of ["descending", "ascending"]) {
        if (before.length > 0 && th.ariaSort != order) button.click();
        if (th.ariaSort == order) expect(column().join() == (order == "ascending" ? before : before.toReversed()).join(), "not sorted: " + button.textContent);
      }
      if (before.length == 0) button.click();
      expect(th.ariaSort, "no order: " + button.textContent);
    }).length,
    contents: Math.max(0, ...all("nav", nav => (scrollTo(0, 3000), nav.getBoundingClientRect().top))),
    problems: problems,
  };
  const dark = matchMedia("(prefers-color-scheme: dark)").matches, page = document.documentElement, body = getComputedStyle(document.body);
  expect(dark == DARK && body.color != body.backgroundColor && dark != (body.backgroundColor == "rgb(255, 255, 255)"),
    "dark: " + dark + ", text in " + body.color + " on " + body.backgroundColor);
  all("body *", e => expect(e.scrollWidth <= e.clientWidth + 1 || !["hidden", "clip"].includes(getComputedStyle(e).overflowX), "cut off: " + e.textContent.trim().slice(0, 40)));
  expect(page.scrollWidth <= page.clientWidth, "wider than the window: " + page.scrollWidth);
  all("img", i => expect(i.naturalWidth && i.alt, "no picture or alternative text: " + i.alt));
  performance.getEntriesByType("resource").forEach(e => expect(e.name.startsWith("data:"), "loaded: " + e.name));
  const out = document.createElement("pre");
  out.id = "report";
  out.textContent = JSON.stringify(report);
  document.body.append(out);
});
</script>
`

var answer = regexp.MustCompile(`(?s)<pre id="report">(.*?)</pre>`)

// OpenPage opens a page in headless Chromium, in a window of a width in pixels and in the light
// or dark colour scheme. It reports the problems that a page can have.
func OpenPage(t testing.TB, page string, width int, dark bool) (p Page) {
	t.Helper()
	script := strings.Replace(script, "DARK", fmt.Sprint(dark), 1)
	_, content, _ := strings.Cut(strings.TrimSuffix(script, "</script>\n"), ">")
	digest := sha256.Sum256([]byte(content))
	own := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'"
	if strings.Contains(page, "script-src") { // the page's own script must have its digest
		page = strings.Replace(page, "script-src", own, 1)
	} else {
		page = strings.Replace(page, "default-src 'none'", "default-src 'none'; "+own, 1)
	}
	path := Write(t, t.TempDir(), "page.html", strings.Replace(page, "<head>", "<head>\n"+script, 1))
	// Containers offer nothing to build a sandbox from.
	cmd := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
		"--disable-background-networking", "--user-data-dir="+t.TempDir(), "--host-resolver-rules=MAP * ~NOTFOUND",
		fmt.Sprintf("--window-size=%d,800", width), fmt.Sprintf("--blink-settings=preferredColorScheme=%d", map[bool]int{true: 0, false: 1}[dark]),
		"--enable-logging=stderr", "--virtual-time-budget=10000", "--dump-dom", "file://"+path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	found := answer.FindSubmatch(stdout)
	if found == nil {
		t.Fatalf("the page did not load in chromium: %v\n%s", err, stderr.String())
	}
	r := struct {
		*Page
		Problems []string
	}{Page: &p}
	NoError(t, json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &r))
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			r.Problems = append(r.Problems, strings.TrimSpace(line))
		}
	}
	if len(r.Problems) > 0 {
		t.Errorf("found problems %q, expected none", r.Problems)
	}
	return p
}
