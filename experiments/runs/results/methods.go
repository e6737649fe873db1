package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train/methods"
)

// Method is the result of an arm over all parts, by the full protocol.
type Method struct {
	Name    string   `json:"name"`              // as in --methods
	Title   string   `json:"title"`             // in tables and figures
	Variant string   `json:"variant,omitempty"` // of LAGO; mixed if the parts chose different ones
	Val     Measured `json:"val"`               // on the validation classes
	Test    Measured `json:"test"`              // on the test classes
	Seconds float64  `json:"seconds"`           // to train one model on train and validation classes
	Tried   int      `json:"tried"`             // number of settings in each part
	// number of corrections that each of the settings was tried with
	Corrections int    `json:"tried_corrections"`
	Parts       []Part `json:"parts"` // one, or one for each part of a rotation
	// test accuracy in table A.1, a number or a range
	Published string   `json:"published_percent,omitempty"`
	RunDirs   []string `json:"run_dirs"` // folders of the runs

	Outcomes []*lab.Outcome `json:"-"` // of the parts
}

// Part is what an arm chose without the test classes of one part.
type Part struct {
	Variant  string         `json:"variant,omitempty"`
	Epochs   int            `json:"epochs"`   // on train and validation classes
	Settings map[string]any `json:"settings"` // chosen, by name
	Changed  map[string]any `json:"changed"`  // those of the settings that are not the default
	Edges    []lab.Edge     `json:"edges"`    // settings at an end of the searched values
}

// Label names the arm and, for LAGO, the chosen variant.
func (m Method) Label() string {
	if m.Name == methods.LAGO {
		return fmt.Sprintf("LAGO (%s)", m.Variant)
	}
	return m.Title
}

// each lists what a function has for each part, once if it is equal in all.
func (m Method) each(value func(Part) any) string {
	var list []string
	for _, p := range m.Parts {
		list = append(list, fmt.Sprint(value(p)))
	}
	if len(slices.Compact(slices.Clone(list))) == 1 {
		list = list[:1]
	}
	return strings.Join(list, ", ")
}

// Correction names that of the scores which the parts chose.
func (m Method) Correction() string {
	return m.each(func(p Part) any {
		if omega, on := p.Settings["omega"]; on {
			return fmt.Sprint(p.Settings["correction"], " ", format.Setting(omega))
		}
		return p.Settings["correction"]
	})
}

// edgeMark marks a value in Chosen that is at an end of the searched ones, or outside.
const edgeMark = "*"

// Chosen describes what the parts chose: the epochs, and settings that are not the default or at an
// end of the searched values.
func (m Method) Chosen() string {
	marked := func(p Part, key string, value any) string {
		text := format.Setting(value)
		if slices.ContainsFunc(p.Edges, func(e lab.Edge) bool { return e.Setting == key }) {
			text += edgeMark
		}
		return text
	}
	line := "epochs " + m.each(func(p Part) any { return marked(p, "epochs", p.Epochs) })
	if m.Name == methods.LAGO {
		line += "; " + m.each(func(p Part) any { return p.Variant })
	}
	shown := map[string]any{}
	for _, p := range m.Parts {
		maps.Copy(shown, p.Changed)
		for _, e := range p.Edges {
			shown[e.Setting] = e.Value
		}
	}
	for _, key := range append([]string{"epochs"}, methods.CorrectionKeys...) { // see Correction
		delete(shown, key)
	}
	for _, key := range slices.Sorted(maps.Keys(shown)) {
		line += fmt.Sprintf("; %s %s", key,
			m.each(func(p Part) any { return marked(p, key, cmp.Or(p.Changed[key], any("default"))) }))
	}
	return line
}

// Methods summarises the arms of a plan whose stages all have their runs.
func Methods(done *lab.Outcomes) []Method {
	list := []Method{}
	for i, arm := range done.Plan.Arms {
		if done.Done(i) {
			list = append(list, newMethod(arm, done.Arms[i]))
		}
	}
	return list
}

func newMethod(arm lab.Arm, outcomes []*lab.Outcome) Method {
	r := Method{
		Name: arm.Name, Title: arm.Title, Parts: []Part{}, Tried: len(outcomes[0].Tried),
		Corrections: outcomes[0].Corrections, Outcomes: outcomes,
	}
	var val, test []lab.Run
	for i, o := range outcomes {
		p := Part{
			Variant: string(o.Chosen.Method.Variant()), Epochs: o.Epochs, Settings: methodSettings(o.Chosen),
			Edges: o.Edges,
		}
		defaults := methodSettings(config.Defaults(o.Chosen.Method).On(o.Part.Data))
		p.Changed = maps.Clone(p.Settings)
		maps.DeleteFunc(p.Changed, func(key string, value any) bool { return value == defaults[key] })
		if i == 0 {
			r.Variant = p.Variant
		} else if r.Variant != p.Variant {
			r.Variant = "mixed"
		}
		r.Parts = append(r.Parts, p)
		val, test = append(val, o.Val...), append(test, o.Test...)
	}
	r.Val, r.Test = *Measure(val), *Measure(test)
	if len(outcomes) == 1 { // a rotation has other classes
		r.Published = config.PublishedAccuracy(outcomes[0].Part.Data, r.Title)
	}
	r.RunDirs = lab.Dirs(slices.Concat(val, test))
	for _, run := range test {
		r.Seconds += run.Result.Seconds / float64(len(test))
	}
	return r
}

