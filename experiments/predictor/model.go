package predictor

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
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

// With returns a copy of the model with another pipeline.
func (m *Model) With(p *model.Pipeline) *Model {
	saved := *m.Saved
	saved.Pipeline = p
	return &Model{&saved, m.Path, m.Trial}
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
		p.Model = m.With(m.WithImputation(o.Impute))
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
	if b.Scores, err = model.Score(m.Saved, x, rows, u); err == nil {
		b.X, err = m.AdaptedFeatures().Apply(x, rows)
	}
	return b, err
}
