package results

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train/metrics"
)

// Result is the result of a study: its JSON is what the command prints and what is stored.
type Result interface {
	Tables() []*table.Table
	// Figures draws the result. dir is the folder that holds the runs.
	Figures(dir string) ([]plot.Figure, error)
	// KindName is the name of its Kind.
	KindName() string
}

// Kind is a kind of results, as they are stored and shown.
type Kind struct {
	Name    string // in stored results and in addresses
	Title   string
	Text    string // how to read it
	Command string // that stores a result
	New     func() Result
}

// New returns a result to be read.
func New[T any, P interface {
	*T
	Result
}]() Result {
	return P(new(T))
}

// Header is what the results of all studies have in common.
type Header struct {
	Kind    string        `json:"kind"`  // of the study
	Title   string        `json:"title"` // what is compared
	Dataset string        `json:"dataset"`
	Parts   int           `json:"parts"` // 1, or the parts of a rotation over classes
	Missing []lab.Missing `json:"missing"`
}

// KindName implements Result.
func (h Header) KindName() string { return h.Kind }

// MissingTable says below a table what is missing from it, nil if nothing is.
func MissingTable(list []lab.Missing) *table.Table {
	if len(list) == 0 {
		return nil
	}
	t := table.New("missing from the table:")
	for _, m := range list {
		t.Note("  %s", &m)
	}
	return t
}

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

// line names the line of rows against a number, which is the last label.
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

// Compare sets the differences of all rows from that of a label, if both have an accuracy.
func (a *Accuracies) Compare(label string) (differences []*metrics.Difference) {
	reference := slices.IndexFunc(a.Rows, func(r Row) bool { return r.Label() == label })
	if reference < 0 {
		return nil
	}
	for i := range a.Rows {
		x, y := a.Rows[i].ByClass, a.Rows[reference].ByClass
		if i == reference || len(x) == 0 || len(y) == 0 {
			continue
		}
		d := metrics.PairedDifference(x, y)
		a.Rows[i].Difference, differences = &d, append(differences, &d)
	}
	return differences
}

// CorrectP replaces the p values of differences by those of Holm.
func CorrectP(differences []*metrics.Difference) {
	p := make([]float64, len(differences))
	for i, d := range differences {
		p[i] = d.P
	}
	for i, adjusted := range metrics.Holm(p) {
		differences[i].P = adjusted
	}
}

// DifferenceText returns a difference in percentage points, with its interval.
func DifferenceText(d metrics.Difference) string {
	return fmt.Sprintf("%s (%s)", format.Points(d.Mean), d.Interval)
}

const overSeedsTitle = "s.e.m. over seeds"

// Tables have a line for each row, and what is missing.
func (a *Accuracies) Tables() []*table.Table {
	columns := a.Columns
	if a.X == "" { // one column takes less room
		columns = []string{strings.Join(a.Columns, ", ")}
	}
	labels := len(columns)
	classes, parts := a.Stage+" class", InParts("unseen", a.Parts)
	if a.Stage == "validation" {
		parts = InParts("a validation class", a.Parts)
	}
	t := table.New(fmt.Sprintf("%s on %s: %s accuracy %s, %s, %s%s", cmp.Or(a.Method, "methods"), a.Dataset,
		a.Stage, a.Title, format.Count(a.Classes, classes), format.Count(a.Seeds, "seed"), parts),
		append(slices.Clone(columns), "accuracy", "95 % over classes", overSeedsTitle, "relative", a.Minus,
			"p", "published")...).Optional(overSeedsTitle)
	if a.X != "" {
		t.Right(labels)
	}
	t.Right(labels+1, labels+2, labels+3, labels+4, labels+5, labels+6, labels+7)
	for i, p := range a.Rows {
		row := []any{p.Label()}
		if a.X != "" {
			row = setting.All(p.Labels...)
		}
		difference, probability, published := format.Missing, format.Missing, format.Missing
		overSeeds, relative := p.Accuracy.SEMText(), format.Missing
		if d := p.Difference; d != nil {
			difference, probability = DifferenceText(*d), fmt.Sprintf("%.2g", d.P)
		}
		if p.Published != nil {
			published = format.Percent(*p.Published)
		}
		if p.ByDraw != nil { // the choice of classes matters most
			t.Optional(a.Minus)
			overSeeds, relative, probability = format.Missing, p.Relative.PlusMinus(), format.Missing
		}
		if a.X != "" && i > 0 &&
			(p.Reference && !a.Rows[i-1].Reference || !p.Reference && p.line() != a.Rows[i-1].line()) {
			t.Line()
		}
		t.Row(append(row, p.Accuracy.MeanText(), p.Interval, overSeeds, relative, difference, probability,
			published)...)
	}
	t.Notes = slices.Clone(a.Notes)
	return []*table.Table{t.OmitEmpty(), MissingTable(a.Missing)}
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
		caption += " " + strings.TrimSuffix(note, ".") + "."
	}
	return []plot.Figure{{Name: a.Kind, Title: title, Picture: picture, Caption: caption}}, nil
}

