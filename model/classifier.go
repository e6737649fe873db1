package model

import (
	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/condition"
)

// Classifier is a trained method: given descriptions of any classes, seen or not,
// it scores samples for them.
type Classifier interface {
	// Score returns a row of scores for each of the given rows of the features x
	// (samples x D, as they are in the data set), a column for each class that u
	// describes (classes x M, NaN for what is not described). The highest score
	// of a row is the prediction.
	Score(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error)
}

// LAGO is a trained model of the family. Its scores are log p(z|x).
type LAGO struct {
	Config   Config
	Params   *Parameters[float32]
	Semantic []int          // the group of each attribute, nil where unknown
	Map      *condition.Map // of the features, fitted where the model was trained
}

// scoreBatch is how many samples are scored at a time.
const scoreBatch = 64

// Score implements Classifier.
func (l *LAGO) Score(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](len(rows), u.Rows)
	if x.Cols != l.Params.W.Rows {
		return scores, &Error{"features", "as many dimensions as the model was trained on", x.Cols}
	}
	classes, err := l.Config.Describe(u, l.Semantic)
	if err != nil {
		return scores, err
	}
	detector, err := NewDetector(l.Params, scoreBatch)
	if err != nil {
		return scores, err
	}
	judge, err := NewJudge(Problem{l.Config, classes, l.Semantic, scoreBatch}, l.Params)
	if err != nil {
		return scores, err
	}
	for start := 0; start < len(rows); start += scoreBatch {
		part := rows[start:min(start+scoreBatch, len(rows))]
		conditioned, err := l.Map.Apply(x, part)
		if err != nil {
			return scores, err
		}
		copy(detector.X.Data, conditioned.Data)
		_, a, err := detector.Run()
		if err != nil {
			return scores, err
		}
		copy(judge.A.Data, a)
		logits, err := judge.Run()
		if err != nil {
			return scores, err
		}
		copy(scores.Data[start*u.Rows:], logits[:len(part)*u.Rows])
	}
	LogNormalise(scores.Data, u.Rows)
	return scores, nil
}
