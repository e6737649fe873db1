package explain

import (
	"bytes"
	"encoding/base64"
	"html"
	"image"
	"image/color"
	"image/png"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

func written(t *testing.T, r *Result, f Format, top int) string {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b, f, top); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// mistaken is a cuckoo whose true class is a warbler: two comparisons, one with a
// substitution.
func mistaken(t *testing.T) *Result {
	t.Helper()
	m := birds(hard)
	return explainOrFail(t, m, detected(m, cuckoo, m.Classes[2]))
}

// unspaced replaces runs of spaces, so that tests do not depend on the width of columns.
func unspaced(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestText(t *testing.T) {
	text := unspaced(written(t, mistaken(t), Text, 2))
	for _, want := range []string{
		"sample 7 of birds is predicted as Black billed Cuckoo, which is wrong: the true class is Prothonotary Warbler, rank 3",
		"semantic-hard trained on birds (uniform prior, De Morgan none-of-group term), choosing from 3 classes",
		"Black billed Cuckoo is 2.2 times as likely as White breasted Nuthatch, the runner-up, mainly because of",
		"Black billed Cuckoo against White breasted Nuthatch, the runner-up The sum over 3 groups favours Black billed Cuckoo by 0.79",
		"Black billed Cuckoo against Prothonotary Warbler, the true class The sum over 3 groups favours Black billed Cuckoo by",
		"primary color: brown is described but was not detected; white was detected in its place (soft OR). With both, the sum favours Black billed Cuckoo by",
		"│ 1 other │", "│ total │ Black billed Cuckoo │",
		"│ solid │ 0.60 │ 0.90 │ 0.60 │", // detected, and described for both classes
		"│ none of the group │",
		"If a single attribute were detected differently",
		"White breasted Nuthatch becomes more likely than Black billed Cuckoo after 1 change",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "the model was trained on samples of the true class") {
		t.Error("expected no remark on a class that is unseen")
	}
	if strings.Contains(text, "prior │") {
		t.Error("a uniform prior has a column")
	}

	m := birds(model.Config{Variant: model.KSoft, K: 2, Prior: model.PerAttribute, Complement: model.NoComplement, Zeta: 10})
	text = unspaced(written(t, explainOrFail(t, m, detected(m, cuckoo, "")), Text, 5))
	for _, want := range []string{"no none-of-group term", "group 0 (primary color: brown, primary color: │", "│ attribute │ detected │ prior │", " of it) │"} {
		if !strings.Contains(text, want) {
			t.Errorf("learned groups: expected %q in\n%s", want, text)
		}
	}
}

func TestPage(t *testing.T) {
	r := mistaken(t)
	r.Sample.Trained = true
	page := written(t, r, HTML, 2)
	tags := regexp.MustCompile(`<[^>]*>`)
	text := unspaced(html.UnescapeString(tags.ReplaceAllString(page, " ")))
	for _, want := range []string{
		"which is wrong: the true class is Prothonotary Warbler", "Most likely classes", "primary color: brown is described but was not detected",
		"times as likely as White breasted Nuthatch, the runner-up", "favours Black billed Cuckoo by 0.79",
		"choosing from 3 classes; the model was trained on samples of the true class", "detected in the sample, and described for each class",
		"solid 0.60 0.90 0.60 92.1 % 71.5 %", "none of the group", "If a single attribute were detected differently",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, text)
		}
	}
}

// hostile is a page with names that contain HTML, CSS and script.
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
	q := detected(m, cuckoo, m.Classes[2])
	q.Sample.From = bad
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
			t.Errorf("expected only widths in styles, found %s", banned)
		}
	}
}

func TestPageLoadsNothing(t *testing.T) {
	page := written(t, mistaken(t), HTML, 3)
	for _, banned := range []string{"http://", "https://", "<script", "<link", "<img", "@import", "url(", "@font-face"} {
		if strings.Contains(page, banned) {
			t.Errorf("found %q in the page", banned)
		}
	}
}

