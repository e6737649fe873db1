package studies

import (
	"context"
	"fmt"

	"github.com/lago-train/lago-train/experiments/answers/evaluation"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// Generalised is a method in the generalised setting, by the models of its first seed; in a rotation pooled
// over the parts.
type Generalised struct {
	Method    string              `json:"method"`
	Raw       evaluation.Stacking `json:"raw"`       // scores without correction
	Stacked   evaluation.Stacking `json:"stacked"`   // these with calibrated stacking
	Corrected evaluation.Stacking `json:"corrected"` // by seen classes, with the omega that validation chose
	Omega     float64             `json:"omega"`     // mean over the parts
	// that of the method which the others are compared with minus this one, both corrected or both stacked
	Difference        float64          `json:"difference"`
	Interval          metrics.Interval `json:"interval"`
	StackedDifference float64          `json:"stacked_difference"`
	StackedInterval   metrics.Interval `json:"stacked_interval"`
}

// generalise evaluates the methods among seen and unseen classes, if dev runs of the same splits can choose
// gamma and omega.
func (r *ComparedMethods) generalise(ctx context.Context, l *lab.Lab) error {
	for _, m := range r.Methods {
		l.Step("seen and unseen classes: %s", m.Name)
		g := Generalised{Method: m.Name}
		var raw, stacked, corrected []evaluation.Stacking
		for _, o := range m.Outcomes {
			e, chosen, err := generalised(ctx, o)
			if err != nil {
				return err
			}
			if e == nil {
				r.Generalised = nil
				return nil
			}
			raw, stacked = append(raw, *e.Raw), append(stacked, *e.Calibrated)
			corrected = append(corrected, e.Corrected())
			g.Omega += chosen.Omega / float64(len(m.Outcomes))
		}
		g.Raw, g.Stacked = evaluation.Pool(raw), evaluation.Pool(stacked)
		g.Corrected = evaluation.Pool(corrected)
		r.Generalised = append(r.Generalised, g)
	}
	for _, pair := range r.pairs() {
		x, y := r.Generalised[pair[0]], &r.Generalised[pair[1]]
		y.Difference, y.Interval = x.Corrected.Minus(y.Corrected)
		y.StackedDifference, y.StackedInterval = x.Stacked.Minus(y.Stacked)
	}
	return nil
}

// generalised evaluates one part among seen and unseen classes; nil if no sample of a train class was held
// out, or no class is left to validate with.
func generalised(ctx context.Context, o *lab.Outcome) (*evaluation.Evaluation, *model.Scoring, error) {
	chosen, err := predictor.ChooseForOutcome(ctx, o)
	if err != nil || chosen == nil || chosen.Mixed == nil {
		return nil, nil, err
	}
	var models []*predictor.Model
	for _, run := range []lab.Run{o.Test[0], o.Val[0]} {
		m, err := evaluation.ReadModel(lab.ModelFiles([]lab.Run{run})[0])
		if err != nil {
			return nil, nil, err
		}
		models = append(models, m)
	}
	e, err := evaluation.Evaluate(ctx, evaluation.Request{
		Data: o.Part.Data, Model: models[0], Dev: models[1],
		Candidates: models[0].SelectedCandidates(o.Part.Data, predictor.Seen, predictor.Test),
	})
	return e, chosen.Mixed, err
}

// generalisedTable has the harmonic means of the accuracies on seen and unseen classes; nil if they were not
// evaluated.
func (r *ComparedMethods) generalisedTable() *table.Table {
	if len(r.Generalised) == 0 {
		return nil
	}
	title := "seen and unseen classes as candidates: harmonic mean of the accuracies on both, first seed"
	if r.Parts > 1 {
		title += fmt.Sprintf(", over %d parts", r.Parts)
	}
	t := table.New(title, "method", "raw", "stacked (95 % over classes)", "corrected (95 % over classes)").
		Right(2, 3, 4)
	for _, m := range r.Sorted() {
		g := r.Generalised[r.find(m.Name)]
		harmonic := func(s evaluation.Stacking) string {
			return fmt.Sprintf("%s (%s)", format.Percent(s.Mean), s.Intervals.Mean)
		}
		t.Row(m.Label(), format.Percent(g.Raw.Mean), harmonic(g.Stacked), harmonic(g.Corrected))
	}
	return t.Note("stacked: gamma is subtracted from the raw scores of seen classes; corrected: by seen " +
		"classes; gamma and omega chosen on validation")
}

// generalisedDifferences compares these harmonic means by the same means.
func (r *ComparedMethods) generalisedDifferences() *table.Table {
	if len(r.Generalised) == 0 || len(r.Differences) == 0 {
		return nil
	}
	reference := r.Differences[0].Reference
	t := table.New(fmt.Sprintf("%s minus each method, harmonic means in points (95 %%):", r.label(reference)),
		"method", "both stacked", "both corrected").Right(2, 3)
	text := func(mean float64, i metrics.Interval) string {
		return results.DifferenceText(metrics.Difference{Mean: mean, Interval: i})
	}
	for _, m := range r.Sorted() {
		if g := r.Generalised[r.find(m.Name)]; m.Name != reference && g.Interval != (metrics.Interval{}) {
			t.Row(m.Label(), text(g.StackedDifference, g.StackedInterval), text(g.Difference, g.Interval))
		}
	}
	return t
}
