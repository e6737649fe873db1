// Package results has what a study implements, and its results: the accuracy over seeds and classes, the rows
// of tables, and what their figures have in common.
package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Measured is the accuracy on the classes that a stage evaluates, as fractions, over seeds.
type Measured struct {
	PerClass lab.Summary `json:"per_class_accuracy"` // mean over classes
	// over classes, whose accuracies are means over seeds
	Interval  metrics.Interval `json:"interval"`
	PerSample lab.Summary      `json:"per_sample_accuracy"` // mean over samples
	Classes   int              `json:"classes"`
	Parts     int              `json:"parts"`  // of the classes; predictions are among those of a part
	Status    []train.Status   `json:"status"` // why each seed ended

	ClassNames []string  `json:"-"`
	ByClass    []float64 `json:"-"` // of ClassNames, means over seeds
}

// Chance is the expected accuracy of random predictions.
func (m Measured) Chance() float64 { return Chance(m.Parts, m.Classes) / 100 }

// MeanText returns the mean in percent, or a dash if each part has one class, among which any prediction is
// right.
func (m Measured) MeanText() string {
	if m.Classes <= m.Parts {
		return format.Missing
	}
	return m.PerClass.MeanText()
}

// Chance is the same in percent, for figures of results that older versions stored without classes: 0.
func Chance(parts, classes int) float64 {
	if classes == 0 {
		return 0
	}
	return 100 * float64(parts) / float64(classes)
}

// String returns the accuracy with its interval over classes and its standard error.
func (m Measured) String() string {
	return fmt.Sprintf("%s (95 %% over %d classes: %s; s.e.m. over %s: %s)",
		m.MeanText(), m.Classes, m.Interval, format.Count(len(m.PerClass.Values),
			"seed"), m.PerClass.SEMText())
}

// Measure summarises the scores of finished runs over seeds. The accuracy of a seed is that
// on all classes of its runs, which may be of several parts or folds. Runs without a result
// are left out, and seeds that lack one of the parts.
func Measure(runs []lab.Run) *Measured {
	all, finished := map[string]bool{}, map[uint64]int{} // parts, and number of results
	for _, r := range runs {
		all[r.Fingerprint] = true
		if r.Evaluation != nil {
			finished[r.Seed]++
		}
	}
	runs = slices.DeleteFunc(slices.Clone(runs), func(r lab.Run) bool { return finished[r.Seed] < len(all) })
	m := &Measured{}
	parts := map[string]int{} // number of classes
	for _, r := range runs {
		parts[r.Fingerprint] = len(r.Result.Classes)
		m.Status = append(m.Status, r.Result.Status)
	}
	m.Parts = len(parts)
	for _, classes := range parts {
		m.Classes += classes
	}
	var perClass, perSample, seedsOf []float64
	at := map[string]int{} // the place of a class in ByClass
	for _, seed := range lab.BySeed(runs) {
		var recalls, classes float64
		var right, samples int
		for _, r := range seed {
			e := r.Evaluation
			tally := e.Confusion.Tally(len(r.Result.Classes))
			for z, recall := range tally.Recall() {
				class := r.Result.Classes[z]
				if tally.Samples[z] == 0 {
					continue
				}
				i, known := at[class]
				if !known {
					i = len(m.ByClass)
					at[class] = i
					m.ClassNames, m.ByClass, seedsOf = append(m.ClassNames, class), append(m.ByClass,
						0), append(seedsOf, 0)
				}
				m.ByClass[i] += recall
				seedsOf[i]++
				recalls, classes = recalls+recall, classes+1
				right, samples = right+tally.Right[z], samples+tally.Samples[z]
			}
		}
		perClass = append(perClass, recalls/classes)
		perSample = append(perSample, float64(right)/float64(samples))
	}
	floats.Div(m.ByClass, seedsOf)
	m.PerClass, m.PerSample = lab.Summarise(perClass), lab.Summarise(perSample)
	m.Interval = metrics.ClassInterval(m.ByClass)
	return m
}

// Headline says how accurate a method is on unseen classes.
func (m Measured) Headline(method string) string {
	accuracy := m.MeanText()
	if interval := m.Interval.String(); interval != format.Missing {
		accuracy += fmt.Sprintf(" (95 %%: %s)", interval)
	}
	return fmt.Sprintf("%s on %s, %s", accuracy, format.Count(m.Classes, "unseen class"), method)
}

// InParts says, as the end of a sentence, what each class is in one of the parts of a rotation;
// nothing if there is one part.
func InParts(each string, parts int) string {
	if parts < 2 {
		return ""
	}
	return fmt.Sprintf(", each class %s in one of %d parts", each, parts)
}