// Bars only repeat the numbers beside them, and each table has a caption.
func TestPageIsAccessible(t *testing.T) {
	page := written(t, mistaken(t), HTML, 3)
	tables := strings.Count(page, "<table")
	if n := strings.Count(page, "<caption>"); n != tables {
		t.Errorf("%d captions of %d tables", n, tables)
	}
	bars := strings.Count(page, `class="track"`) + strings.Count(page, `class="halves"`)
	if n := strings.Count(page, `class="track" aria-hidden="true"`) + strings.Count(page, `class="halves" aria-hidden="true"`); n != bars || bars == 0 {
		t.Errorf("%d of %d bars are hidden from screen readers", n, bars)
	}
	if strings.Count(page, "<th>")+strings.Count(page, "<th ") != strings.Count(page, "scope=") {
		t.Error("a table heading without a scope")
	}
}

func TestPageEmbedsThePicture(t *testing.T) {
	m := birds(hard)
	q := detected(m, cuckoo, "")
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

func TestPageSumsOtherGroups(t *testing.T) {
	x := mistaken(t)
	c := &x.Comparisons[0]
	c.Groups = nil
	for i := range 5 {
		c.Groups = append(c.Groups, Group{Name: "has_g", Contribution: 1 - 0.1*float64(i)})
	}
	x.Comparisons = x.Comparisons[:1]
	page := written(t, x, HTML, 3)
	if n := strings.Count(page, `class="halves"`); n != 3 {
		t.Errorf("%d groups with bars, expected 3", n)
	}
	if !strings.Contains(page, "2 others</th><td></td><td>favours Black billed Cuckoo by 1.30</td>") { // 0.7 + 0.6
		t.Error("the sum of the other groups is missing")
	}
}

func TestHeadlines(t *testing.T) {
	m := birds(hard)
	for label, want := range map[string]string{
		"":           "sample 7 of birds is predicted as Black billed Cuckoo",
		m.Classes[0]: "sample 7 of birds is predicted as Black billed Cuckoo, which is correct",
		m.Classes[1]: "sample 7 of birds is predicted as Black billed Cuckoo, which is wrong: the true class is White breasted Nuthatch, rank 2 with p = 0.271",
		"001.Dodo":   "sample 7 of birds is predicted as Black billed Cuckoo; its true class, Dodo, is not among the classes",
	} {
		if got := explainOrFail(t, m, detected(m, cuckoo, label)).headline(); got != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
	r := mistaken(t)
	r.Comparisons[0].Flip = Flip{Limit: 20}
	if text := written(t, r, Text, 1); !strings.Contains(text, "A greedy search of up to 20 changes found none that make White breasted Nuthatch more likely") {
		t.Errorf("expected no flip in\n%s", text)
	}
}

// The reason is the attribute that adds most to the class that the group favours, otherwise
// the one that the other class has and that was not detected.
func TestReason(t *testing.T) {
	term := func(name string, p, class, against float64) Term {
		return Term{Attribute: "has_color::" + name, Gamma: 1, Used: Pair{class, against}, Term: Pair{class * p, against * p}}
	}
	adds, helps := term("brown", 0.8, 0.9, 0.2), term("buff", 0.7, 0.3, 0.2)
	lacks, hardly := term("grey", 0.1, 0, 0.6), term("blue", 0.1, 0, 0.09)
	for _, c := range []struct {
		name         string
		contribution float64
		terms        []Term
		want         string
	}{
		{"for the class", 1, []Term{helps, adds, hardly, lacks}, "color: brown"},
		{"for the other", -1, []Term{helps, adds, hardly, lacks}, "color: grey"},
		{"nothing that adds", 1, []Term{hardly, lacks}, "color: grey (not detected)"},
		{"hardly anything", 1, []Term{hardly}, "color"},
		{"no attributes", 1, nil, "color"},
	} {
		if got := (Group{Name: "has_color", Contribution: c.contribution, Terms: c.terms}).reason(); got != c.want {
			t.Errorf("%s: %q, expected %q", c.name, got, c.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	c := Comparison{Class: "wren", Against: "gull", Reason: RunnerUp, LogOdds: math.Log(2), Groups: []Group{
		{Name: "size", Contribution: 0.9}, {Name: "bill", Contribution: -0.4}, {Name: "crown", Contribution: 0.2}, {Name: "tail", Contribution: 0.004},
	}}
	for logOdds, want := range map[float64]string{
		math.Log(2): "wren is 2.0 times as likely as gull, the runner-up, mainly because of size and crown; bill favours gull most.",
		0.01:        "wren is about as likely as gull, the runner-up, mainly because of size and crown; bill favours gull most.",
		30:          "wren is over a million times as likely as gull, the runner-up, mainly because of size and crown; bill favours gull most.",
	} {
		if c.LogOdds = logOdds; c.verdict() != want {
			t.Errorf("found %q, expected %q", c.verdict(), want)
		}
	}
}

// What rounds to zero is not listed: unlikely classes, groups and changes without effect,
// and a none-of-group term without a share.
func TestZerosAreFolded(t *testing.T) {
	r := mistaken(t)
	r.Classes, r.Likely = 9, []Probability{{Class: "wren", P: 0.9996}, {Class: "gull", P: 0.0004}}
	if list := r.likely(); len(list) != 2 || list[1].Class != "8 others" || math.Abs(list[1].P-0.0004) > 1e-9 {
		t.Errorf("found %+v, expected one class and the others", list)
	}
	c := Comparison{
		Groups:  []Group{{Contribution: 1}, {Contribution: -0.004}, {Contribution: 0.001}},
		Changes: []Change{{By: -0.5}, {By: 0.001}},
	}
	if groups, rest, others := c.shown(5); len(groups) != 1 || others != 2 || math.Abs(rest+0.003) > 1e-9 {
		t.Errorf("found %d groups and %d others with %g, expected 1 and 2 with -0.003", len(groups), others, rest)
	}
	if changes := c.changes(); len(changes) != 1 {
		t.Errorf("found %+v, expected one change", changes)
	}
	if rows := r.rows(Group{None: None{Share: Pair{0.001, 0.004}}}); len(rows) != 0 {
		t.Errorf("found %+v, expected no rows", rows)
	}
}

// Rows list at most six attributes that matter, those with the highest descriptions
// first; all others in one row, if they matter; and the none-of-group term.
func TestRows(t *testing.T) {
	term := func(name string, used, share float64) Term {
		return Term{Attribute: name, Gamma: 1, Used: Pair{Class: used}, Share: Pair{Class: share}}
	}
	g := Group{
		Terms: []Term{
			term("carries", 0.05, 0.3), term("described", 0.5, 0), term("neither", 0.09, 0.04), term("most", 0.9, 0.2),
			term("c", 0.2, 0), term("d", 0.3, 0), term("e", 0.4, 0), term("seventh", 0.8, 0.01),
		},
		Others: Others{Count: 3, Share: Pair{Class: 0.02, Against: 0.1}},
		None:   None{Detected: 0.4, Share: Pair{Class: 0.43}},
	}
	x := &Result{Complement: model.DeMorgan}
	names := func() (list []string) {
		for _, r := range x.rows(g) {
			list = append(list, r.Name)
		}
		return list
	}
	want := []string{"most", "described", "e", "d", "c", "carries", "other attributes", "none of the group"}
	if diff := cmp.Diff(want, names()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	rows := x.rows(g)
	closeTo(t, "share of other attributes", rows[6].Share.Class, 0.04+0.01+0.02)
	closeTo(t, "share of other attributes, of the other class", rows[6].Share.Against, 0.1)
	if *rows[7].Detected != 0.4 {
		t.Errorf("none of the group is detected with %g", *rows[7].Detected)
	}

	x.Complement = model.Const
	if last := x.rows(g)[7]; last.Name != "none of the group" || last.Detected != nil {
		t.Errorf("a constant none-of-group term is %+v", last)
	}
	x.Complement = model.NoComplement
	if last := x.rows(g)[6]; last.Name != "other attributes" || len(x.rows(g)) != 7 {
		t.Errorf("without a none-of-group term the last row is %+v", last)
	}
	g.Terms, g.Others = g.Terms[:1], Others{Count: 300, Share: Pair{Class: 0.004}}
	if diff := cmp.Diff([]string{"carries"}, names()); diff != "" {
		t.Errorf("others that hardly matter (-want +got):\n%s", diff)
	}
}

// A single group, which contributes nothing.
func TestGroupWithoutContribution(t *testing.T) {
	c := hard
	c.Variant, c.K = model.KSoft, 1
	m := birds(c)
	q := detected(m, cuckoo, "")
	q.Candidates.U = dataset.NewMatrix[float64](3, 6) // no class has anything
	x := explainOrFail(t, m, q)
	if text := written(t, x, Text, 5); !strings.Contains(text, "The sum over 1 group favours neither class") {
		t.Errorf("expected a group of nothing:\n%s", text)
	}
	if page := written(t, x, HTML, 5); strings.Contains(page, "NaN") {
		t.Error("NaN on the page")
	}
}
