package comparison

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/experiments/answers/decision"
	"github.com/lago-train/lago-train/experiments/runs/engine"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train/metrics"
)

// Difference is the test accuracy of the reference method minus that of another one.
type Difference struct {
	Reference string `json:"reference"` // from whose accuracy that of method is subtracted
	Method    string `json:"method"`
	metrics.Difference
	Holm float64   `json:"p_holm"`       // p, corrected by Holm for the number of differences
	By   []float64 `json:"by,omitempty"` // the mean difference in each part, or in each partition
}

// pairs lists which methods are compared: the row of LAGO with the highest validation accuracy, or
// the first row if LAGO is in none, with all baselines, or with all others if there is none.
func (r *Result) pairs() (list [][2]int) {
	if len(r.Methods) == 0 {
		return nil
	}
	reference, baselines := 0, false
	for i, m := range r.Methods {
		best := r.Methods[reference]
		if m.Variant != "" && (best.Variant == "" || m.Val.PerClass.Mean > best.Val.PerClass.Mean) {
			reference = i
		}
		baselines = baselines || m.Variant == ""
	}
	best := r.Methods[reference]
	for i, m := range r.Methods {
		// The row of LAGO has the runs of one of its variants, unless the parts chose different ones.
		if !slices.Equal(m.RunDirs, best.RunDirs) && !(baselines && best.Variant != "" && m.Variant != "") {
			list = append(list, [2]int{reference, i})
		}
	}
	return list
}

// differences compares methods. of has the difference of two of them, and its mean in each part or partition.
func (r *Result) differences(of func(x, y int) (metrics.Difference, []float64)) []Difference {
	list := []Difference{}
	var p []float64
	for _, pair := range r.pairs() {
		d := Difference{Reference: r.Methods[pair[0]].Name, Method: r.Methods[pair[1]].Name}
		d.Difference, d.By = of(pair[0], pair[1])
		list, p = append(list, d), append(p, d.P)
	}
	for i, corrected := range metrics.Holm(p) {
		list[i].Holm = corrected
	}
	return list
}

// byPart has the mean difference of two methods in each part of a rotation.
func (r *Result) byPart(x, y int) []float64 {
	list, classes := make([]float64, r.Parts), make([]float64, r.Parts)
	for _, c := range r.Classes {
		list[c.Part-1] += c.Accuracy[x] - c.Accuracy[y]
		classes[c.Part-1]++
	}
	floats.Div(list, classes)
	return list
}

// Check implements lab.Checked.
func (r *Result) Check() error {
	for _, n := range []int{len(r.Adapted), len(r.Generalised)} {
		if n > 0 && n != len(r.Methods) {
			return &invalid.Error{
				Field: "adapted and generalised", Want: "one for each method",
				Got: fmt.Sprintf("%d for %d methods", n, len(r.Methods)),
			}
		}
	}
	for _, by := range r.ByEpoch {
		if r.find(by.Method) < 0 {
			return &invalid.Error{Field: "by_epoch", Want: "names of the methods", Got: invalid.Quote(by.Method)}
		}
		for _, v := range by.Accuracy {
			if err := results.Within("by_epoch", v, 0, 1); err != nil {
				return err
			}
		}
	}
	if len(r.Generalised) > 0 && len(r.Differences) == 0 {
		return &invalid.Error{Field: "differences", Want: "at least one beside generalised", Got: "none"}
	}
	for _, d := range slices.Concat(r.Differences, r.AdaptedDifferences, r.PartitionDifferences) {
		for _, name := range []string{d.Reference, d.Method} {
			if r.find(name) < 0 {
				return &invalid.Error{
					Field: "differences", Want: "names of the methods", Got: invalid.Quote(name),
				}
			}
		}
		if err := results.CheckDifference("differences", d.Difference); err != nil {
			return err
		}
	}
	return r.Comparison.Check()
}

// label names a method in tables and figures.
func (r *Result) label(name string) string { return r.Methods[r.find(name)].Label() }

// Tables are the methods, their adaptation, the differences, and the chosen settings.
func (r *Result) Tables() []*table.Table {
	list := r.Comparison.Tables()
	if slices.ContainsFunc(r.Methods, func(m results.Method) bool { return m.Published != "" }) {
		held := "with them"
		if r.HoldOut {
			held = "without them"
		}
		list[0].Note("published: table A.1 of the paper, on the data set's own test classes.")
		list[0].Note("Its baselines were trained without the held-out samples of seen classes " +
			"(trainval_loc), its LAGO with them.")
		list[0].Note("Here every method is trained %s.", held)
	}
	over := fmt.Sprintf("%s, over %s", "%s", format.Count(len(r.Classes), "class"))
	return slices.Insert(list, 1, r.generalisedTable(), r.generalisedDifferences(), r.adaptedTable(),
		r.differencesTable(over+":", "by part", r.Differences),
		r.differencesTable("adapted, "+over+":", "", r.AdaptedDifferences),
		r.differencesTable(fmt.Sprintf("%s, mean over %d partitions into parts; 95 %%%% and p over "+
			"classes and parts:", over, len(r.Partitions)),
			"by partition", r.PartitionDifferences))
}