func methodSettings(c config.Config) map[string]any {
	return slices.DeleteFunc(c.Settings().Used(), func(s setting.Setting) bool {
		return s.Scope == setting.Data || s.Scope == setting.Protocol ||
			slices.Contains([]string{"method", "epochs", "patience"}, s.Key)
	}).Values()
}

// MethodTable is the result of a study of methods by the full protocol.
type MethodTable struct {
	Header
	Folds   int      `json:"folds"`   // of the seen classes, over which settings were chosen
	Ordered bool     `json:"ordered"` // the methods are shown in their order, otherwise by accuracy
	Methods []Method `json:"methods"`
}

// NewMethodTable summarises a plan on the parts of a lab.
func NewMethodTable(l *lab.Lab, kind, title string, done *lab.Outcomes) MethodTable {
	return MethodTable{
		Header: Header{
			Kind: kind, Title: title, Dataset: l.Data.Name, Parts: len(l.Parts), Missing: done.Missing,
		},
		Folds: max(done.Plan.Folds, 1), Methods: Methods(done),
	}
}

// fixed reports whether there were too few classes to choose anything by: no method has a validation
// accuracy.
func (c *MethodTable) fixed() bool {
	return !slices.ContainsFunc(c.Methods, func(m Method) bool { return m.Val.Parts > 0 })
}

// Sorted returns the methods in the order in which they are shown.
func (c *MethodTable) Sorted() []Method {
	if c.Ordered {
		return c.Methods
	}
	return slices.SortedStableFunc(slices.Values(c.Methods), func(a, b Method) int {
		return cmp.Compare(b.Test.PerClass.Mean, a.Test.PerClass.Mean)
	})
}

// Tables are the accuracies, the chosen settings, and what is missing.
func (c *MethodTable) Tables() []*table.Table {
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
	// the same method can be a row of run, with its defaults
	title, searched := "method", " (settings searched)"
	if !slices.ContainsFunc(c.Methods, func(m Method) bool { return m.Tried < 2 }) {
		title, searched = title+searched, ""
	}
	t := table.New(fmt.Sprintf("%s on %s: per-class accuracy%s, %s", c.Title, c.Dataset,
		InParts("unseen", c.Parts), chosen),
		title, "validation", test, "95 % over classes", overSeeds, "published", "tried").
		Right(2, 3, 4, 5, 6, 7)
	settings := table.New("", "method", "seeds", "seconds", "correction",
		"epochs, and settings that are not the default").Right(3)
	edges, corrections := false, false
	for _, m := range c.Sorted() {
		tried, chosen, name := format.Missing, m.Chosen(), m.Label()
		if m.Tried > 1 {
			tried = fmt.Sprint(m.Tried)
		}
		if m.Tried > 1 && m.Variant == "" {
			name += searched
		}
		if m.Corrections > 1 {
			tried, corrections = fmt.Sprintf("%d x %d", m.Tried, m.Corrections), true
		}
		edges = edges || strings.Contains(chosen, edgeMark)
		t.Row(name, m.Val.MeanText(), m.Test.MeanText(), m.Test.Interval,
			m.Test.PerClass.SEMText(), cmp.Or(m.Published, format.Missing), tried)
		settings.Row(m.Label(), len(m.Test.PerClass.Values), fmt.Sprintf("%.1f", m.Seconds), m.Correction(),
			chosen)
	}
	if corrections {
		t.Note("tried: number of settings x corrections of the scores")
	}
	if edges {
		settings.Note("%s: the lowest or highest of the searched values, or outside them", edgeMark)
	}
	return []*table.Table{t, settings, MissingTable(c.Missing)}
}

// Draw draws the accuracies, with the published ones, if there are methods. Those with focus are shaded.
func (c *MethodTable) Draw(focus func(Method) bool) []plot.Figure {
	if len(c.Methods) == 0 {
		return nil
	}
	p, paper := &plot.Dots{X: AccuracyAxis, Percent: true}, publishedDots
	var val, test []Measured
	var seeds []int
	for i, m := range c.Sorted() {
		p.Rows = append(p.Rows, plot.Row{Name: m.Label(), Focus: focus(m)})
		val, test = append(val, m.Val), append(test, m.Test)
		seeds = append(seeds, len(m.Test.PerClass.Values))
		if percent, err := strconv.ParseFloat(m.Published, 64); err == nil { // otherwise a range, or none
			there := plot.Point{X: float64(i), Y: percent, Low: percent, High: percent}
			paper.Points = append(paper.Points, there)
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
