package predictor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Model is a trained model with the record of its run.
type Model struct {
	*train.Saved
	Path  string       // of the file
	Trial *train.Trial // nil if there is no trial.json beside the file
}

// Open reads a model file, and the record of the run in its folder.
func Open(path string) (*Model, error) {
	saved, err := train.Load(path)
	if err != nil {
		return nil, err
	}
	record, err := train.ReadRecord(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return &Model{Saved: saved, Path: path}, nil
	}
	return &Model{saved, path, &record.Trial}, err
}

// Dir is the folder of the run.
func (m *Model) Dir() string { return filepath.Dir(m.Path) }

// OpenData opens a data set for the model, its own if name is "".
func (m *Model) OpenData(ctx context.Context, name string, o catalog.Options) (*dataset.Dataset, error) {
	d, err := catalog.Open(ctx, cmp.Or(name, m.Dataset), o)
	if err != nil {
		return nil, err
	}
	return d, m.Fits(d)
}

// Changed says what is wrong where d has the name of the data set that the model was trained on,
// but not its features, labels and split.
func (m *Model) Changed(d *dataset.Dataset) string {
	if m.Trial == nil || m.Dataset != d.Name || m.Trial.Fingerprint == d.Fingerprint() {
		return ""
	}
	return fmt.Sprintf("the features, labels or split of %s are not those that %s was trained on. Is it another --dev-split?", d.Name, m.Path)
}

// TrainedOnSample reports whether the model may have been trained on a sample of d.
func (m *Model) TrainedOnSample(d *dataset.Dataset, row int) bool {
	if m.Dataset != d.Name || m.Trial != nil && m.Trial.HoldOut && slices.Contains(d.TestSeen, row) {
		return false
	}
	return m.TrainedOn(d.Classes[d.Labels[row]])
}

// TrainingData returns the data set that the model was trained on, as far as the model file records
// it: without features and labels.
func (m *Model) TrainingData() *dataset.Dataset {
	d := &dataset.Dataset{
		Name: m.Dataset, Classes: m.Classes, Groups: m.Groups, Descriptions: m.Descriptions, Split: m.Split,
		Attributes: make([]dataset.Attribute, len(m.Attributes)),
	}
	for i, name := range m.Attributes {
		d.Attributes[i] = dataset.Attribute{Name: name, Group: -1}
		if m.Semantic != nil {
			d.Attributes[i].Group = m.Semantic[i]
		}
	}
	return d
}

// CheckDims returns an error unless samples at a place have as many features as the model takes.
func (m *Model) CheckDims(where string, features int) error {
	if features == m.Dims {
		return nil
	}
	return &invalid.Error{
		Where: where, Want: fmt.Sprintf("%d features per sample, as the model was trained on", m.Dims), Got: fmt.Sprint(features),
	}
}

// Scores returns the scores of rows of x for the classes of each of the descriptions. The samples
// are detected once.
func (m *Model) Scores(x dataset.Matrix[float32], rows []int, descriptions ...dataset.Matrix[float64]) ([]dataset.Matrix[float32], error) {
	a, err := m.Detect(x, rows)
	if err != nil {
		return nil, err
	}
	var list []dataset.Matrix[float32]
	for _, u := range descriptions {
		s, err := m.Classify(a, u)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// WithOmega returns a copy of the model whose scores are corrected with another omega.
func (m *Model) WithOmega(omega float64) *Model {
	other, saved, pipeline := *m, *m.Saved, *m.Pipeline
	other.Saved, saved.Pipeline = &saved, &pipeline
	pipeline.Correction.Omega = omega
	return &other
}

// Options say how samples are predicted.
type Options struct {
	Impute       impute.Kind // "" as the model does
	Temperature  float64     // T of the probabilities softmax(s/T); 0 is that of the model
	Uncalibrated bool        // leave out the temperature that is stored with the model
	Adapt        bool        // adapt the predictions to all samples together
	ForceAdapt   bool        // to batches that are smaller than validation found safe, too
}

// Predictor predicts samples as one of some classes. It is not for concurrent use.
type Predictor struct {
	*Model
	Options
	Candidates Candidates
	// T of the probabilities: that of the options, otherwise the calibrated one, otherwise 1 for
	// LAGO. 0: the scores are no probabilities.
	Temperature float64

	explainer *model.Explainer // nil until it is used
}

// Predictor returns the predictor of the model for the candidates.
func (m *Model) Predictor(c Candidates, o Options) (*Predictor, error) {
	p := &Predictor{Model: m, Options: o, Candidates: c, Temperature: o.Temperature}
	if o.Impute != "" {
		other, saved := *m, *m.Saved
		other.Saved, saved.Pipeline = &saved, m.WithImputation(o.Impute)
		p.Model = &other
	}
	switch {
	case o.Temperature > 0:
	case m.Calibration != nil && !o.Uncalibrated:
		p.Temperature = m.Calibration.Temperature
	case m.Method.Name == methods.LAGO:
		p.Temperature = 1 // of log p(z|x)
	}
	if o.Adapt {
		if _, err := m.AdaptationSettings(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Adapts reports whether predictions are adapted, if the batch is large enough.
func (p *Predictor) Adapts() bool { return p.Adapt && p.Adaptation.Tau > 0 }

// AdaptsTo reports whether predictions are adapted to a batch of so many samples.
func (p *Predictor) AdaptsTo(samples int) bool {
	return p.Adapts() && (samples >= p.Adaptation.Smallest || p.ForceAdapt)
}

// Unseen counts the candidates that the model was not trained on.
func (p *Predictor) Unseen() (n int) {
	for _, name := range p.Candidates.Names {
		if !p.TrainedOn(name) {
			n++
		}
	}
	return n
}

// AdaptationSettings are those that are stored with the model. The error says how to choose them
// where it has none.
func (m *Model) AdaptationSettings() (*train.Adaptation, error) {
	if m.Adaptation != nil {
		return m.Adaptation, nil
	}
	return nil, &invalid.Error{
		Where: m.Path, Field: "adaptation", Want: "a temperature and tau, chosen on validation classes", Got: "none",
		Hint: "Repeat the command that trained it, lago-train run with --stage full or lago-train compare --adapt: finished runs are reused, and their models get them.",
	}
}

// Batch returns rows of x as what predictions are adapted to: preprocessed features, and scores for
// the classes that u describes.
func (m *Model) Batch(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (b adapt.Block, err error) {
	scores, err := m.Scores(x, rows, u)
	if err != nil {
		return b, err
	}
	b.Scores = scores[0]
	b.X, err = m.AdaptedFeatures().Apply(x, rows)
	return b, err
}