func (a *Accuracies) dots(shown []Row) *plot.Dots {
	p := &plot.Dots{X: a.Stage + " accuracy (%)", Percent: true}
	here, paper := plot.DotSeries{}, plot.DotSeries{Name: "published", Condition: plot.Dotted}
	for i, r := range shown {
		p.Rows = append(p.Rows, plot.Row{Name: r.Label(), Focus: r.Reference})
		here.Dots = append(here.Dots, Dot(i, r.Accuracy.Mean, r.Interval))
		if r.Published != nil {
			paper.Dots = append(paper.Dots, plot.PercentDot(i, *r.Published, *r.Published, *r.Published))
		}
	}
	p.Panels = []plot.Panel{{Chance: Chance(a.Parts, a.Classes), Series: []plot.DotSeries{here, paper}}}
	return p
}

// lines draws rows against their number, a line for each method, and those to compare with as
// horizontal lines.
func (a *Accuracies) lines(shown []Row) *plot.Lines {
	p := &plot.Lines{X: a.X, Y: a.Stage + " accuracy (%)", Chance: Chance(a.Parts, a.Classes)}
	low, high := shown[0].Number, shown[0].Number
	for _, r := range shown {
		if r.Reference {
			continue
		}
		low, high = min(low, r.Number), max(high, r.Number)
		name := cmp.Or(r.line(), a.Method)
		i := slices.IndexFunc(p.Series, func(s plot.Series) bool { return s.Name == name })
		if i < 0 {
			i = len(p.Series)
			p.Series = append(p.Series,
				plot.Series{Name: name, Look: plot.Look{Method: name}, Measured: true})
		}
		p.Series[i].Points = append(p.Series[i].Points, Point(r.Number, r.Accuracy.Mean, r.Interval))
	}
	if a.Method != "" && len(p.Series) > 0 {
		p.Series[0].Look = plot.Look{Method: plot.Focus}
	}
	for i, r := range shown {
		if v := r.Accuracy.Mean; r.Reference { // without their intervals, whose shades would cover the others
			p.Series = append(p.Series, plot.Series{
				Name: r.Label(), Look: plot.Look{Condition: plot.Dashed + plot.Condition(i%2)},
				Points: []plot.Point{plot.PercentPoint(low, v, v, v), plot.PercentPoint(high, v, v, v)},
			})
		}
	}
	return p
}

// Comparison is the result of a study of methods by the full protocol.
type Comparison struct {
	Header
	Folds   int      `json:"folds"`   // of the seen classes, over which settings were chosen
	Ordered bool     `json:"ordered"` // the methods are shown in their order, otherwise by accuracy
	Methods []Method `json:"methods"`
}

// NewComparison summarises a plan on the parts of a lab.
func NewComparison(l *lab.Lab, kind, title string, done *lab.Outcomes) Comparison {
	return Comparison{
		Header: Header{
			Kind: kind, Title: title, Dataset: l.Data.Name, Parts: len(l.Parts), Missing: done.Missing,
		},
		Folds: max(done.Plan.Folds, 1), Methods: Methods(done),
	}
}

// fixed reports whether there were too few classes to choose anything by: no method has a validation
// accuracy.
func (c *Comparison) fixed() bool {
	return !slices.ContainsFunc(c.Methods, func(m Method) bool { return m.Val.Parts > 0 })
}

