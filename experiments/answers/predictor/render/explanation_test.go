package render

import (
	"fmt"
	"image"
	"regexp"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// explained is the answer about a sample with these detections among all classes.
func explained(t *testing.T, m *train.Saved, detections []float64, label string) *predictor.Explanation {
	t.Helper()
	candidates := predictor.Candidates{What: "classes", Names: m.Classes, U: m.Descriptions}
	p := testkit.Must((&predictor.Model{Saved: m}).Predictor(candidates, predictor.Options{}))(t)
	q := predictor.Question{Predictor: p, Sample: predictor.Sample{Index: 7, From: "birds"}, X: testlab.BirdFeatures(detections), Row: 1}
	if label != "" {
		q.Sample.Label = &label
	}
	return testkit.Must(predictor.Explain(q))(t)
}

func written(t *testing.T, r *predictor.Explanation, f Format, top int) string {
	t.Helper()
	var b strings.Builder
	testkit.NoError(t, Explanation(&b, f, r, top))
	if f == Text { // with nothing wrapped
		b.Reset()
		for _, one := range (explanation{r}).tables(top) {
			b.WriteString(one.Text(1000, 0) + "\n")
		}
	}
	return b.String()
}

// mistaken is a testlab.Cuckoo whose true class is a warbler: two comparisons.
func mistaken(t *testing.T) *predictor.Explanation {
	t.Helper()
	m := testlab.Birds(testlab.HardBirds)
	return explained(t, m, testlab.Cuckoo, m.Classes[2])
}

// unspaced replaces runs of spaces, so that tests do not depend on the width of columns.
func unspaced(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestText(t *testing.T) {
	r := mistaken(t)
	text := unspaced(written(t, r, Text, 2))
	testkit.WantText(t, text,
		"sample 7 of birds is predicted as Black billed Cuckoo, 59.7 %, which is wrong. Runner-up: White breasted Nuthatch, 27.1 %. True class: Prothonotary Warbler, 13.2 %, rank 3.",
		"semantic-hard trained on birds; candidates: classes (3)", "For Black billed Cuckoo over Prothonotary Warbler, the true class: ",
		". Log odds: +0.79.", "each +0.69 doubles the odds of Black billed Cuckoo over White breasted Nuthatch", "share: of the score of a class", "Black billed Cuckoo against White breasted Nuthatch, the runner-up", "Black billed Cuckoo against Prothonotary Warbler, the true class",
		"│ 1 other group │", "│ sum │ +0.79 │", "│ solid │ 0.60 │ 0.90 │ 0.60 │", // detected, and described for both classes
		"│ none of the group │",
	)
	testkit.WantNoText(t, text, "the model was trained on samples of the true class", "(prior", "in the group") // which is uniform
	r.Comparisons[0].Correction = 0.9
	testkit.WantText(t, unspaced(written(t, r, Text, 1)), "The groups alone favour White breasted Nuthatch. Log odds: +0.79.", "correction of the scores: takes")

	m := testlab.Birds(model.Config{Variant: model.KSoft, K: 2, Prior: model.PerAttribute, Complement: model.NoComplement, Zeta: 10})
	testkit.WantText(t, unspaced(written(t, explained(t, m, testlab.Cuckoo, ""), Text, 5)),
		"group 0 of primary color: brown, primary color: yellow and ", " (prior ", "│ in the group │", "in the group: the part")
}

func TestHeadline(t *testing.T) {
	m := testlab.Birds(testlab.HardBirds)
	const runnerUp = ". Runner-up: White breasted Nuthatch, 27.1 %."
	for label, want := range map[string]string{
		"":           runnerUp,
		m.Classes[0]: ", which is correct" + runnerUp,
		m.Classes[1]: ", which is wrong. Runner-up and true class: White breasted Nuthatch, 27.1 %.",
		"001.Dodo":   "; its true class, Dodo, is not among the classes (--candidates all includes it)" + runnerUp,
	} {
		got := explanation{explained(t, m, testlab.Cuckoo, label)}.headline()
		testkit.Equal(t, label, got, "sample 7 of birds is predicted as Black billed Cuckoo, 59.7 %"+want)
	}
}

// The text says how much of the two descriptions was given, if not all.
func TestGiven(t *testing.T) {
	r := mistaken(t)
	r.Comparisons = r.Comparisons[:1]
	r.Comparisons[0].Given = predictor.Pair{Class: 1, Against: 1}
	testkit.WantNoText(t, written(t, r, Text, 1), "are given")
	r.Comparisons[0].Given.Against = 4. / 6
	testkit.WantText(t, written(t, r, Text, 1),
		"100.0 % of the description of Black billed Cuckoo and 66.7 % of that of White breasted Nuthatch are given; the other entries are imputed.")
}

// The page has the numbers of the text, loads nothing, and can be read aloud: bars only repeat
// the numbers beside them, and tables have captions.
func TestPage(t *testing.T) {
	r := mistaken(t)
	r.Sample.Trained = true
	page := written(t, r, HTML, 2)
	testkit.WantText(t, page, "Runner-up: White breasted Nuthatch, 27.1 %.", "candidates: classes (3); the model was trained on samples of the true class")
	testkit.WantNoText(t, page, "http://", "https://", "<script", "<link", "<img", "@import", "url(", "@font-face")
	count := func(what string) int { return strings.Count(page, what) }
	bars, steps := count(`class="track" aria-hidden="true"`), count(`<td aria-hidden="true"><span class="line">`)
	if bars == 0 || steps != 2*(2+1+1) || count("█")+count("│") > 0 || count("<caption") != count("<table") {
		t.Errorf("%d bars of numbers, %d of groups, others and sums, %d captions of %d tables", bars, steps, count("<caption"), count("<table"))
	}
	few := table.New("", "attribute", "detected", "share ▸", "share ◂").Right(2, 3, 4).Row("group 7").Row("  other attributes", "", "0.1 %", "0.2 %")
	testkit.WantText(t, string(drawTable(few)), `<th colspan="3">group 7</th>`) // without the empty column
	testkit.WantText(t, page, "<h1>Sample 7 of birds is", "each &#43;0.69 doubles the odds", "sum so far", "1 other group")
	r.Sample.ID = "whale/01.jpg"
	testkit.WantText(t, written(t, r, HTML, 2), "<h1>whale/01.jpg (sample 7 of birds) is predicted as")
}

// hostile is a page with names that contain HTML, CSS and script.
func hostile(t *testing.T) string {
	t.Helper()
	const bad = `</td><script>alert("x")</script><img src=http://example.invalid onerror=alert(1)>' " & url(javascript:1)`
	m := testlab.Birds(testlab.HardBirds)
	for _, names := range [][]string{m.Classes, m.Attributes, m.Groups} {
		for i := range names {
			names[i] += bad
		}
	}
	m.Dataset += bad
	r := explained(t, m, testlab.Cuckoo, m.Classes[2])
	r.Sample.From, r.Candidates = bad, bad
	r.Sample.Picture = image.NewGray(image.Rect(0, 0, 2, 2))
	return written(t, r, HTML, 3)
}

func TestPageEscapesNames(t *testing.T) {
	page := hostile(t)
	testkit.WantText(t, page, "&lt;script&gt;", `<img src="data:image/jpeg;base64,`)
	styles := regexp.MustCompile(`style="(width: calc\(10{0,2}% \* [0-9.]+\)|--(at|zero): [0-9.]+|left: [0-9.]+%(; width: [0-9.]+%)?)"`)
	if found := regexp.MustCompile(`<script|<img src=http|onerror=alert\(1\)>'|style=".*`).FindString(styles.ReplaceAllString(page, "")); found != "" {
		t.Errorf("expected names as text and only widths in styles, found %s", found)
	}
}

// The bars of the chart follow each other from 0 to the log odds, within the chart.
func TestChart(t *testing.T) {
	for i := range uint64(50) {
		m, detections := testlab.RandomBirds(model.Config{Variant: model.SemanticHard, Prior: model.PerAttribute, Complement: model.Const, Zeta: 10}, i)
		for _, c := range explained(t, m, detections, "").Comparisons {
			h := newChart(&c, 1)
			end := h.Zero
			for j, s := range h.Steps {
				from, to := s.Left, s.Left+s.Width
				if s.LogOdds < 0 {
					from, to = to, from
				}
				if s.Kind == total {
					testkit.Near(t, "the sum", to, end, 1e-6)
					end = h.Zero
				}
				if testkit.Near(t, fmt.Sprintf("%d: the start of bar %d", i, j), from, end, 1e-6); min(from, to) < -1e-9 || max(from, to) > 100+1e-9 {
					t.Errorf("%d: a bar from %g to %g %%", i, from, to)
				}
				end = to
			}
			if n := len(h.Ticks); n < 2 || n > 7 || h.Steps[len(h.Steps)-1].Sum != c.LogOdds {
				t.Errorf("%d: ticks %v, sum %+v", i, h.Ticks, h.Steps[len(h.Steps)-1])
			}
		}
	}
}

// What rounds to zero is not listed: unlikely classes, and groups without effect.
func TestZerosAreFolded(t *testing.T) {
	r := &predictor.Explanation{
		Classes: 9, Likely: []predictor.Probability{{Class: "wren", P: 0.9996}, {Class: "gull", P: 0.0004}},
		Comparisons: []predictor.Comparison{{
			Class: "wren", Against: "gull", LogOdds: 0.997, Groups: []predictor.Group{
				{Name: "has_tail", Contribution: 1}, {Name: "has_crown", Contribution: -0.004}, {Name: "has_eye", Contribution: 0.001},
			},
		}},
	}
	text := unspaced(written(t, r, Text, 5))
	testkit.WantText(t, text, "│ wren │ 100.0 % │ │ 8 others │ 0.0 % │", "│ tail │ +1.00 │", "│ 2 other groups together │ +0.00 │")
	testkit.WantNoText(t, text, "crown")
	c := testlab.HardBirds
	c.Variant, c.K = model.KSoft, 1
	m := testlab.Birds(c)
	m.Descriptions = dataset.NewMatrix[float64](3, 6) // no class has anything
	page := written(t, explained(t, m, testlab.Cuckoo, ""), HTML, 5)
	testkit.WantText(t, page, "are equally likely. Log odds: &#43;0.00.")
	testkit.WantNoText(t, page, "NaN")
}

// Rows list at most six attributes that matter, those with the highest descriptions
// first; all others in one row, if they matter; and the none-of-group term.
func TestRows(t *testing.T) {
	term := func(name string, used, share float64) predictor.Term {
		return predictor.Term{Attribute: name, Gamma: 1, Used: predictor.Pair{Class: used}, Share: predictor.Pair{Class: share}}
	}
	g := predictor.Group{
		Terms: []predictor.Term{
			term("carries", 0.05, 0.3), term("described", 0.5, 0), term("neither", 0.09, 0.04), term("most", 0.9, 0.2),
			term("c", 0.2, 0), term("d", 0.3, 0), term("e", 0.4, 0), term("seventh", 0.8, 0.01),
		},
		Others: predictor.Others{Count: 3, Share: predictor.Pair{Class: 0.02, Against: 0.1}},
		None:   predictor.None{Detected: 0.4, Share: predictor.Pair{Class: 0.43}},
	}
	rows := func(c model.Complement) (text string) {
		for _, cells := range (explanation{&predictor.Explanation{Complement: c, Prior: model.Uniform}}).rows(g) {
			text += unspaced(fmt.Sprintln(cells[0], cells[2], cells[5])) + ";"
		}
		return text
	}
	const most = "most 0.00 20.0 %;described 0.00 0.0 %;e 0.00 0.0 %;d 0.00 0.0 %;c 0.00 0.0 %;carries 0.00 30.0 %;other attributes 7.0 %;"
	for complement, none := range map[model.Complement]string{
		model.DeMorgan: "none of the group 0.40 43.0 %;", model.Const: "none of the group 43.0 %;", model.NoComplement: "",
	} {
		testkit.Equal(t, string(complement), rows(complement), most+none)
	}
	g.Terms, g.Others, g.None.Share = g.Terms[:1], predictor.Others{Count: 300, Share: predictor.Pair{Class: 0.004}}, predictor.Pair{Class: 0.001, Against: 0.004}
	testkit.Equal(t, "rows without others that hardly matter", strings.Count(rows(model.DeMorgan), ";"), 1)
}
