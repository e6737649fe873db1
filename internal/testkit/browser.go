//go:build chromium

package testkit

import (
	"bytes"
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
		Width   float64
		Texts   int
		Clipped []string // texts that reach beyond the picture
	} // the SVG of figures
	Images []struct {
		Natural float64 // width of the file, 0 if it cannot be shown
		Alt     string
	}

	// What Check checks.
	Dark       bool
	Ink, Paper string   // colours of the text and of the background
	Overflow   float64  // width of the page beyond the window
	Errors     []string // of scripts, and of anything loaded, blocked or not found
}

// script collects the report in the copy of the page that the browser opens.
const script = `<script>
const errors = [];
addEventListener("error", e => errors.push(e.message || "not loaded: " + (e.target.src || e.target.href)), true);
addEventListener("securitypolicyviolation", e => errors.push("not allowed: " + e.blockedURI));
addEventListener("load", () => {
  const all = (selector, of) => [...document.querySelectorAll(selector)].map(of);
  const body = getComputedStyle(document.body);
  const slack = 3; // pixels: the box of a text is higher than its letters
  const clipped = (text, box) => {
    const t = text.getBoundingClientRect();
    return t.left < box.left - slack || t.right > box.right + slack || t.top < box.top - slack || t.bottom > box.bottom + slack;
  };
  all("details", d => d.open = true);
  const report = {
    scrolled: all("body *", e => e).filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.trim().slice(0, 40)),
    bars: all(".track", e => e.clientWidth),
    pictures: all("figure svg", svg => {
      const box = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll("text")];
      return {width: box.width, texts: texts.length, clipped: texts.filter(t => clipped(t, box)).map(t => t.textContent)};
    }),
    images: all("img", i => ({natural: i.naturalWidth, alt: i.alt})),
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    ink: body.color,
    paper: body.backgroundColor,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    errors: errors.concat(performance.getEntriesByType("resource").map(e => e.name).filter(name => !name.startsWith("data:"))),
  };
  const out = document.createElement("pre");
  out.id = "report";
  out.textContent = JSON.stringify(report);
  document.body.append(out);
});
</script>
`

var answer = regexp.MustCompile(`(?s)<pre id="report">(.*?)</pre>`)

// OpenPage opens a page in headless Chromium, in a window of a width in pixels and in the light
// or dark colour scheme.
func OpenPage(t testing.TB, page string, width int, dark bool) (p Page) {
	t.Helper()
	page = strings.Replace(page, "default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'", 1)
	path := Write(t, t.TempDir(), "page.html", strings.Replace(page, "<head>", "<head>\n"+script, 1))
	scheme := map[bool]int{true: 0, false: 1}[dark]
	// Containers offer nothing to build a sandbox from.
	cmd := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
		"--disable-background-networking", "--user-data-dir="+t.TempDir(), "--host-resolver-rules=MAP * ~NOTFOUND",
		fmt.Sprintf("--window-size=%d,800", width), fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme),
		"--enable-logging=stderr", "--virtual-time-budget=10000", "--dump-dom", "file://"+path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	found := answer.FindSubmatch(stdout)
	if found == nil {
		t.Fatalf("the page did not load in chromium: %v\n%s", err, stderr.String())
	}
	NoError(t, json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &p))
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			p.Errors = append(p.Errors, strings.TrimSpace(line))
		}
	}
	return p
}

// Check fails the test if the page is not in the colour scheme asked for, is wider than its
// window, loads anything, or has errors.
func (p Page) Check(t testing.TB, dark bool) {
	t.Helper()
	if p.Dark != dark || p.Ink == p.Paper || (p.Paper == "rgb(255, 255, 255)") == dark {
		t.Errorf("dark mode %v, expected %v: text in %s on %s", p.Dark, dark, p.Ink, p.Paper)
	}
	if p.Overflow > 0 {
		t.Errorf("the page is %g pixels wider than its window", p.Overflow)
	}
	if len(p.Errors) > 0 {
		t.Errorf("found errors and requests %q, expected none", p.Errors)
	}
}
