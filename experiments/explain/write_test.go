package explain

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"flag"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

var update = flag.Bool("update", false, "write the golden texts anew")

func written(t *testing.T, x *Explanation, f Format, top int) string {
	t.Helper()
	var b strings.Builder
	if err := x.Write(&b, f, top); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// golden compares a text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s; go test -update writes it anew (-expected +found):\n%s", path, diff)
	}
}

// mistaken is a cuckoo that is said to be a warbler: two comparisons, one of which
// tells of a soft OR.
func mistaken(t *testing.T) *Explanation {
	t.Helper()
	m := birds(hard)
	return explainOrFail(t, m, seen(m, cuckoo, m.Classes[2]))
}

func TestTextIsAsGolden(t *testing.T) {
	golden(t, "mistaken.txt", written(t, mistaken(t), Text, 2))
	c := model.Config{Variant: model.KSoft, K: 2, Prior: model.PerAttribute, Complement: model.NoComplement, Zeta: 10}
	m := birds(c)
	golden(t, "learned.txt", written(t, explainOrFail(t, m, seen(m, cuckoo, "001.Dodo")), Text, 5))
}

var (
	head  = regexp.MustCompile(`(?s)<head>.*?</head>`)
	cells = regexp.MustCompile(`</t[dh]>\s*<t[dh][^>]*>`)
	tags  = regexp.MustCompile(`<[^>]*>`)
	blank = regexp.MustCompile(`\n\s*\n+`)
)

func TestPageIsAsGolden(t *testing.T) {
	page := head.ReplaceAllString(written(t, mistaken(t), HTML, 2), "")
	page = cells.ReplaceAllString(page, " | ")
	page = html.UnescapeString(tags.ReplaceAllString(page, ""))
	golden(t, "page.txt", strings.TrimSpace(blank.ReplaceAllString(page, "\n"))+"\n")
}

// hostile has names that are HTML, CSS and script.
func hostile(t *testing.T) string {
	t.Helper()
	const bad = `</td><script>alert("x")</script><img src=http://example.invalid onerror=alert(1)>' " & url(javascript:1)`
	m := birds(hard)
	for i := range m.Classes {
		m.Classes[i] += bad
	}
	for i := range m.Attributes {
		m.Attributes[i] += bad
	}
	for i := range m.Groups {
		m.Groups[i] += bad
	}
	m.Dataset += bad
	q := seen(m, cuckoo, m.Classes[2])
	q.Sample.From, q.Sample.ID = bad, bad
	q.Sample.Picture = image.NewGray(image.Rect(0, 0, 2, 2))
	q.Candidates.What = bad
	return written(t, explainOrFail(t, m, q), HTML, 3)
}

func TestPageEscapesNames(t *testing.T) {
	page := hostile(t)
	for _, banned := range []string{"<script", "<img src=http", "onerror=alert(1)>'"} {
		if strings.Contains(page, banned) {
			t.Errorf("expected names as text, found %q as HTML", banned)
		}
	}
	if !strings.Contains(page, "&lt;script&gt;") {
		t.Error("the names are not on the page")
	}
	for _, banned := range regexp.MustCompile(`style="[^"]*"`).FindAllString(page, -1) {
		if !regexp.MustCompile(`^style="width: [0-9.]+%"$`).MatchString(banned) {
			t.Errorf("expected widths alone in the style of elements, found %s", banned)
		}
	}
	balanced(t, page)
}

// balanced fails unless every element that must be closed is.
func balanced(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.ReplaceAll(page, "<!DOCTYPE html>", "")))
	d.Strict = false
	d.AutoClose, d.Entity = []string{"meta", "img", "col"}, xml.HTMLEntity
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			open = append(open, token.Name.Local)
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != token.Name.Local {
				t.Fatalf("%s is closed within %v", token.Name.Local, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("never closed: %v", open)
	}
}

func TestPageNeedsNothingBesideIt(t *testing.T) {
	page := written(t, mistaken(t), HTML, 3)
	for _, banned := range []string{"http://", "https://", "<script", "<link", "<img", "@import", "url(", "@font-face"} {
		if strings.Contains(page, banned) {
			t.Errorf("expected a page of its own, found %q in it", banned)
		}
	}
	balanced(t, page)
}

