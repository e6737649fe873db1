//go:build chromium

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// seen is what a browser says of a page.
type seen struct {
	Dark     bool        `json:"dark"`     // the colour scheme that the page was asked for
	Body     [2][3]uint8 `json:"body"`     // colour of text and paper
	Pictures []pictured  `json:"pictures"` // in their order
	Requests []string    `json:"requests"` // to anywhere
	Errors   []string    `json:"errors"`   // of scripts, and of what is not allowed or not there
}

// pictured is a picture as it is laid out, in pixels.
type pictured struct {
	Width   float64  `json:"width"`
	Height  float64  `json:"height"`
	Paper   [3]uint8 `json:"paper"`
	Texts   int      `json:"texts"`
	Clipped []string `json:"clipped"` // texts that reach beyond the picture
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
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify({
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    body: [rgb(body.color), rgb(body.backgroundColor)],
    pictures, errors,
    requests: performance.getEntriesByType("resource").map(e => e.name),
  });
  document.body.append(out);
});
</script>
`

var answer = regexp.MustCompile(`(?s)<pre id="seen">(.*?)</pre>`)

// browse opens a page in headless Chromium and returns what it says of it.
func browse(t *testing.T, page string, dark bool) seen {
	t.Helper()
	chromium := findChromium(t)
	page = strings.Replace(page, "default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'", 1)
	page = strings.Replace(page, "<head>", "<head>\n"+look, 1)
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
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
		"--enable-logging=stderr", "--virtual-time-budget=10000", "--dump-dom", "file://"+path)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", chromium, err, stderr.String())
	}
	found := answer.FindStringSubmatch(stdout.String())
	if found == nil {
		t.Fatalf("the page did not load:\n%s", stderr.String())
	}
	var s seen
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

func findChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("expected Chromium, found none: apt-get install chromium")
	return ""
}

func TestPageInBrowser(t *testing.T) {
	root := t.TempDir()
	writeAll(t, root)
	p := NewPage(read(t, root))
	page := render(t, p)
	for name, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(name, func(t *testing.T) {
			s := browse(t, page, dark)
			if s.Dark != dark {
				t.Fatalf("expected the browser to ask for dark %v, found %v", dark, s.Dark)
			}
			if len(s.Errors) > 0 || len(s.Requests) > 0 {
				t.Errorf("expected no errors and no requests, found %q and %q", s.Errors, s.Requests)
			}
			if ratio := contrast(s.Body[0], s.Body[1]); ratio < 7 {
				t.Errorf("expected text that stands out 7 to 1, as WCAG's level AAA does, found %.1f", ratio)
			}
			if isDark := luminance(s.Body[1]) < 0.1; isDark != dark {
				t.Errorf("expected dark paper %v, found the colour %v", dark, s.Body[1])
			}
			checkPictures(t, p.Figures(), s.Pictures)
		})
	}
}

func checkPictures(t *testing.T, figures []Figure, pictures []pictured) {
	t.Helper()
	if len(pictures) != len(figures) {
		t.Fatalf("expected %d pictures, found %d", len(figures), len(pictures))
	}
	for i, p := range pictures {
		// All are narrower than the window, so that none needs to shrink.
		width, height := figures[i].Picture.Size()
		if inPixels := 4. / 3; p.Width < width.Points()*inPixels-1 || p.Height < height.Points()*inPixels-1 {
			t.Errorf("%s: expected %v x %v points, found %g x %g pixels", figures[i].Name, width, height, p.Width, p.Height)
		}
		if p.Texts == 0 || len(p.Clipped) > 0 {
			t.Errorf("%s: expected texts within the picture, found %d, clipped %q", figures[i].Name, p.Texts, p.Clipped)
		}
		if p.Paper != [3]uint8{255, 255, 255} {
			t.Errorf("%s: expected white paper, found %v", figures[i].Name, p.Paper)
		}
	}
}

// What the check above relies on: a page that does what the report must not is seen
// to do it.
func TestBrowserTellsOfRequestsAndErrors(t *testing.T) {
	s := browse(t, `<!DOCTYPE html><html><head></head><body><img src="http://example.invalid/a.png">
<script>console.error("a complaint"); undefinedFunction()</script></body></html>`, false)
	all := strings.Join(append(s.Errors, s.Requests...), "\n")
	for _, want := range []string{"a complaint", "undefinedFunction", "http://example.invalid/a.png"} {
		if !strings.Contains(all, want) {
			t.Errorf("expected to be told of %q, found %q", want, all)
		}
	}
}
