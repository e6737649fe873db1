//go:build chromium

package serve

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// opened serves a data set and opens the page.
func opened(t *testing.T, c Page) (*Server, *testkit.Browser) {
	t.Helper()
	b := testkit.NewBrowser(t, 5*time.Minute)
	m := identity()
	m.Decision, m.Reference.Detections = model.Decision{Kind: model.Subtract, Scoring: model.Scoring{Omega: 0.5}}, dataset.Matrix[float32]{Rows: 1, Cols: 4, Data: []float32{0.8, 0.1, 0.3, 0.6}}
	c.Name, c.Model, c.Features = "things", m, network
	s := testkit.Must(New(t.Context(), c))(t)
	addresses := make(chan string)
	go func() { _ = s.Serve(t.Context(), 0, func(address string) error { addresses <- address; return nil }) }()
	b.Run(chromedp.Navigate(<-addresses), chromedp.WaitVisible(".grid"))
	return s, b
}

// brush chooses what a click on a chip means.
func brush(b *testkit.Browser, key string) {
	b.Run(chromedp.Click(fmt.Sprintf(`section:not([hidden]) [data-key="brush%s"]`, key)))
}

// addsUp checks that the bars of the groups and of the correction, and the number of the sentence, add
// up to the log odds above them, to the digits shown.
func addsUp(t *testing.T, b *testkit.Browser) {
	t.Helper()
	var x struct {
		Text                           string
		Total, Numbers, Bars, Sentence float64
	}
	b.Run(chromedp.Evaluate(`(() => {
  const title = [...document.querySelectorAll("#try h3")].find(h => h.textContent.startsWith("Groups: ")), rows = [];
  for (let e = title.nextElementSibling; e?.matches(".bar"); e = e.nextElementSibling)
    rows.push({number: parseFloat(e.querySelector(".number").textContent), width: e.querySelector("meter").value * (e.querySelector(".against") ? -1 : 1)});
  const sum = list => list.reduce((s, v) => s + v, 0), widest = rows.reduce((a, r) => Math.abs(r.number) > Math.abs(a.number) ? r : a);
  return {text: title.textContent, total: parseFloat(title.textContent.split("log odds ")[1]), numbers: sum(rows.map(r => r.number)), bars: sum(rows.map(r => r.width)) * widest.number / widest.width,
    sentence: parseFloat(byId("sentence").textContent.split("Log odds: ")[1])};
})()`, &x))
	for what, v := range map[string]float64{"numbers": x.Numbers, "bars": x.Bars, "sentence": x.Sentence} {
		testkit.Near(t, what, v, x.Total, 0.02)
	}
	testkit.WantText(t, x.Text, fmt.Sprintf("log odds %+.2f", x.Total))
}

