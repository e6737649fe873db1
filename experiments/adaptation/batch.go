package adaptation

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Predictions are those of a batch, adapted to it.
type Predictions struct {
	*adapt.Result
	Blocks  []adapt.Block // the batch: normalised features, and scores
	Changed int           // number of predictions that differ from those of the scores
}

// Predict adapts the predictions for some rows of x, features as in the data set, among the
// classes that u describes, by the settings of the model.
func Predict(m *train.Saved, x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (*Predictions, error) {
	b, err := score(m, train.Samples{X: x, Rows: rows}, u)
	if err != nil {
		return nil, err
	}
	return fit(b.blocks(), m.Adaptation.Settings)
}

// readRows is the number of samples of a block that PredictAll reads.
const readRows = 1024

// Source supplies samples; see predict.Source.
type Source interface {
	Cols() int
	Read(block dataset.Matrix[float32]) (int, error)
}

// PredictAll is Predict for all samples of a source, which scorer scores for a number of
// classes. The features are in memory once, with two numbers per sample and class.
func PredictAll(ctx context.Context, src Source, m *train.Saved, scorer model.Scorer, classes int) (*Predictions, error) {
	var blocks []adapt.Block
	for {
		x := dataset.NewMatrix[float32](readRows, src.Cols())
		n, err := src.Read(x)
		if errors.Is(err, io.EOF) && n == 0 {
			break
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		b := adapt.Block{X: x.Slice(0, n), Scores: dataset.NewMatrix[float32](n, classes)}
		if n < readRows {
			b.X.Data = slices.Clone(b.X.Data) // without the unused rows
		}
		if err := cmp.Or(scorer.Score(b.X, b.Scores), m.AdaptedFeatures().ApplyInPlace(b.X)); err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	if blocks == nil {
		return nil, &invalid.Error{Field: "adapt", Want: "at least one sample", Got: "none"}
	}
	return fit(blocks, m.Adaptation.Settings)
}

// fit normalises a batch in place and adapts to it.
func fit(blocks []adapt.Block, s adapt.Settings) (*Predictions, error) {
	adapt.Normalize(blocks)
	r, err := adapt.Fit(blocks, s)
	if err != nil {
		return nil, err
	}
	p, row := &Predictions{Result: r, Blocks: blocks}, 0
	for _, b := range blocks {
		for i := range b.Scores.Rows {
			if metrics.Argmax(b.Scores.Row(i)) != metrics.Argmax(r.P.Row(row)) {
				p.Changed++
			}
			row++
		}
	}
	return p, nil
}

// ClassAccuracy is the accuracy of the model in a file on each of some classes of d, adapted
// to the samples of these classes together; NaN for classes without samples.
func ClassAccuracy(path string, d *dataset.Dataset, classes []int) ([]float64, error) {
	m, err := train.Load(path)
	if err != nil {
		return nil, err
	}
	if _, err := Settings(m, path); err != nil {
		return nil, err
	}
	s := train.Select(d, d.Features, classes)
	p, err := Predict(m, s.X, s.Rows, d.Describe(classes))
	if err != nil {
		return nil, err
	}
	return metrics.ClassAccuracy(p.P, s.Labels), nil
}

// batch is samples with the scores of a model.
type batch struct {
	x      []dataset.Matrix[float32] // preprocessed features, of each kind to choose from
	scores dataset.Matrix[float32]   // samples x classes
	labels []int                     // columns of scores

	classes []int // of the columns, by which choose knows those that are in several folds
}

// score returns samples with their scores for the classes that u describes.
func score(m *train.Saved, s train.Samples, u dataset.Matrix[float64]) (*batch, error) {
	scores, err := model.Score(m, s.X, s.Rows, u)
	if err != nil {
		return nil, err
	}
	x, err := m.AdaptedFeatures().Apply(s.X, s.Rows)
	return &batch{x: []dataset.Matrix[float32]{x}, scores: scores, labels: s.Labels}, err
}

// pick returns a normalised copy of some samples.
func (b *batch) pick(rows []int) *batch {
	s := &batch{scores: b.scores.Gather(rows), classes: b.classes}
	for _, r := range rows {
		s.labels = append(s.labels, b.labels[r])
	}
	for i, x := range b.x {
		s.x = append(s.x, x.Gather(rows))
		adapt.Normalize([]adapt.Block{{X: s.x[i]}})
	}
	return s
}

// blocks is the batch with its first kind of features.
func (b *batch) blocks() []adapt.Block { return []adapt.Block{{X: b.x[0], Scores: b.scores}} }

// before is the accuracy by class of the scores.
func (b *batch) before() []float64 { return metrics.ClassAccuracy(b.scores, b.labels) }

// after is the accuracy by class after adaptation; b is normalised.
func (b *batch) after(ctx context.Context, s adapt.Settings) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := adapt.Fit(b.blocks(), s)
	if err != nil {
		return nil, err
	}
	return metrics.ClassAccuracy(r.P, b.labels), nil
}
