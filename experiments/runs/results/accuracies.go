package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Accuracies is the result of a study with one accuracy in each row: by category or, with a title
// of the X axis, against a number.
type Accuracies struct {
	Header
	Method  string   `json:"method"`  // of all rows; empty if they differ
	Stage   string   `json:"stage"`   // whose classes are evaluated: validation or test
	Classes int      `json:"classes"` // that are evaluated
	Seeds   int      `json:"seeds"`
	Columns []string `json:"columns"`     // titles of the labels
	X       string   `json:"x,omitempty"` // title of the numbers
	Minus   string   `json:"minus"`       // what the differences are
	Rows    []Row    `json:"rows"`
	Notes   []string `json:"notes"`
}

// Row is one accuracy of a study.
type Row struct {
	Labels []string `json:"labels"`
	Number float64  `json:"number"` // on the X axis
	// what the others are compared with: shaded, or a horizontal line
	Reference bool `json:"reference,omitempty"`
	// random draws of each part, over which the accuracy is a mean
	Draws int `json:"draws,omitempty"`
	// per class, over seeds, each value a mean over draws
	Accuracy lab.Summary `json:"accuracy"`
	// the same over draws, each value a mean over seeds
	ByDraw *lab.Summary `json:"by_draw,omitempty"`
	// by_draw divided by the accuracy of the same model in the reference row
	Relative *lab.Summary     `json:"relative,omitempty"`
	Interval metrics.Interval `json:"interval"` // of accuracy, over classes
	// from the row that the study compares with; null where there is none
	Difference *metrics.Difference `json:"difference"`
	Published  *float64            `json:"published_accuracy"` // null if the paper does not have it

	ByClass []float64 `json:"-"` // mean over seeds and draws
}

// Label names the row in one line.
func (p Row) Label() string { return strings.Join(p.Labels, ", ") }

func (p Row) line() string { return strings.Join(p.Labels[:len(p.Labels)-1], ", ") }

// NewAccuracies returns a result of a study without rows. stage is that whose classes are evaluated,
// validation or test.
func NewAccuracies(l *lab.Lab, kind, title string, base config.Config, stage string) *Accuracies {
	return &Accuracies{
		Header: Header{
			Kind: kind, Title: title, Dataset: base.DataName(), Parts: len(l.Parts), Missing: []lab.Missing{},
		},
		Method: base.Method.Label(), Stage: stage, Seeds: base.Seeds, Rows: []Row{},
	}
}

// Add adds a row with what was measured.
func (a *Accuracies) Add(r Row, m *Measured) {
	r.Accuracy, r.Interval, r.ByClass = m.PerClass, m.Interval, m.ByClass
	a.Classes = max(a.Classes, len(m.ByClass))
	a.Rows = append(a.Rows, r)
}

// Compare sets the differences of all rows from that of a label, if both have an accuracy, with p by Holm.
func (a *Accuracies) Compare(label string) {
	reference := slices.IndexFunc(a.Rows, func(r Row) bool { return r.Label() == label })
	var list []*metrics.Difference
	for i, r := range a.Rows {
		if i == reference || len(r.ByClass) == 0 || len(a.Rows[reference].ByClass) == 0 {
			continue
		}
		d := metrics.PairedDifference(r.ByClass, a.Rows[reference].ByClass)
		a.Rows[i].Difference, list = &d, append(list, &d)
	}
	metrics.Adjust(list)
}

// DifferenceText returns a difference in percentage points, with its interval if it has one.
func DifferenceText(d metrics.Difference) string {
	return strings.TrimSuffix(fmt.Sprintf("%s (%s)", format.Points(d.Mean), d.Interval), " (-)")
}

// inBrackets is what follows a number with an interval, "" where there is none.
func inBrackets(i metrics.Interval) string {
	return strings.TrimSuffix(fmt.Sprintf(" (95 %%: %s)", i), " (95 %: "+format.Missing+")")
}

// Undecided reports whether a difference ranks no method: the interval holds 0, or p is not significant.
func Undecided(d metrics.Difference) bool {
	return !(d.Interval.Low > 0 || d.Interval.High < 0) || d.P >= metrics.Significance
}