// A class is described, a photograph is dropped and recognised, a class that does not exist yet is
// added and wins, is kept, and all is undone.
func TestPageInBrowser(t *testing.T) {
	s, b := opened(t, Page{Dir: things(t)})
	classes := func(want ...string) {
		t.Helper()
		testkit.WantText(t, testkit.Read(t, filepath.Join(s.Dir, "classes.csv")), want...)
	}
	b.Looks("describe")
	b.Click("bare")
	b.Click("red")
	b.Waits("Saved.")
	b.Click("the others: no")
	b.Waits("2 of 4 described")
	brush(b, "s")
	b.Click("small")
	b.Waits("3 of 4 described")
	classes("bare,yes,no,,sometimes\n")
	b.Looks("class")
	b.Run(chromedp.Click(".zoom"), chromedp.WaitVisible("#large img"), chromedp.Click("#large"), chromedp.WaitNotVisible("#large"))
	b.Run(chromedp.Evaluate(`scrollTo(0, 0)`, nil), chromedp.KeyEvent("z", chromedp.KeyModifiers(input.ModifierCtrl)))
	b.Waits("2 of 4 described")
	classes("bare,yes,no,,\n")
	b.Click("All classes")
	b.Run(chromedp.SendKeys(`[aria-label="Name of a new class"]`, "002.Bare\n"))
	b.Waits("There is bare.")
	b.Run(chromedp.Evaluate(`document.querySelector('[aria-label="Name of a new class"]').value = ""`, nil), chromedp.SendKeys(`[aria-label="Name of a new class"]`, "gaint\n"))
	b.Waits("Class added.")
	b.Click("gaint")
	b.Waits("Rename")
	b.Run(chromedp.Evaluate(`document.querySelector('[aria-label="Name of the class"]').value = "giant"`, nil))
	b.Click("Rename")
	b.Waits("giant: 0 of 4 described")
	brush(b, "y")
	b.Click("blue")
	b.Waits("1 of 4 described")
	b.Run(chromedp.Focus(`[data-key="giantsize::large"]`), chromedp.KeyEvent("n"))
	b.Waits("2 of 4 described")
	b.Run(chromedp.KeyEvent("y"))
	b.Waits("3 of 4 described")
	classes("giant,,yes,no,yes\n")
	b.Choose("Copy the description of", "old")
	b.Click("to giant")
	b.Waits("Copied from old to giant.")
	classes("giant,yes,no,no,yes\n")
	b.Click("Undo")
	b.Waits("The last change is undone.")
	classes("giant,,yes,no,yes\n")
	b.Run(chromedp.NavigateBack(), chromedp.WaitVisible(".grid"))

	b.Click("Try")
	path := testkit.Write(t, t.TempDir(), "blue.jpg", string(photograph(color.RGBA{B: 255, A: 255})))
	b.Run(chromedp.SetUploadFiles(`input[type=file]`, []string{path}))
	b.Waits("classes: big blue")
	b.Waits("correction of the scores")
	addsUp(t, b)
	b.Looks("try")
	b.Run(chromedp.SendKeys(`[aria-label="Name of a class to try"]`, "huge\n"), chromedp.Sleep(100*time.Millisecond))
	brush(b, "y")
	b.Run(chromedp.Click(`#try [data-key="groupcolour"]`), chromedp.Click(`#try [data-key="groupsize"]`))
	b.Click("blue")
	b.Click("large")
	brush(b, "n")
	b.Click("small")
	b.Run(chromedp.Evaluate(`document.querySelector('[data-key="candidatebig blue"]').click()`, nil))
	b.Waits("classes: huge")
	testkit.WantNoText(t, testkit.Read(t, filepath.Join(s.Dir, "classes.csv")), "huge")
	b.Click("Keep")
	b.Waits("huge is in classes.csv.")
	classes("huge,,yes,yes,no\n")
	b.Click("Undo")
	b.Waits("The last change is undone.")
	testkit.WantNoText(t, testkit.Read(t, filepath.Join(s.Dir, "classes.csv")), "huge")

	b.Click("Check")
	b.Waits("Pairs of classes")
	b.Looks("check")
	testkit.Write(t, s.Dir, "classes.csv", "class,colour::red,colour::blue,size::large,size::small\nold,1,0,0,1\n")
	b.Click("By class")
	b.Click("old")
	b.Click("red")
	b.Waits("it was changed by another program")
	classes("old,1,0,0,1\n")
}

