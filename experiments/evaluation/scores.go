package evaluation

import (
	"context"

	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
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
	var v *Scored
	if validation != nil {
		same := *validation
		same.Kind = s.Kind
		if v, err = same.read(ctx); err != nil {
			return nil, err
		}
		if (v.Sides == nil) != (s.Sides == nil) {
			return nil, &invalid.Error{Where: "--val-unseen", Want: "unseen classes for both " + f.Scores + " and " + validation.Scores + ", or for neither"}
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
func (f ScoreFiles) read(ctx context.Context) (*Scored, error) {
	s := &Scored{Kind: f.Kind}
	var err error
	if s.Scores, err = features.ReadAll(ctx, f.Scores); err != nil {
		return nil, err
	}
	if s.Labels, err = npy.ReadIntegers(ctx, f.Labels); err != nil {
		return nil, err
	}
	if len(f.Unseen) > 0 {
		if s.Sides, err = metrics.NewSides(s.Scores.Cols, f.Unseen); err != nil {
			return nil, invalid.At(f.Scores, err)
		}
	}
	if err := s.check(f.Scores, f.Labels); err != nil {
		return nil, err
	}
	kind := kindOf(s.Scores)
	switch {
	case s.Kind == "":
		s.Kind = kind
	case s.Kind == Probabilities && kind != Probabilities:
		return nil, &invalid.Error{Where: f.Scores, Want: "probabilities, rows of which sum to 1", Got: string(kind)}
	}
	return s, nil
}
