package studies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train/metrics"
)

// MethodDifference is the test accuracy of the reference method minus that of another one.
type MethodDifference struct {
	Reference string `json:"reference"` // from whose accuracy that of method is subtracted
	Method    string `json:"method"`
	metrics.Difference
	Holm float64   `json:"p_holm"`       // p, corrected by Holm for the number of differences
	By   []float64 `json:"by,omitempty"` // the mean difference in each part
}

// pairs lists which methods are compared: the row of LAGO with the highest validation accuracy, or
// the first row if LAGO is in none, with all baselines, or with all others if there is none.
func (r *ComparedMethods) pairs() (list [][2]int) {
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

// setDifferences compares methods.
func (r *ComparedMethods) setDifferences() {
	r.Differences = []MethodDifference{}
	var p []float64
	for _, pair := range r.pairs() {
		x, y := r.Methods[pair[0]], r.Methods[pair[1]]
		d := MethodDifference{
			Reference: x.Name, Method: y.Name, By: r.byPart(pair[0], pair[1]),
			Difference: metrics.PairedDifference(x.Test.ByClass, y.Test.ByClass),
		}
		r.Differences, p = append(r.Differences, d), append(p, d.P)
	}
	for i, corrected := range metrics.Holm(p) {
		r.Differences[i].Holm = corrected
	}
}

// byPart has the mean difference of two methods in each part of a rotation.
func (r *ComparedMethods) byPart(x, y int) []float64 {
	list, classes := make([]float64, r.Parts), make([]float64, r.Parts)
	for _, c := range r.Classes {
		list[c.Part-1] += c.Accuracy[x] - c.Accuracy[y]
		classes[c.Part-1]++
	}
	floats.Div(list, classes)
	return list
}

// label names a method in tables and figures.
func (r *ComparedMethods) label(name string) string { return r.Methods[r.find(name)].Label() }

// Tables are the methods, the differences, and the chosen settings.
func (r *ComparedMethods) Tables() []*table.Table {
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
	return slices.Insert(list, 1, r.generalisedTable(), r.generalisedDifferences(), r.differencesTable())
}

// differencesTable has the differences and what may be concluded from them; nil if there are none.
func (r *ComparedMethods) differencesTable() *table.Table {
	if len(r.Differences) == 0 {
		return nil
	}
	reference := r.label(r.Differences[0].Reference)
	list := slices.SortedStableFunc(slices.Values(r.Differences), func(a, b MethodDifference) int {
		return cmp.Compare(a.Mean, b.Mean)
	})
	t := table.New(fmt.Sprintf("%s minus each method, over %s:", reference,
		format.Count(len(r.Classes), "class")), "method", "points (95 %)", "p (Holm)", "by part").Right(2, 3)
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

// Figures are the accuracy of all methods, and the differences from LAGO.
func (r *ComparedMethods) Figures(dir string) ([]plot.Figure, error) {
	figures, err := r.Comparison.Figures(dir)
	if err != nil {
		return figures, err
	}
	if len(r.Differences) == 0 {
		return figures, nil
	}
	reference := r.label(r.Differences[0].Reference)
	p, s := &plot.Dots{X: reference + " minus the method (points)"}, plot.DotSeries{}
	byDifference := func(a, b MethodDifference) int { return cmp.Compare(b.Mean, a.Mean) }
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