// Bars say nothing that the numbers beside them don't, and each table says what it is
// of.
func TestPageIsAccessible(t *testing.T) {
	page := written(t, mistaken(t), HTML, 3)
	tables := strings.Count(page, "<table")
	if n := strings.Count(page, "<caption>"); n != tables {
		t.Errorf("%d captions of %d tables", n, tables)
	}
	bars := strings.Count(page, `class="track"`) + strings.Count(page, `class="halves"`)
	if n := strings.Count(page, `class="track" aria-hidden="true"`) + strings.Count(page, `class="halves" aria-hidden="true"`); n != bars || bars == 0 {
		t.Errorf("%d of %d bars are hidden from readers of the page", n, bars)
	}
	if strings.Count(page, "<th>")+strings.Count(page, "<th ") != strings.Count(page, "scope=") {
		t.Error("a heading of a table without a scope")
	}
}

func TestPictureIsPartOfThePage(t *testing.T) {
	m := birds(hard)
	q := seen(m, cuckoo, "")
	picture := image.NewGray(image.Rect(0, 0, 3, 2))
	picture.SetGray(1, 1, color.Gray{200})
	q.Sample.Picture = picture
	page := written(t, explainOrFail(t, m, q), HTML, 1)
	found := regexp.MustCompile(`<img src="data:image/png;base64,([^"]*)" [^>]*alt="sample 7 of birds">`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("no picture in\n%s", page)
	}
	data, err := base64.StdEncoding.DecodeString(html.UnescapeString(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	back, err := png.Decode(bytes.NewReader(data))
	if err != nil || back.Bounds() != picture.Bounds() || back.At(1, 1) != picture.At(1, 1) {
		t.Errorf("%v, %v; expected the picture", back, err)
	}
}

// Beyond forty groups, the others are one line.
func TestManyGroupsAreCutShort(t *testing.T) {
	x := mistaken(t)
	c := &x.Comparisons[0]
	c.Groups = nil
	for i := range 45 {
		c.Groups = append(c.Groups, Group{Name: "has_g", Contribution: 1 - float64(i)/50})
	}
	x.Comparisons = x.Comparisons[:1]
	page := written(t, x, HTML, 1)
	if n := strings.Count(page, `class="halves"`); n != 40 {
		t.Errorf("%d groups with bars, expected 40", n)
	}
	// 1 - 40/50 + ... + 1 - 44/50 = 5 - 4.2
	if !strings.Contains(page, "5 others</th><td></td><td class=\"number\">&#43;0.80") {
		t.Error("the other groups are not told with what they come to together")
	}
}

func TestWithoutAFlip(t *testing.T) {
	x := mistaken(t)
	x.Comparisons = x.Comparisons[:1]
	x.Comparisons[0].Flip = Flip{Limit: 20, Changes: []Change{}}
	want := "White breasted Nuthatch is not ahead of Black billed Cuckoo after any 20 changes that a greedy search makes"
	for _, f := range []Format{Text, HTML} {
		if text := written(t, x, f, 1); !strings.Contains(text, want) {
			t.Errorf("%s doesn't say %q", f, want)
		}
	}
}

func TestHeadlines(t *testing.T) {
	m := birds(hard)
	for label, want := range map[string]string{
		"":           "sample 7 of birds is named Black billed Cuckoo",
		m.Classes[0]: "sample 7 of birds is named Black billed Cuckoo, rightly",
		m.Classes[1]: "sample 7 of birds is named Black billed Cuckoo, wrongly: it is a White breasted Nuthatch, which comes 2nd with p = 0.271",
		"001.Dodo":   "sample 7 of birds is named Black billed Cuckoo; its class, Dodo, is not among the classes",
	} {
		if got := explainOrFail(t, m, seen(m, cuckoo, label)).headline(); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	s := Sample{Index: 3, ID: "img\x1b_003.jpg", From: "birds"}
	if got := s.name(); got != "sample img\uFFFD_003.jpg of birds" {
		t.Errorf("a sample with an id is %q", got)
	}
}

// A single group, and one that contributes nothing.
func TestBarsOfNothing(t *testing.T) {
	c := hard
	c.Variant, c.K = model.KSoft, 1
	m := birds(c)
	q := seen(m, cuckoo, "")
	q.Candidates.U = dataset.NewMatrix[float64](3, 6) // no class has anything
	x := explainOrFail(t, m, q)
	if text := written(t, x, Text, 5); !strings.Contains(text, "the sum of what 1 group contributes") || !strings.Contains(text, "+0.00") {
		t.Errorf("expected a group of nothing:\n%s", text)
	}
	if page := written(t, x, HTML, 5); strings.Contains(page, "NaN") {
		t.Error("expected numbers on the page, found NaN")
	}
}
