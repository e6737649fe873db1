//go:build chromium

package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Page is what headless Chromium reports about a page. Lengths are in pixels.
type Page struct {
	Dark     bool      `json:"dark"`     // the colour scheme in effect
	Ink      string    `json:"ink"`      // colour of the text
	Paper    string    `json:"paper"`    // colour of the background
	Overflow float64   `json:"overflow"` // width of the page beyond the window
	Scrolled []string  `json:"scrolled"` // starts of the texts of elements that are wider than their box
	Bars     []float64 `json:"bars"`     // widths of the tracks of bars
	Pictures []Picture `json:"pictures"`
	Images   []Image   `json:"images"`
	Requests []string  `json:"requests"` // of any kind
	Errors   []string  `json:"errors"`   // of scripts, and of anything blocked or not found
}

// Picture is the SVG of a figure.
type Picture struct {
	Width   float64  `json:"width"`
	Height  float64  `json:"height"`
	Texts   int      `json:"texts"`
	Clipped []string `json:"clipped"` // texts that reach beyond the picture
}

// Image is an image element; Natural is the width of the file, 0 if it cannot be shown.
type Image struct {
	Natural float64 `json:"natural"`
	Alt     string  `json:"alt"`
}

// script collects the report in the copy of the page that the browser opens.
const script = `<script>
const errors = [];
const slack = 3; // pixels: the box of a text is higher than its letters
addEventListener("error", e => errors.push(e.message || "not loaded: " + (e.target.src || e.target.href)), true);
addEventListener("securitypolicyviolation", e => errors.push("not allowed: " + e.blockedURI));
addEventListener("load", () => {
  document.querySelectorAll("details").forEach(d => d.open = true);
  const body = getComputedStyle(document.body);
  const pictures = [...document.querySelectorAll("figure svg")].map(svg => {
    const box = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")];
    const clipped = texts.filter(text => {
      const t = text.getBoundingClientRect();
      return t.left < box.left - slack || t.right > box.right + slack || t.top < box.top - slack || t.bottom > box.bottom + slack;
    });
    return {
      width: box.width, height: box.height,
      texts: texts.length, clipped: clipped.map(text => text.textContent),
    };
  });
  const images = [...document.images].map(i => ({natural: i.naturalWidth, alt: i.alt}));
  const overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const scrolled = [...document.querySelectorAll("body *")].filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1)
    .map(e => e.textContent.trim().slice(0, 40));
  const out = document.createElement("pre");
  out.id = "report";
  out.textContent = JSON.stringify({
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    ink: body.color, paper: body.backgroundColor,
    bars: [...document.querySelectorAll(".track")].map(e => e.clientWidth),
    overflow, scrolled, pictures, images, errors,
    requests: performance.getEntriesByType("resource").map(e => e.name).filter(name => !name.startsWith("data:")),
  });
  document.body.append(out);
});
</script>
`

var answer = regexp.MustCompile(`(?s)<pre id="report">(.*?)</pre>`)

// OpenPage opens a page in headless Chromium, in a window of a width in pixels and in the light
// or dark colour scheme.
func OpenPage(t testing.TB, page string, width int, dark bool) Page {
	t.Helper()
	chromium := findChromium(t)
	page = strings.Replace(page, "default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'", 1)
	page = strings.Replace(page, "<head>", "<head>\n"+script, 1)
	path := filepath.Join(t.TempDir(), "page.html")
	NoError(t, os.WriteFile(path, []byte(page), 0o600))
	scheme := 1
	if dark {
		scheme = 0
	}
	// Containers offer nothing to build a sandbox from.
	cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
		"--disable-background-networking", "--user-data-dir="+t.TempDir(), "--host-resolver-rules=MAP * ~NOTFOUND",
		fmt.Sprintf("--window-size=%d,800", width), fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme),
		"--enable-logging=stderr", "--virtual-time-budget=10000", "--dump-dom", (&url.URL{Scheme: "file", Path: path}).String())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", chromium, err, stderr.String())
	}
	found := answer.FindStringSubmatch(stdout.String())
	if found == nil {
		t.Fatalf("the page did not load:\n%s", stderr.String())
	}
	var p Page
	NoError(t, json.Unmarshal([]byte(html.UnescapeString(found[1])), &p))
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			p.Errors = append(p.Errors, strings.TrimSpace(line))
		}
	}
	return p
}

func findChromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("expected Chromium, found none: apt-get install chromium")
	return ""
}

// Check fails the test if the page is not in the colour scheme asked for, is wider than its
// window, loads anything, or has errors.
func (p Page) Check(t testing.TB, dark bool) {
	t.Helper()
	if p.Dark != dark {
		t.Fatalf("dark mode: found %v, expected %v", p.Dark, dark)
	}
	if p.Overflow > 0 {
		t.Errorf("the page is %g pixels wider than its window", p.Overflow)
	}
	if len(p.Errors) > 0 || len(p.Requests) > 0 {
		t.Errorf("found errors %q and requests %q, expected none", p.Errors, p.Requests)
	}
	if light := p.Paper == "rgb(255, 255, 255)"; p.Ink == p.Paper || light == dark {
		t.Errorf("found text in %s on %s", p.Ink, p.Paper)
	}
}
