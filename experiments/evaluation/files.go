package evaluation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train/metrics"
)

// ScoreFiles are scores that any program wrote.
type ScoreFiles struct {
	Scores string    // samples x classes, in a format of package features
	Labels string    // the column of each sample's true class, from 0
	Unseen []int     // columns of unseen classes; none: all are unseen
	Kind   ScoreKind // "" to recognise it
}

// EvaluateScores evaluates the scores of a file. validation, if not nil, chooses gamma
// and the temperature; its scores are of the same kind.
func (c Config) EvaluateScores(ctx context.Context, f ScoreFiles, validation *ScoreFiles) (*Result, error) {
	s, err := f.read(ctx)
	if err != nil {
		return nil, err
	}
	var v *scored
	if validation != nil {
		same := *validation
		same.Kind = s.kind
		if v, err = same.read(ctx); err != nil {
			return nil, err
		}
		if (v.sides == nil) != (s.sides == nil) {
			return nil, &invalid.Error{Field: "val-unseen", Want: "unseen classes for both " + f.Scores + " and " + validation.Scores + ", or for neither"}
		}
	}
	r := c.evaluate(s, v)
	r.Source = Source{Scores: f.Scores, Labels: f.Labels}
	if v != nil {
		r.Validation.Of = []string{validation.Scores}
	} else {
		r.note("neither gamma nor a temperature is chosen: there are no validation scores")
	}
	return r, nil
}

// read reads and checks the files.
func (f ScoreFiles) read(ctx context.Context) (*scored, error) {
	scores, err := features.ReadAll(ctx, f.Scores)
	if err != nil {
		return nil, err
	}
	s := &scored{scores: scores, rows: scores.AllRows()}
	for z := range scores.Cols {
		s.names = append(s.names, strconv.Itoa(z))
	}
	if s.labels, err = features.ReadIntegers(ctx, f.Labels); err != nil {
		return nil, err
	}
	for _, z := range f.Unseen {
		if z < 0 || z >= scores.Cols {
			return nil, &invalid.Error{Where: f.Scores, Field: "unseen", Want: fmt.Sprintf("columns from 0 to %d", scores.Cols-1), Got: strconv.Itoa(z)}
		}
		if s.sides == nil {
			s.sides = make(metrics.Sides, scores.Cols)
		}
		s.sides[z] = true
	}
	found := kindOf(scores)
	if f.Kind == Probabilities && found != Probabilities {
		return nil, &invalid.Error{Where: f.Scores, Want: "probabilities, rows of which sum to 1", Got: string(found)}
	}
	s.kind = cmp.Or(f.Kind, found)
	return s, s.check(f.Scores, f.Labels)
}

// kindOf recognises probabilities, or their logs, by rows that sum to 1. Other scores
// are bare.
func kindOf(scores dataset.Matrix[float32]) ScoreKind {
	const tolerance = 1e-3 // programs round what they write
	p, log := true, true
	for i := range scores.Rows {
		var sum, exp float64
		for _, v := range scores.Row(i) {
			p = p && v >= 0
			sum += float64(v)
			exp += math.Exp(float64(v))
		}
		p, log = p && math.Abs(sum-1) < tolerance, log && math.Abs(exp-1) < tolerance
	}
	switch {
	case p:
		return Probabilities
	case log:
		return Logits
	}
	return BareScores
}
