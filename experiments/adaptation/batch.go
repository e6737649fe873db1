package adaptation

import (
	"context"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Batch is samples with the scores of a model.
type Batch struct {
	X      dataset.Matrix[float32] // preprocessed features
	Scores dataset.Matrix[float32] // samples x classes
	Labels []int                   // columns of Scores

	Classes []int // of the columns, by which Choose knows those that are in several folds
}

// NewBatch scores the samples of some classes of d among these. The features are those
// that the model adapts to.
func NewBatch(m *train.Saved, d *dataset.Dataset, classes []int) (*Batch, error) {
	return newBatch(m, d, train.Select(d, d.Features, classes), classes)
}

func newBatch(m *train.Saved, d *dataset.Dataset, s train.Samples, classes []int) (*Batch, error) {
	scores, err := model.Score(m.Classifier, s.X, s.Rows, d.Describe(classes))
	if err != nil {
		return nil, err
	}
	b, err := Scored(m, s, scores)
	b.Classes = classes
	return b, err
}

// Scored returns samples that the model has already scored, without Classes.
func Scored(m *train.Saved, s train.Samples, scores dataset.Matrix[float32]) (*Batch, error) {
	x, err := m.AdaptedFeatures().Apply(s.X, s.Rows)
	return &Batch{X: x, Scores: scores, Labels: s.Labels}, err
}

// Blocks returns a normalised copy for adapt.Fit.
func (b *Batch) Blocks() []adapt.Block {
	return b.pick(b.X.AllRows()).blocks()
}

// pick returns a normalised copy of some samples.
func (b *Batch) pick(rows []int) *Batch {
	s := &Batch{X: b.X.Gather(rows), Scores: b.Scores.Gather(rows), Classes: b.Classes}
	for _, r := range rows {
		s.Labels = append(s.Labels, b.Labels[r])
	}
	adapt.Normalize(s.blocks())
	return s
}

func (b *Batch) blocks() []adapt.Block { return []adapt.Block{{X: b.X, Scores: b.Scores}} }

// adapted is the accuracy by class after adaptation; b is normalised.
func (b *Batch) adapted(ctx context.Context, s adapt.Settings) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := adapt.Fit(b.blocks(), s)
	if err != nil {
		return nil, err
	}
	return metrics.ClassAccuracy(r.P, b.Labels), nil
}

// Settings returns the settings of a model at path. The error says how to choose them
// where it has none.
func Settings(m *train.Saved, path string) (*train.Adaptation, error) {
	if m.Adaptation != nil {
		return m.Adaptation, nil
	}
	return nil, &invalid.Error{
		Where: path, Field: "adaptation", Want: "a temperature and tau, chosen on validation classes", Got: "none",
		Hint: "Repeat the command that trained it, lago-train run with --stage full or lago-train compare --adapt: finished runs are reused, and their models get them.",
	}
}
