package studies

import (
	"context"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/answers/evaluation"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train/metrics"
)

// Generalised has the methods among seen and unseen classes, by the models of their first seed; in a rotation
// pooled over the parts.
type Generalised struct {
	Methods []GeneralisedMethod `json:"methods"` // in their order
	// of the harmonic means of stacked scores, see differences
	Differences []MethodDifference `json:"differences"`
}

// GeneralisedMethod is a method among seen and unseen classes.
type GeneralisedMethod struct {
	Method    string              `json:"method"`
	Raw       evaluation.Stacking `json:"raw"`       // scores without correction
	Corrected evaluation.Stacking `json:"corrected"` // as predicted, with the omega that validation chose
	Stacked   evaluation.Stacking `json:"stacked"`   // with the omega and gamma that it chose together
}

// generalise evaluates the methods among seen and unseen classes. If held-out samples did not choose omega
// and gamma, it does nothing.
func (r *ComparedMethods) generalise(ctx context.Context, l *lab.Lab) error {
	g := new(Generalised)
	for _, m := range r.Methods {
		l.Step("seen and unseen classes: %s", m.Name)
		var raw, corrected, stacked []evaluation.Stacking
		for _, o := range m.Outcomes {
			e, err := generalised(ctx, o)
			if e == nil || err != nil {
				return err
			}
			raw, stacked = append(raw, *e.Raw), append(stacked, *e.Calibrated)
			corrected = append(corrected, e.AsScored)
		}
		g.Methods = append(g.Methods, GeneralisedMethod{
			m.Name, evaluation.Pool(raw), evaluation.Pool(corrected), evaluation.Pool(stacked),
		})
	}
	g.Differences = r.differences(func(x, y int) metrics.Difference {
		return g.Methods[x].Stacked.Minus(g.Methods[y].Stacked)
	})
	r.Generalised = g
	return nil
}

// generalised evaluates one part among seen and unseen classes; nil if held-out samples did not choose omega
// and gamma.
func generalised(ctx context.Context, o *lab.Outcome) (*evaluation.Evaluation, error) {
	chosen, err := predictor.StoredDecision(lab.ModelFiles(slices.Concat(o.Val, o.Test)))
	if err == nil && chosen == nil {
		chosen, err = predictor.ChooseForOutcome(ctx, o)
	}
	if err != nil || chosen == nil || chosen.Stacking == nil {
		return nil, err
	}
	m, err := evaluation.ReadModel(lab.ModelFiles(o.Test[:1])[0])
	if err != nil {
		return nil, err
	}
	return evaluation.Evaluate(ctx, evaluation.Request{
		Data: o.Part.Data, Model: m,
		Candidates: m.SelectedCandidates(o.Part.Data, predictor.Seen, predictor.Test),
	})
}

func (r *ComparedMethods) generalisedTables() []*table.Table {
	g := r.Generalised
	if g == nil {
		return nil
	}
	title := "seen and unseen classes as candidates, first seed"
	if r.Parts > 1 {
		title += fmt.Sprintf(", over %d parts", r.Parts)
	}
	t := table.New(title, append([]string{"method", "scores", "omega"}, evaluation.StackingHeader...)...).
		Right(3, 4, 5, 6, 7, 8)
	for i, m := range r.Sorted() {
		if i > 0 {
			t.Line()
		}
		found := g.Methods[r.find(m.Name)]
		row := func(scores string, s evaluation.Stacking) {
			t.Row(append([]any{m.Label(), scores, fmt.Sprintf("%.2f", s.Omega)}, s.Cells()...)...)
		}
		row("raw", found.Raw)
		row("corrected", found.Corrected)
		row("stacked", found.Stacked)
	}
	t.Note("corrected: with the omega that validation chose, as predict does")
	t.Note("stacked: corrected, then gamma is subtracted from the scores of seen classes; omega and gamma " +
		"were chosen together")
	t.Note("AUSUC: area under the curve of seen against unseen, over all gammas")
	if r.Parts > 1 {
		t.Note("omega, AUSUC: means over the parts")
	}
	return []*table.Table{t, r.differencesTable("harmonic means of stacked scores", g.Differences)}
}