// differencesTable has differences and what may be concluded from them. The title has a verb for what
// is compared.
func (r *Result) differencesTable(title, by string, list []Difference) *table.Table {
	if len(list) == 0 {
		return nil
	}
	reference := r.label(list[0].Reference)
	list = slices.SortedStableFunc(slices.Values(list), func(a, b Difference) int {
		return cmp.Compare(a.Mean, b.Mean)
	})
	t := table.New(fmt.Sprintf(title, reference+" minus each method"), "method", "points (95 %)", "p (Holm)",
		by).Right(2, 3)
	var more, less, undecided []string
	for _, d := range list {
		name := r.label(d.Method)
		each := []string{format.Missing}
		if len(d.By) > 1 {
			each = nil
			for _, part := range d.By {
				each = append(each, format.Points(part))
			}
		}
		t.Row(name, results.DifferenceText(d.Difference), fmt.Sprintf("%.2g", d.Holm),
			strings.Join(each, " "))
		switch {
		case d.Holm >= metrics.Significance:
			undecided = append(undecided, name)
		case d.Mean > 0:
			more = append(more, name)
		default:
			less = append(less, name)
		}
	}
	t.OmitEmpty()
	names := func(list []string) string { return cmp.Or(strings.Join(list, ", "), "none") }
	return t.Note("%s is more accurate than: %s; less accurate than: %s; cannot be ranked on these "+
		"classes (p by Holm at least %g): %s",
		reference, names(more), names(less), metrics.Significance, names(undecided))
}

// adaptedTable has the effect of adaptation on the test classes; nil without adaptation.
func (r *Result) adaptedTable() *table.Table {
	if len(r.Adapted) == 0 {
		return nil
	}
	t := table.New(fmt.Sprintf("transductive (adapted to the unlabelled samples) minus "+
		"inductive, over %d classes:", len(r.Classes)),
		"method", "transductive", "95 % over classes", "points gained (95 %)").Right(2, 3, 4)
	for _, m := range r.Sorted() {
		a := r.Adapted[r.find(m.Name)]
		t.Row(m.Label(), format.Percent(a.Test), a.Interval, results.DifferenceText(a.Difference))
	}
	return t
}

// Figures are the accuracy of all methods, that by the number of settings tried, and the differences
// from LAGO.
func (r *Result) Figures(dir string) ([]plot.Figure, error) {
	figures, err := r.Comparison.Figures(dir)
	if err != nil {
		return figures, err
	}
	if q := r.tries(); len(q.Series) > 0 {
		figures = append(figures, plot.Figure{
			Name: r.Kind + "-tries", Title: "Accuracy by the number of settings tried", Picture: q,
			Caption: "Validation accuracy of the best settings so far, by one seed after a part of the " +
				"epochs, mean over parts. LAGO tries its variants one after the other; of a closed form " +
				"the whole grid is tried, in its order.",
		})
	}
	if l := r.byEpoch(); len(l.Series) > 0 {
		figures = append(figures, plot.Figure{
			Name: r.Kind + "-epochs", Title: "Accuracy by epoch", Picture: l,
			Caption: "Validation accuracy after each epoch, mean over parts and seeds, without correction, up " +
				"to the last epoch of the part that ended first. Marks are the numbers of epochs that parts " +
				"chose; later ones are not drawn.",
		})
	}
	if len(r.Differences) == 0 {
		return figures, nil
	}
	reference := r.label(r.Differences[0].Reference)
	p, s := &plot.Dots{X: reference + " minus the method (points)"}, plot.DotSeries{Name: "difference"}
	byDifference := func(a, b Difference) int { return cmp.Compare(b.Mean, a.Mean) }
	for i, d := range slices.SortedStableFunc(slices.Values(r.Differences), byDifference) {
		p.Rows = append(p.Rows, plot.Row{Name: r.label(d.Method), Focus: d.Holm < metrics.Significance})
		s.Dots = append(s.Dots, results.Dot(i, d.Mean, d.Interval))
	}
	p.Panels = []plot.Panel{{Series: []plot.DotSeries{s}}}
	return append(figures, plot.Figure{
		Name: r.Kind + "-differences", Title: "Differences between " + reference + " and the other methods",
		Picture: p,
		Caption: fmt.Sprintf("Difference of accuracies in percentage points, %s; bars are 95 %% bootstrap "+
			"intervals over classes. Differences in colour are significant (p by Holm below %g).",
			format.Count(len(r.Classes), "unseen class"), metrics.Significance),
	}), nil
}