// Ranking says what the difference of two methods over some classes allows to conclude.
func Ranking(d metrics.Difference, method, baseline string, classes int) string {
	best, _, _ := strings.Cut(baseline, " (")
	conclusion := best + " is more accurate here: take --method " + strings.ToLower(best)
	if d.Mean > 0 {
		conclusion = method + " is more accurate here"
	}
	if Undecided(d) {
		conclusion = "they cannot be ranked on " + format.Count(classes, "class")
		if d.Interval.Low > 0 || d.Interval.High < 0 {
			conclusion += fmt.Sprintf(" (p %.2g)", d.P)
		}
	}
	return fmt.Sprintf("%s minus %s: %s points%s; %s", method, baseline, format.Points(d.Mean),
		inBrackets(d.Interval), conclusion)
}

type column struct {
	title string
	value func(Row) any
	left  bool // aligned
}

const overSeeds = "s.e.m. over seeds"

// columns are the labels, in one column for results by category, which takes less room, and the numbers:
// differences, where rows are compared, say more than intervals of each. Of means over draws they are
// relative to the model without noise.
func (a *Accuracies) columns() (list []column) {
	if a.X == "" {
		list = []column{{strings.Join(a.Columns, ", "), func(r Row) any { return r.Label() }, true}}
	} else {
		for i, title := range a.Columns {
			label := func(r Row) any { return methods.TitleOf(r.Labels[i]) }
			list = append(list, column{title, label, i < len(a.Columns)-1})
		}
	}
	add := func(title string, value func(Row) any) { list = append(list, column{title: title, value: value}) }
	add("accuracy", func(r Row) any { return r.Accuracy.MeanText() })
	if a.overDraws() || a.Minus == "" {
		add("95 % over classes", func(r Row) any { return r.Interval })
	}
	add("relative", func(r Row) any { return textOf(r.Relative, lab.Summary.PlusMinus) })
	if !a.overDraws() {
		add(overSeeds, func(r Row) any { return r.Accuracy.SEMText() })
		add(a.Minus, func(r Row) any { return textOf(r.Difference, DifferenceText) })
		probability := func(d metrics.Difference) string { return fmt.Sprintf("%.2g", d.P) }
		add("p (Holm)", func(r Row) any { return textOf(r.Difference, probability) })
		add("published", func(r Row) any { return format.Percent(format.Value(r.Published)) })
	}
	return list
}

func textOf[T any](v *T, text func(T) string) string {
	if v == nil {
		return format.Missing
	}
	return text(*v)
}

func (a *Accuracies) overDraws() bool {
	return slices.ContainsFunc(a.Rows, func(r Row) bool { return r.ByDraw != nil })
}

func startsGroup(before, r Row) bool {
	if r.Reference {
		return !before.Reference
	}
	return r.line() != before.line()
}

// Tables have a line for each row, and what is missing.
func (a *Accuracies) Tables() []*table.Table {
	classes, parts := a.Stage+" class", InParts("unseen", a.Parts)
	if a.Stage == "validation" {
		parts = InParts("a validation class", a.Parts)
	}
	method := cmp.Or(methods.TitleOf(a.Method), "methods")
	t := table.New(fmt.Sprintf("%s on %s: %s accuracy %s, %s, %s%s", method, a.Dataset, a.Stage,
		a.Title, format.Count(a.Classes, classes), format.Count(a.Seeds, "seed"), parts))
	columns := a.columns()
	for i, c := range columns {
		if t.Header = append(t.Header, c.title); !c.left {
			t.Right(i + 1)
		}
	}
	for i, r := range a.Rows {
		if a.X != "" && i > 0 && startsGroup(a.Rows[i-1], r) {
			t.Line()
		}
		cells := make([]any, len(columns))
		for j, c := range columns {
			cells[j] = c.value(r)
		}
		t.Row(cells...)
	}
	t.Notes = slices.Clone(a.Notes)
	stored := func(note string) bool { return strings.HasPrefix(note, "relative: ") } // by an older version
	if a.overDraws() && !slices.ContainsFunc(a.Notes, stored) {
		t.Note("relative: accuracy divided by that without noise, mean ± s.e.m. over %s of the noise",
			format.Count(a.Rows[0].Draws, "draw"))
	}
	return []*table.Table{t, MissingTable(a.Missing)}
}