// All classes are described by attribute: from nothing, with clicks and keys, and a draft is checked.
func TestByAttributeInBrowser(t *testing.T) {
	dir := things(t)
	testkit.Write(t, dir, "classes.csv", "class\n")
	s, b := opened(t, Page{Dir: dir})
	csv := func() string { return testkit.Read(t, filepath.Join(s.Dir, "classes.csv")) }
	b.Click("Check")
	b.Waits("Nothing is described yet.")
	b.Click("by attribute")
	b.Waits("colour: which classes have it?")
	b.Looks("attributes")
	b.Run(chromedp.Click(`[aria-label="old, red: not known"]`))
	b.Waits("1 of 12 entries")
	b.Run(chromedp.Click(`[aria-label="bare, blue: not known"]`))
	b.Waits("2 of 12 entries")
	b.Run(chromedp.Focus(`[aria-label="big blue, blue: not known"]`), chromedp.KeyEvent("o"))
	b.Waits("3 of 12 entries")
	b.Run(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent("n"))
	b.Waits("4 of 12 entries")
	b.Choose("Classes shown", "open")
	b.Waits("2 classes")
	b.Click("the others: no")
	b.Waits("6 of 12 entries")
	testkit.WantText(t, csv(), "old,yes,no,,\n", "big blue,no,often,,\n", "bare,no,yes,,\n")
	b.Click("Next: size")
	b.Waits("size: which classes have it?")
	b.Run(chromedp.NavigateBack())
	b.Waits("colour: which classes have it?")

	d := testkit.Must(openlayout.ReadDescriptions(t.Context(), dir))(t) // as dataset describe --from does
	testkit.Must(d.AddTraits(t.Context(), testkit.Write(t, t.TempDir(), "answer.csv", "class,size\nold,small\nbare,large (often)\n"), true, true))(t)
	testkit.NoError(t, d.Save())
	b.Choose("Classes shown", "all")
	b.Run(chromedp.Click(`[aria-label="old, red: yes"]`))
	b.Waits("it was changed by another program")
	b.Run(chromedp.Evaluate(`location.hash = "attributes/size"`, nil))
	b.Waits("draft")
	b.Looks("drafts")
	b.Click("Mark 2 drafts as checked")
	b.Waits("Checked.")
	if _, err := os.Stat(filepath.Join(dir, "drafts.csv")); err == nil {
		t.Error("drafts.csv is still there")
	}
	testkit.WantText(t, csv(), "bare,no,yes,often,no\n")
	b.Click("Undo (1)")
	b.Waits("Mark 2 drafts as checked")
}

// Of twelve classes, one entry is doubtful and is put right, an empty one is taken as it is filled, and a class is done.
func TestReviewInBrowser(t *testing.T) {
	dir := things(t)
	table := "class,colour::red,colour::blue,size::large,size::small\nold,,,1,0\nbig blue,1,,,\n"
	for i := range 12 {
		row := []string{"1,0,1,0", "0,1,0,1"}[i%2]
		if i == 5 {
			row = "0,1,0,0"
		}
		table += fmt.Sprintf("kind %d,%s\n", i, row)
	}
	testkit.Write(t, dir, "classes.csv", table)
	s, b := opened(t, Page{Dir: dir})
	csv := func() string { return testkit.Read(t, filepath.Join(s.Dir, "classes.csv")) }
	b.Click("Review")
	b.Waits("Expected about ")
	b.Looks("review")
	b.Run(chromedp.WaitVisible(`[aria-label="kind 5, small: no is right"]`))
	b.Run(chromedp.Focus(`[aria-label="kind 5, small: no"]`), chromedp.KeyEvent("y"))
	b.Waits("Saved.")
	testkit.WantText(t, csv(), "kind 5,0,1,0,1\n")
	b.Click("By attribute")
	b.Waits("of 2 groups: ")
	b.Run(chromedp.Evaluate(`location.hash = "attributes/colour"`, nil))
	b.Waits("colour: which classes have it?")
	b.Click("as filled f")
	b.Run(chromedp.Focus(`[aria-label="old, red: not known"]`), chromedp.KeyEvent("f"))
	b.Waits("Saved.")
	b.Run(chromedp.Evaluate(`location.hash = "describe/big%20blue"`, nil))
	b.Click("Done: 1 empty entry of described groups: no")
	b.Waits("1 empty entries are no.")
	testkit.WantText(t, csv(), "big blue,1,0,,\n", "old,0.")
}

// focused checks which control has the focus after keys, by its label or text.
func focused(t *testing.T, b *testkit.Browser, want string, keys ...string) {
	t.Helper()
	for _, key := range keys {
		b.Run(chromedp.KeyEvent(key))
	}
	var found string
	b.Run(chromedp.Evaluate(`(e => (e.ariaLabel || e.textContent).slice(0, 60))(document.activeElement)`, &found))
	testkit.Equal(t, fmt.Sprintf("focus after %q", keys), found, want)
}