// Sorted returns the methods in the order in which they are shown.
func (c *Comparison) Sorted() []Method {
	if c.Ordered {
		return c.Methods
	}
	return slices.SortedStableFunc(slices.Values(c.Methods), func(a, b Method) int {
		return cmp.Compare(b.Test.PerClass.Mean, a.Test.PerClass.Mean)
	})
}

// Tables are the accuracies, the chosen settings, and what is missing.
func (c *Comparison) Tables() []*table.Table {
	chosen, test := "settings chosen on the validation classes", "test"
	if c.Folds > 1 {
		chosen = fmt.Sprintf("settings chosen over %d folds of the seen classes", c.Folds)
	}
	if c.fixed() {
		chosen = "for a fixed number of epochs"
	}
	if c.Parts > 1 {
		test = "unseen"
	}
	t := table.New(fmt.Sprintf("%s on %s: per-class accuracy%s, %s", c.Title, c.Dataset,
		InParts("unseen", c.Parts), chosen),
		"method", "validation", test, "95 % over classes", "s.e.m. over seeds", "published", "tried").
		Right(2, 3, 4, 5, 6, 7)
	settings := table.New("", "method", "seeds", "seconds", "correction",
		"settings chosen that are not the default").Right(3)
	edges, corrections := false, false
	for _, m := range c.Sorted() {
		tried, chosen := format.Missing, m.Chosen()
		if m.Tried > 1 {
			tried = fmt.Sprint(m.Tried)
		}
		if m.Corrections > 1 {
			tried, corrections = fmt.Sprintf("%d x %d", m.Tried, m.Corrections), true
		}
		edges = edges || strings.Contains(chosen, edgeMark)
		t.Row(m.Label(), m.Val.MeanText(), m.Test.MeanText(), m.Test.Interval,
			m.Test.PerClass.SEMText(), cmp.Or(m.Published, format.Missing), tried)
		settings.Row(m.Label(), len(m.Test.PerClass.Values), fmt.Sprintf("%.1f", m.Seconds), m.Correction(),
			chosen)
	}
	if corrections {
		t.Note("tried: settings x corrections with each, of both kinds where scores are " +
			"logarithms of probabilities, " +
			"otherwise standardise alone")
	}
	if edges {
		settings.Note("%s: at an end of the searched values or outside", edgeMark)
	}
	return []*table.Table{t.OmitEmpty(), settings, MissingTable(c.Missing)}
}

// Figures are the accuracies. LAGO is shaded.
func (c *Comparison) Figures(string) ([]plot.Figure, error) {
	return c.Draw(func(m Method) bool { return m.Variant != "" }), nil
}

// Draw draws the accuracies, with the published ones, if there are methods. Those with focus are shaded.
func (c *Comparison) Draw(focus func(Method) bool) []plot.Figure {
	if len(c.Methods) == 0 {
		return nil
	}
	p, paper := &plot.Dots{X: AccuracyAxis, Percent: true}, plot.DotSeries{
		Name: "published", Condition: plot.Dotted,
	}
	var val, test []Measured
	var seeds []int
	for i, m := range c.Sorted() {
		p.Rows = append(p.Rows, plot.Row{Name: m.Label(), Focus: focus(m)})
		val, test, seeds = append(val, m.Val), append(test, m.Test), append(seeds,
			len(m.Test.PerClass.Values))
		if percent, err := strconv.ParseFloat(m.Published, 64); err == nil { // otherwise a range, or none
			paper.Dots = append(paper.Dots, plot.Dot{Row: i, Value: percent, Low: percent, High: percent})
		}
	}
	unseen := Panel("unseen", test)
	unseen.Series = append(unseen.Series, paper)
	if !c.fixed() {
		p.Panels = append(p.Panels, Panel("validation", val))
	}
	p.Panels = append(p.Panels, unseen)
	return []plot.Figure{{
		Name: c.Kind, Title: c.Title + InParts("unseen", c.Parts), Picture: p,
		Caption: fmt.Sprintf("Mean over %s; %s.", SeedsText(seeds), IntervalText),
	}}
}