// AccuracyAxis is the title of an axis of accuracy in figures.
const AccuracyAxis = "per-class accuracy (%)"

// SeedsText gives the range of numbers of seeds: "2 seeds", or "1 to 5 seeds".
func SeedsText(counts []int) string {
	least, most := slices.Min(counts), slices.Max(counts)
	if least < most {
		return fmt.Sprintf("%d to %d seeds", least, most)
	}
	return format.Count(most, "seed")
}

// Dot draws a fraction in percent, with its interval over classes.
func Dot(row int, value float64, i metrics.Interval) plot.Dot {
	return plot.PercentDot(row, value, i.Low, i.High)
}

// Point draws a fraction in percent, with its interval over classes.
func Point(x, value float64, i metrics.Interval) plot.Point {
	return plot.PercentPoint(x, value, i.Low, i.High)
}

// IntervalText says what error bars of accuracies and dashed lines are, for captions.
const IntervalText = "bars are 95 % bootstrap intervals over classes, the dashed line is chance"

// Panel draws the accuracy that rows have in one stage, which names its classes.
func Panel(stage string, rows []Measured) plot.Panel {
	s := plot.DotSeries{}
	for i, m := range rows {
		s.Dots = append(s.Dots, Dot(i, m.PerClass.Mean, m.Interval))
	}
	return plot.Panel{
		Title: format.Count(rows[0].Classes, stage+" class"), Chance: 100 * rows[0].Chance(),
		Series: []plot.DotSeries{s},
	}
}

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

	Models   []string       `json:"-"` // files of those that were evaluated on the test classes
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

// Mixed is the Variant of a Method whose parts chose different variants.
const Mixed = "mixed"

// Label names the arm and, for LAGO, the chosen variant.
func (m Method) Label() string {
	if m.Name == lab.LAGOMethod {
		return fmt.Sprintf("LAGO (%s)", m.Variant)
	}
	return m.Title
}

// each lists what a function has for each part, once if it is equal in all.
func (m Method) each(of func(Part) any) string {
	var list []string
	for _, p := range m.Parts {
		list = append(list, fmt.Sprint(of(p)))
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
			return fmt.Sprint(p.Settings["correction"], " ", omega)
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
		if slices.ContainsFunc(p.Edges, func(e lab.Edge) bool { return e.Setting == key }) {
			return fmt.Sprint(value, edgeMark)
		}
		return fmt.Sprint(value)
	}
	line := "epochs " + m.each(func(p Part) any { return marked(p, "epochs", p.Epochs) })
	if m.Name == lab.LAGOMethod {
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
	if len(shown) == 0 {
		line += "; defaults"
	}
	return line
}

// Methods summarises the arms of a plan whose stages all have their runs.
func Methods(done *lab.Outcomes) []Method {
	rows := []Method{}
	for i, arm := range done.Plan.Arms {
		if done.Done(i) {
			rows = append(rows, NewMethod(arm, done.Arms[i]))
		}
	}
	return rows
}

// NewMethod summarises the outcomes of an arm in all parts, whose stages all have their runs.
func NewMethod(arm lab.Arm, outcomes []*lab.Outcome) Method {
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
			r.Variant = Mixed
		}
		r.Parts = append(r.Parts, p)
		val, test = append(val, o.Val...), append(test, o.Test...)
	}
	r.Val, r.Test, r.Models = *Measure(val), *Measure(test), lab.ModelFiles(test)
	if len(outcomes) == 1 { // a rotation has other classes
		r.Published = config.PublishedAccuracy(outcomes[0].Part.Data, r.Title)
	}
	r.RunDirs = lab.Dirs(slices.Concat(val, test))
	for _, run := range test {
		r.Seconds += run.Result.Seconds / float64(len(test))
	}
	return r
}

// methodSettings lists the settings that apply, without those of data and protocol.
func methodSettings(c config.Config) map[string]any {
	return slices.DeleteFunc(c.Settings().Used(), func(s setting.Setting) bool {
		return s.Scope == setting.Data || s.Scope == setting.Protocol ||
			slices.Contains([]string{"method", "epochs", "patience"}, s.Key)
	}).Values()
}

// Validation is the accuracy of an arm on the validation classes of all parts.
func Validation(done *lab.Outcomes, arm int) *Measured {
	var runs []lab.Run
	for _, o := range done.Arms[arm] {
		runs = append(runs, o.Val...)
	}
	return Measure(runs)
}