// The keyboard alone: the focus goes to the heading of what opens, a table and samples are one stop, nothing is
// lost while a view loads, and a prediction is heard.
func TestKeyboardInBrowser(t *testing.T) {
	dir := things(t)
	s, b := opened(t, Page{Dir: dir})
	b.Run(chromedp.Focus(`[data-key="classold"]`))
	focused(t, b, "old: 4 of 4 described", kb.Enter)
	b.Run(chromedp.NavigateBack(), chromedp.Focus("#tab-describe"))
	focused(t, b, "By attribute", kb.ArrowRight)
	focused(t, b, "colour: which classes have it?", kb.Enter)
	b.Run(chromedp.Focus(`[data-key="brushfilled"], [data-key="brushf"]`))
	focused(t, b, "old, red: yes", kb.Tab)
	focused(t, b, "the others: no", kb.Tab)
	b.Run(chromedp.Focus(`[aria-label="old, red: yes"]`))
	focused(t, b, "blue", kb.ArrowUp, kb.End) // a header, by arrows alone
	focused(t, b, "bare, blue: not known", kb.ArrowDown, kb.ArrowDown, kb.ArrowDown)
	b.Run(chromedp.KeyEvent("y"))
	b.Waits("9 of 12 entries")
	testkit.WantText(t, testkit.Read(t, filepath.Join(s.Dir, "classes.csv")), "bare,,yes,,\n")
	var covered bool
	b.Run(chromedp.Evaluate(`document.querySelector(".table").style.height = "6rem"`, nil))
	focused(t, b, "old, blue: no", kb.ArrowUp, kb.ArrowUp)
	b.Run(chromedp.Evaluate(`document.activeElement.getBoundingClientRect().top < document.querySelector("thead th").getBoundingClientRect().bottom`, &covered))
	testkit.Equal(t, "covered by the header of the table", covered, false)

	b.Run(chromedp.Evaluate(`{const ask = window.fetch; window.fetch = async (...of) => { await new Promise(done => setTimeout(done, 500)); return ask(...of); }; byId("tab-check").focus()}`, nil))
	focused(t, b, "Check of the descriptions", kb.Enter, kb.Tab, kb.Enter) // the first button leads to a class
	b.Waits(" of 4 described")

	b.Run(chromedp.Focus("#tab-describe"))
	focused(t, b, "Try the model", kb.ArrowLeft, kb.ArrowLeft, kb.Enter)
	b.Choose("Class of the sample", "old")
	b.Run(chromedp.Poll(`/^b[a-z ]+, [0-9.]+ %, but old is no candidate$/.test(byId("status").textContent)`, nil, chromedp.WithPollingTimeout(10*time.Second)))
	var meters []string
	b.Run(chromedp.Evaluate(`[...document.querySelectorAll(".bar.signed meter")].map(m => m.ariaValueText)`, &meters))
	testkit.WantText(t, fmt.Sprint(meters), ", favours b")
}

// Read-only, the page has no control that changes anything, and values as text.
func TestReadOnlyInBrowser(t *testing.T) {
	_, b := opened(t, Page{Dir: things(t), ReadOnly: true})
	for view, text := range map[string]string{"describe": "3 classes", "describe/old": "old: 4 of 4", "attributes": "yes", "review": "", "try/0": "What if", "check": "Pairs"} {
		b.Run(chromedp.Evaluate(fmt.Sprintf("location.hash = %q", view), nil))
		b.Waits("Read-only: nothing is saved.")
		b.Waits(text)
		var controls []string
		b.Run(chromedp.Evaluate(`[...document.querySelectorAll("section:not([hidden]) :is(.chip, .brush, [data-key^=new], [data-key=rest], [data-key=copy]), #undo:not([hidden])")].map(e => e.outerHTML)`, &controls))
		testkit.Equal(t, "controls of "+view, controls, []string{})
		if view == "attributes" {
			b.Run(chromedp.Poll(`document.querySelector(".table").style.width = "9rem", [...document.querySelectorAll("td .value")].every(e => (e.textContent = "sometimes", e.clientHeight < 30))`, nil))
		}
		b.Looks("read-only " + filepath.Base(view))
	}
}