// tries draws the accuracy by the number of settings of methods that tried several.
func (r *Result) tries() *plot.Lines {
	p := &plot.Lines{X: "number of settings tried", Y: "validation accuracy (%)", Percent: true, Log2: true}
	for i, m := range r.Methods {
		p.Chance = 100 * m.Val.Chance()
		if len(m.Tries) < engine.MinBudget {
			continue
		}
		p.Series = append(p.Series, line(m, i, m.Tries))
	}
	return p
}

// byEpoch draws the accuracy by epoch of methods that have several.
func (r *Result) byEpoch() *plot.Lines {
	p := &plot.Lines{X: "epoch", Y: "validation accuracy (%)", Percent: true}
	for i, by := range r.ByEpoch {
		m := r.Methods[r.find(by.Method)]
		p.Chance = 100 * m.Val.Chance()
		s := line(m, i, by.Accuracy)
		for _, part := range m.Parts {
			if part.Epochs <= len(s.Points) {
				s.Marks = append(s.Marks, part.Epochs-1)
			}
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// line draws the accuracies of a method against their numbers: LAGO in colour.
func line(m results.Method, i int, accuracies []float64) plot.Series {
	s := plot.Series{Name: m.Label(), Look: plot.Look{Method: m.Name, Condition: plot.Condition(i % 3)}}
	if m.Variant != "" {
		s.Look = plot.Look{Method: plot.Focus}
	}
	for n, accuracy := range accuracies {
		s.Points = append(s.Points, plot.PercentPoint(float64(n+1), accuracy, accuracy, accuracy))
	}
	return s
}

// Adapted is the accuracy of a method that is adapted to the unlabelled samples of the
// evaluated classes (transductive), as fractions.
type Adapted struct {
	Method     string             `json:"method"`
	Test       float64            `json:"test_per_class_accuracy"` // mean over classes and seeds
	Interval   metrics.Interval   `json:"interval"`                // over classes
	Difference metrics.Difference `json:"difference"`              // transductive minus inductive
	Settings   []adapt.Settings   `json:"settings"`                // that validation chose, one for each part
}

// adaptedPart is a method adapted to the test classes of one part.
type adaptedPart struct {
	settings adapt.Settings
	byClass  []float64 // mean over seeds
}

// adapt adapts the models of each method, and compares them.
func (r *Result) adapt(ctx context.Context, l *lab.Lab) error {
	parts := map[string]adaptedPart{} // by folder of a run: the row of LAGO has the models of a variant
	var accuracies [][]float64
	for _, m := range r.Methods {
		l.Step("adapt %s", m.Name)
		a := Adapted{Method: m.Name}
		var after []float64
		for _, o := range m.Outcomes {
			if err := ctx.Err(); err != nil {
				return err
			}
			p, done := parts[o.Test[0].Dir]
			if !done {
				var err error
				if p, err = adaptPart(ctx, o); err != nil {
					return err
				}
				parts[o.Test[0].Dir] = p
			}
			a.Settings, after = append(a.Settings, p.settings), append(after, p.byClass...)
		}
		a.Test, a.Interval, a.Difference = stat.Mean(after,
			nil), metrics.ClassInterval(after), metrics.PairedDifference(after, m.Test.ByClass)
		r.Adapted, accuracies = append(r.Adapted, a), append(accuracies, after)
	}
	r.AdaptedDifferences = r.differences(func(x, y int) (metrics.Difference, []float64) {
		return metrics.PairedDifference(accuracies[x], accuracies[y]), nil
	})
	return nil
}

// adaptPart chooses the settings over the folds of a part, on the dev runs, and adapts the
// models of the test stage.
func adaptPart(ctx context.Context, o *engine.Outcome) (p adaptedPart, err error) {
	chosen, err := decision.ChooseForOutcome(ctx, o)
	if err != nil {
		return p, err
	}
	p.settings = chosen.Adaptation.Settings
	data := o.Part.Data
	mean := make([]float64, len(data.Split.Test))
	for _, path := range lab.ModelFiles(o.Test) {
		adapted, err := decision.ClassAccuracy(path, data, data.Split.Test)
		if err != nil {
			return p, err
		}
		floats.AddScaled(mean, 1/float64(len(o.Test)), adapted)
	}
	for i, z := range data.Split.Test {
		if data.SamplesPerClass()[z] > 0 {
			p.byClass = append(p.byClass, mean[i])
		}
	}
	return p, nil
}
