package evaluation

import (
	"context"
	"fmt"

	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/internal/integers"
	"github.com/lago-train/lago-train/train/metrics"
)

// ScoreFiles are scores that any program wrote.
type ScoreFiles struct {
	Scores string    // samples x classes, as package features reads it
	Labels string    // a column of the scores for each sample, counted from 0
	Unseen []int     // columns; none: all are unseen
	Kind   ScoreKind // "" finds it out
}

// EvaluateScores judges the scores of a file. validation, where it is not nil,
// chooses gamma and the temperature; its scores are of the same kind.
func (c Config) EvaluateScores(ctx context.Context, f ScoreFiles, validation *ScoreFiles) (*Result, error) {
	s, err := f.read(ctx)
	if err != nil {
		return nil, err
	}
	var v *Scored
	if validation != nil {
		alike := *validation
		alike.Kind = s.Kind
		if v, err = alike.read(ctx); err != nil {
			return nil, err
		}
		if (v.Sides == nil) != (s.Sides == nil) {
			return nil, fmt.Errorf("%s: expected the unseen classes of the scores and of those to validate by, or of neither", validation.Scores)
		}
	}
	e := c.Evaluate(s, v)
	e.Source = Source{Scores: f.Scores, Labels: f.Labels}
	if v != nil {
		e.Validation.Of = []string{validation.Scores}
	} else {
		e.note("no scores to validate by, so that neither gamma nor a temperature is chosen")
	}
	return e, nil
}

// read reads and checks the files.
func (f ScoreFiles) read(ctx context.Context) (*Scored, error) {
	s := &Scored{Kind: f.Kind}
	var err error
	if s.Scores, err = features.ReadAll(ctx, f.Scores); err != nil {
		return nil, err
	}
	if s.Labels, err = integers.Read(ctx, f.Labels); err != nil {
		return nil, err
	}
	if len(f.Unseen) > 0 {
		if s.Sides, err = metrics.NewSides(s.Scores.Cols, f.Unseen); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Scores, err)
		}
	}
	if err := s.check(f.Scores, f.Labels); err != nil {
		return nil, err
	}
	kind := KindOf(s.Scores)
	switch {
	case s.Kind == "":
		s.Kind = kind
	case s.Kind == Probabilities && kind != Probabilities:
		return nil, fmt.Errorf("%s: expected probabilities, each row of which adds up to 1, found others", f.Scores)
	}
	return s, nil
}