// Figures are the accuracies, as dots in rows or as a line against the number.
func (a *Accuracies) Figures(string) ([]plot.Figure, error) {
	shown := slices.DeleteFunc(slices.Clone(a.Rows), func(p Row) bool { return len(p.Accuracy.Values) == 0 })
	if len(shown) == 0 {
		return nil, nil
	}
	var picture plot.Picture = a.dots(shown)
	if a.X != "" {
		picture = a.lines(shown)
	}
	var seeds []int
	for _, p := range shown {
		seeds = append(seeds, len(p.Accuracy.Values))
	}
	title := fmt.Sprintf("%s%s accuracy %s", strings.ToUpper(a.Stage[:1]), a.Stage[1:], a.Title)
	if a.Method != "" {
		title += ", " + a.Method
	}
	caption := fmt.Sprintf("%s%s, mean over %s; %s.", format.Count(a.Classes, a.Stage+" class"),
		InParts(a.Stage, a.Parts), SeedsText(seeds), IntervalText)
	for _, note := range a.Notes {
		caption += " " + strings.ToUpper(note[:1]) + strings.TrimSuffix(note[1:], ".") + "."
	}
	return []plot.Figure{{Name: a.Kind, Title: title, Picture: picture, Caption: caption}}, nil
}

// publishedDots are the numbers of the paper beside those of a study.
var publishedDots = plot.Series{Name: "published", Condition: plot.Dotted}

func (a *Accuracies) dots(shown []Row) *plot.Dots {
	p := &plot.Dots{X: a.Stage + " accuracy (%)", Percent: true}
	here, paper := plot.Series{}, publishedDots
	for i, r := range shown {
		p.Rows = append(p.Rows, plot.Row{Name: r.Label(), Focus: r.Reference})
		here.Points = append(here.Points, Point(float64(i), r.Accuracy.Mean, r.Interval))
		if r.Published != nil {
			v := *r.Published
			paper.Points = append(paper.Points, plot.Percent(float64(i), v, v, v))
		}
	}
	p.Panels = []plot.Panel{{Chance: Chance(a.Parts, a.Classes), Series: []plot.Series{here, paper}}}
	return p
}

// lines draws rows against their number: a line for each method, over draws in a panel of its own beside a
// dashed one of the first row, and those to compare with as horizontal lines.
func (a *Accuracies) lines(shown []Row) *plot.Lines {
	p := &plot.Lines{X: a.X, Y: a.Stage + " accuracy (%)", Chance: Chance(a.Parts, a.Classes)}
	low, high := shown[0].Number, shown[0].Number
	for _, r := range shown {
		if !r.Reference {
			low, high = min(low, r.Number), max(high, r.Number)
		}
	}
	level := func(r Row, s plot.Series) { // without its interval, whose shade would cover the others
		v := r.Accuracy.Mean
		s.Points = []plot.Point{plot.Percent(low, v, v, v), plot.Percent(high, v, v, v)}
		p.Series = append(p.Series, s)
	}
	for _, r := range shown {
		if r.Reference {
			continue
		}
		s := plot.Series{Focus: true, Measured: true}
		s.Name = cmp.Or(r.line(), methods.TitleOf(a.Method))
		if a.overDraws() {
			s.Name, s.Panel = "with noise", methods.TitleOf(r.line())
		}
		i := slices.IndexFunc(p.Series, func(t plot.Series) bool {
			return t.Panel == s.Panel && t.Name == s.Name
		})
		if i < 0 {
			i, p.Series = len(p.Series), append(p.Series, s)
			if s.Panel != "" {
				level(r, plot.Series{Name: "without noise", Panel: s.Panel, Condition: plot.Dashed})
			}
		}
		p.Series[i].Points = append(p.Series[i].Points, Point(r.Number, r.Accuracy.Mean, r.Interval))
	}
	for i, r := range shown {
		if r.Reference {
			level(r, plot.Series{Name: r.Label(), Condition: plot.Dashed + plot.Condition(i%2)})
		}
	}
	return p
}
