// Package browser looks at pages in headless Chromium, for tests: what they ask the
// network for, what goes wrong in them, and how they are laid out.
//
// Tests that use it carry the build tag "chromium", as not every machine has one.
package browser

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

// Seen is what the browser says of a page. Lengths are in pixels.
type Seen struct {
	Dark     bool      `json:"dark"`   // the colour scheme that the page was asked for
	Ink      Colour    `json:"ink"`    // of the text of the body
	Paper    Colour    `json:"paper"`  // below it
	Beyond   float64   `json:"beyond"` // how far the page is wider than the window
	Pictures []Picture `json:"pictures"`
	Images   []Image   `json:"images"`
	Requests []string  `json:"requests"` // to anywhere
	Errors   []string  `json:"errors"`   // of scripts, and of what is not allowed or not there
}

// Picture is an SVG of a figure as it is laid out.
type Picture struct {
	Width   float64  `json:"width"`
	Height  float64  `json:"height"`
	Paper   Colour   `json:"paper"`
	Texts   int      `json:"texts"`
	Clipped []string `json:"clipped"` // texts that reach beyond the picture
}

// Image is one of the page's, as it is laid out; Natural is its own width, 0 where it
// can't be shown.
type Image struct {
	Width   float64 `json:"width"`
	Natural float64 `json:"natural"`
	Alt     string  `json:"alt"`
}

// look is put into the copy of the page that the browser is given.
const look = `<script>
const rgb = colour => colour.match(/\d+/g).slice(0, 3).map(Number);
const errors = [];
addEventListener("error", e => errors.push(e.message || "not loaded: " + (e.target.src || e.target.href)), true);
addEventListener("securitypolicyviolation", e => errors.push("not allowed: " + e.blockedURI));
addEventListener("load", () => {
  const body = getComputedStyle(document.body);
  const pictures = [...document.querySelectorAll("figure svg")].map(svg => {
    const box = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")];
    const clipped = texts.filter(text => {
      const t = text.getBoundingClientRect();
      return t.left < box.left || t.right > box.right || t.top < box.top || t.bottom > box.bottom;
    });
    return {
      width: box.width, height: box.height, paper: rgb(getComputedStyle(svg).backgroundColor),
      texts: texts.length, clipped: clipped.map(text => text.textContent),
    };
  });
  const images = [...document.images].map(i => ({width: i.width, natural: i.naturalWidth, alt: i.alt}));
  const beyond = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify({
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    ink: rgb(body.color), paper: rgb(body.backgroundColor),
    beyond, pictures, images, errors,
    requests: performance.getEntriesByType("resource").map(e => e.name).filter(name => !name.startsWith("data:")),
  });
  document.body.append(out);
});
</script>
`

var answer = regexp.MustCompile(`(?s)<pre id="seen">(.*?)</pre>`)

// Look opens a page in headless Chromium, 1200 pixels wide and in the light or the
// dark, and returns what it says of it.
func Look(t testing.TB, page string, dark bool) Seen {
	t.Helper()
	chromium := find(t)
	page = strings.Replace(page, "default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'", 1)
	page = strings.Replace(page, "<head>", "<head>\n"+look, 1)
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	scheme := 1
	if dark {
		scheme = 0
	}
	// No sandbox, since in a container there is nothing to make one of.
	cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
		"--disable-background-networking", "--user-data-dir="+t.TempDir(), "--host-resolver-rules=MAP * ~NOTFOUND",
		"--window-size=1200,800", fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme),
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
	var s Seen
	if err := json.Unmarshal([]byte(html.UnescapeString(found[1])), &s); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			s.Errors = append(s.Errors, strings.TrimSpace(line))
		}
	}
	return s
}

func find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("expected Chromium, found none: apt-get install chromium")
	return ""
}

// Check fails the test unless the page is in the asked-for scheme, stands out from
// its paper, asks for nothing and has no errors.
func (s Seen) Check(t testing.TB, dark bool) {
	t.Helper()
	if s.Dark != dark {
		t.Fatalf("expected the browser to ask for dark %v, found %v", dark, s.Dark)
	}
	if len(s.Errors) > 0 || len(s.Requests) > 0 {
		t.Errorf("expected no errors and no requests, found %q and %q", s.Errors, s.Requests)
	}
	if ratio := Contrast(s.Ink, s.Paper); ratio < 7 {
		t.Errorf("expected text that stands out 7 to 1, as WCAG's level AAA does, found %.1f", ratio)
	}
	if isDark := s.Paper.luminance() < 0.1; isDark != dark {
		t.Errorf("expected dark paper %v, found the colour %v", dark, s.Paper)
	}
}
