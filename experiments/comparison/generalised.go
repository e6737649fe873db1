package comparison

import (
	"context"
	"slices"

	"github.com/lago-train/lago-train/experiments/evaluation"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/predictor"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train/metrics"
)

// Generalised is a method in the generalised setting, by the model of its first seed.
type Generalised struct {
	Method   string              `json:"method"`
	Remedies []evaluation.Remedy `json:"remedies"`
	Best     string              `json:"best"` // the remedy with the highest harmonic mean on validation
	// that of the method which the others are compared with minus this one, each with its best remedy
	Difference float64          `json:"difference"`
	Interval   metrics.Interval `json:"interval"`
}

func (g Generalised) best() evaluation.Remedy {
	return g.Remedies[slices.IndexFunc(g.Remedies, func(r evaluation.Remedy) bool { return r.Preferred })]
}

// generalise evaluates the methods among seen and unseen classes, if a dev run of the same split can choose
// gamma and omega.
func (r *Result) generalise(ctx context.Context, l *lab.Lab) error {
	for _, m := range r.Methods {
		l.Step("seen and unseen classes: %s", m.Name)
		o := m.Outcomes[0]
		var models []*predictor.Model
		for _, run := range []lab.Run{o.Test[0], o.Val[0]} {
			model, err := evaluation.ReadModel(lab.ModelFiles([]lab.Run{run})[0])
			if err != nil {
				return err
			}
			models = append(models, model)
		}
		g, err := evaluation.Models{
			Data: o.Part.Data, Split: evaluation.TestSplit, Models: models[:1], Dev: models[1:],
			Candidates: models[0].SelectedCandidates(o.Part.Data, predictor.Seen, predictor.Test),
		}.Remedies(ctx)
		if err != nil {
			return err
		}
		if len(g) == 0 { // no sample of a train class was held out
			return nil
		}
		of := Generalised{Method: m.Name, Remedies: g}
		of.Best = of.best().Name
		r.Generalised = append(r.Generalised, of)
	}
	for _, pair := range r.pairs() {
		x, y := r.Generalised[pair[0]], &r.Generalised[pair[1]]
		y.Difference, y.Interval = x.best().Minus(y.best())
	}
	return nil
}

// generalisedTable has the harmonic means of the accuracies on seen and unseen classes; nil if they were not
// evaluated.
func (r *Result) generalisedTable() *table.Table {
	if len(r.Generalised) == 0 {
		return nil
	}
	t := table.New("seen and unseen classes as candidates: harmonic mean of the accuracies on both, first seed", "method").Right(2, 3, 4, 5)
	for _, m := range r.Sorted() {
		g := r.Generalised[r.find(m.Name)]
		row := []any{m.Label()}
		for _, remedy := range g.Remedies {
			if len(t.Rows) == 0 {
				t.Header = append(t.Header, remedy.Name)
			}
			mark := ""
			if remedy.Preferred {
				mark = bestMark
			}
			row = append(row, format.Percent(remedy.Mean)+mark)
		}
		t.Row(row...)
	}
	t.Note("stacked: gamma is subtracted from the scores of seen classes; corrected: by seen classes; gamma and omega chosen on validation")
	return t.Note("%s: the best of a method on validation", bestMark)
}

// remedyTable has that harmonic mean of each method that validation prefers.
func (r *Result) remedyTable() *table.Table {
	if len(r.Generalised) == 0 {
		return nil
	}
	t := table.New("the best of each method on validation ("+bestMark+"):", "method", "harmonic mean", "95 % over classes", r.label(r.Differences[0].Reference)+" minus it (95 %)").Right(2, 3, 4)
	for _, m := range r.Sorted() {
		g := r.Generalised[r.find(m.Name)]
		difference := format.Missing
		if g.Interval != (metrics.Interval{}) {
			difference = results.DifferenceText(metrics.Difference{Mean: g.Difference, Interval: g.Interval})
		}
		t.Row(m.Label(), format.Percent(g.best().Mean), g.best().Intervals.Mean, difference)
	}
	return t
}

// bestMark marks the remedy that validation prefers.
const bestMark = "*"
