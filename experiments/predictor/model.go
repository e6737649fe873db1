package predictor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
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

// Candidates are the classes that a prediction chooses from: classes of a data set, and new ones
// that a file describes by the same attributes.
type Candidates struct {
	What  string                  // describes the set, as in "test classes"
	Names []string                // Z
	U     dataset.Matrix[float64] // Z x M, the class descriptions; NaN where an entry is missing
}

// Selection names classes of a data set by their role in its split.
type Selection string

// The selections.
const (
	Test  Selection = "test"
	Val   Selection = "val"
	Train Selection = "train"
	Seen  Selection = "seen" // train and val
	All   Selection = "all"  // including classes without a role
)

// Selections are all selections.
var Selections = []Selection{Test, Val, Train, Seen, All}

// Classes returns the indices of the selected classes.
func (s Selection) Classes(d *dataset.Dataset) []int {
	if s == All {
		return d.Descriptions.AllRows()
	}
	return map[Selection][]int{Test: d.Split.Test, Val: d.Split.Val, Train: d.Split.Train, Seen: d.Split.Seen()}[s]
}

// SelectionOf returns the selection that a class belongs to: train, val or test, and test
// for a class without a role.
func SelectionOf(d *dataset.Dataset, class int) Selection {
	for _, s := range []Selection{Train, Val} {
		if slices.Contains(s.Classes(d), class) {
			return s
		}
	}
	return Test
}

// SelectedCandidates returns the classes of some selections from d, each class once.
func SelectedCandidates(d *dataset.Dataset, selections ...Selection) Candidates {
	var classes []int
	var distinct []string
	for _, s := range selections {
		if !slices.Contains(distinct, string(s)) {
			distinct = append(distinct, string(s))
		}
		for _, z := range s.Classes(d) {
			if !slices.Contains(classes, z) {
				classes = append(classes, z)
			}
		}
	}
	c := Candidates{What: strings.Join(distinct, " and ") + " classes", U: d.Describe(classes)}
	for _, z := range classes {
		c.Names = append(c.Names, d.Classes[z])
	}
	return c
}

// NewCandidates returns the classes of some selections from d and those that a file describes by the
// attributes of d. Without both it returns the classes of otherwise.
func NewCandidates(ctx context.Context, d *dataset.Dataset, selections []Selection, file string, otherwise Selection) (Candidates, error) {
	if file == "" {
		if selections == nil {
			selections = []Selection{otherwise}
		}
		return SelectedCandidates(d, selections...), nil
	}
	t, err := descriptions.Read(ctx, file, descriptions.AttributesOf(d))
	if err != nil {
		return Candidates{}, err
	}
	described := Candidates{"classes of " + file, t.Classes, t.Values()}
	if selections == nil {
		return described, nil
	}
	return SelectedCandidates(d, selections...).join(described)
}

// join returns the classes of c followed by those of more. Names must differ.
func (c Candidates) join(more Candidates) (Candidates, error) {
	for _, name := range more.Names {
		if slices.Contains(c.Names, name) {
			return c, &invalid.Error{
				Where: more.What, Want: "names that differ from the " + c.What, Got: fmt.Sprintf("%q", name),
				Hint: "Rename the class or leave it out.",
			}
		}
	}
	u := dataset.Matrix[float64]{Rows: c.U.Rows + more.U.Rows, Cols: c.U.Cols, Data: slices.Concat(c.U.Data, more.U.Data)}
	return Candidates{c.What + " and " + more.What, slices.Concat(c.Names, more.Names), u}, nil
}
